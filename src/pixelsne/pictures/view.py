"""The part of a map that a picture shows."""

from dataclasses import dataclass

import numpy as np

from pixelsne.arrays import AnyArray

# The same rule as in viewer/static/default_bounds.js.
OUTLIERS = 0.001  # share of the points, at each side, that may be outside of the view
MAX_RATIO = 1.3  # all points are inside if that makes the view at most this much larger

MARGIN = 0.025  # share of the longer side, around the points
FLATTEST = 0.4  # smallest ratio of the sides
SMALLEST = 0.1  # share of the screen that is shown if all points are in one position


@dataclass(frozen=True)
class View:
    """A rectangle of the screen, in pixels; y points downward."""

    left: float
    top: float
    right: float
    bottom: float

    @property
    def width(self) -> float:
        return self.right - self.left

    @property
    def height(self) -> float:
        return self.bottom - self.top


def view_of(placed: AnyArray, resolution: tuple[int, int]) -> View:
    """Return the view that shows all points but a few far from all others. placed: (n, 2), pixels."""
    if len(placed) == 0:
        return View(0.0, 0.0, float(resolution[0]), float(resolution[1]))
    ordered = np.sort(np.asarray(placed, dtype=np.float64), axis=0)
    skipped = int(OUTLIERS * len(ordered))
    every, inliers = ordered[[0, -1]], ordered[[skipped, len(ordered) - 1 - skipped]]
    shows_all = (every[1] - every[0] <= MAX_RATIO * (inliers[1] - inliers[0])).all()
    low, high = every if shows_all else inliers
    longer = max(float((high - low).max()), SMALLEST * max(resolution))
    sides = np.maximum(high - low, FLATTEST * longer) + 2 * MARGIN * longer
    left, top = (low + high - sides) / 2
    right, bottom = (low + high + sides) / 2
    return View(float(left), float(top), float(right), float(bottom))
