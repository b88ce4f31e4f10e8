"""Draw points as anti-aliased dots into an image, and their density as a smooth surface."""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from pixelsne.arrays import AnyArray

Image = NDArray[np.float64]  # (height, width, 3), 0 to 1
Layer = NDArray[np.float64]  # (height, width, 4), 0 to 1: color and opacity
Surface = NDArray[np.float64]  # (height, width), points per pixel
Stamps = NDArray[np.float64]  # (STEPS * STEPS, number of pixels), the share of each pixel that a dot covers

# Size and opacity of dots by the space that a point has. The page has the same numbers.
DIAMETER_PER_SPACING = 0.62
MIN_DIAMETER, MAX_DIAMETER = 1.6, 6.5
OPAQUE_SPACING, OPACITY_POWER = 1.7, 2.0
OPACITY_AT_OPAQUE_SPACING = 0.95
FAINTEST, STRONGEST = 0.12, 0.95

STEPS = 8  # positions of a dot's center within a pixel, along each axis
MIN_PASSED = 1e-9  # of the light behind a dot, so that its logarithm is finite
ENTRIES_AT_ONCE = 2_000_000  # pairs of a point and a pixel that are in memory at once

# A pixel is divided into FEW or MANY parts along each axis to measure how much of it a large or a small dot covers.
FEW, MANY = 4, 16
LARGE_RADIUS = 2.0

# Bandwidth of the density: this share of the image's side for REFERENCE_POINTS points, smaller for more, but not
# below MIN_BANDWIDTH pixels.
BANDWIDTH_SHARE, REFERENCE_POINTS, BANDWIDTH_POWER = 0.016, 10_000, 1 / 6
MIN_BANDWIDTH = 1.5
CONTOURED = (0.97, 0.9, 0.8, 0.65, 0.5, 0.35, 0.2, 0.08)  # shares of the points within each contour


def automatic_size(n_in_view: int, area: float) -> tuple[float, float]:
    """Return the diameter in pixels and the opacity of dots, for this many points in a view of this many pixels."""
    spacing = float(np.sqrt(area / max(n_in_view, 1)))
    diameter = np.clip(DIAMETER_PER_SPACING * spacing, MIN_DIAMETER, MAX_DIAMETER)
    opacity = OPACITY_AT_OPAQUE_SPACING * (spacing / OPAQUE_SPACING) ** OPACITY_POWER
    return float(diameter), float(np.clip(opacity, FAINTEST, STRONGEST))


@dataclass(frozen=True)
class Raster:
    """An empty image.

    background: a color (3), or an image (height, width, 3) to draw on, 0 to 1.
    """

    width: int
    height: int
    background: AnyArray | tuple[float, float, float]

    def draw_points(self, points: AnyArray, colors: AnyArray, diameter: float, opacity: float) -> Image:
        """Return the image with dots, which does not depend on the order of the points.

        points: (n, 2), pixels with fractions: the first pixel reaches from 0 to 1. Dots may reach beyond the border.
        Points that are not finite are not drawn. colors: (n, 3) or one color (3), 0 to 1. diameter: pixels.
        """
        layer = self.draw_layer(points, colors, diameter, opacity)
        background = np.asarray(self.background, dtype=np.float64)
        image: Image = layer[:, :, :3] - background
        image *= layer[:, :, 3:]
        image += background
        return image

    def draw_layer(self, points: AnyArray, colors: AnyArray, diameter: float, opacity: float) -> Layer:
        """Return the dots without background, as colors and opacities.

        The opacity of a pixel is 1 - Π (1 - opacity · covered share) over all dots. Its color is the mean of their
        colors, weighted by the covered shares, so that no class hides another.
        """
        points, colors = np.asarray(points), np.broadcast_to(colors, (len(points), 3))
        sums = _Sums(self.width, self.height, diameter / 2, opacity)
        at_once = sums.points_at_once()
        for start in range(0, len(points), at_once):
            chunk = points[start : start + at_once]
            with np.errstate(invalid="ignore"):
                seen = ((chunk > -diameter / 2) & (chunk < self._sides() + diameter / 2)).all(axis=1)
            sums.add(chunk[seen], colors[start : start + at_once][seen])
        return sums.layer()

    def _sides(self) -> AnyArray:
        return np.array([self.width, self.height])


class _Sums:
    """Sums over dots at each pixel, with a margin for dots that reach beyond the border."""

    def __init__(self, width: int, height: int, radius: float, opacity: float) -> None:
        self.stamps, reach, offsets = make_stamps(radius)
        self.margin = 2 * reach
        self.inner = (slice(self.margin, self.margin + height), slice(self.margin, self.margin + width))
        self.shape = (height + 2 * self.margin, width + 2 * self.margin)
        self.offsets = offsets[:, 1] * self.shape[1] + offsets[:, 0]
        # The light that passes several dots is a product, which is summed as logarithms.
        self.absorbed = -np.log(np.maximum(1 - opacity * self.stamps, MIN_PASSED))
        self.sums = np.zeros((5, self.shape[0] * self.shape[1]))  # absorbed, covered, covered times the three colors

    def points_at_once(self) -> int:
        return max(1, max(ENTRIES_AT_ONCE, self.sums.shape[1] // 4) // max(len(self.offsets), 1))

    def add(self, points: AnyArray, colors: AnyArray) -> None:
        """Add dots. Their centers are rounded to one of STEPS positions in the pixel, along each axis."""
        steps = np.floor(points.astype(np.float64) * STEPS).astype(np.int64)
        pixel, step = steps // STEPS, steps % STEPS
        first = (pixel[:, 1] + self.margin) * self.shape[1] + pixel[:, 0] + self.margin
        indices = (first[:, None] + self.offsets).ravel()
        stamp = step[:, 1] * STEPS + step[:, 0]
        self._sum(0, indices, self.absorbed[stamp])
        covered = self.stamps[stamp]
        self._sum(1, indices, covered)
        for channel in range(3):
            self._sum(2 + channel, indices, covered * colors[:, channel, None])

    def _sum(self, row: int, indices: AnyArray, values: AnyArray) -> None:
        self.sums[row] += np.bincount(indices, values.ravel(), minlength=self.sums.shape[1])

    def layer(self) -> Layer:
        absorbed, covered, *colored = (total.reshape(self.shape)[self.inner] for total in self.sums)
        weight = 1 / np.where(covered > 0, covered, 1.0)
        layer = np.empty((*covered.shape, 4))
        for channel in range(3):
            np.multiply(colored[channel], weight, out=layer[:, :, channel])
        np.subtract(1, np.exp(-absorbed), out=layer[:, :, 3])
        return layer


@lru_cache(maxsize=8)
def make_stamps(radius: float) -> tuple[Stamps, int, AnyArray]:
    """Return the pixels that dots with their centers in one pixel cover.

    The result is the covered share by position of the center and by pixel, how many pixels a dot reaches, and the
    pixels (m, 2), relative to that of the center.
    """
    reach = int(np.ceil(radius + 0.5))
    parts = FEW if radius >= LARGE_RADIUS else MANY
    samples = (np.arange(-reach * parts, (reach + 1) * parts) + 0.5) / parts
    centers = (np.arange(STEPS) + 0.5) / STEPS
    side = 2 * reach + 1
    stamps = np.empty((STEPS * STEPS, side * side))
    for index in range(STEPS * STEPS):
        row, column = divmod(index, STEPS)
        distances = np.hypot(samples[:, None] - centers[row], samples[None, :] - centers[column])
        inside = np.clip((radius - distances) * parts + 0.5, 0, 1)
        covered = inside.reshape(side, parts, side, parts).mean(axis=(1, 3))
        stamps[index] = covered.ravel() * (np.pi * radius**2 / max(covered.sum(), np.finfo(float).tiny))
    around = np.arange(-reach, reach + 1)
    offsets = np.stack([np.tile(around, side), np.repeat(around, side)], axis=1)
    used = stamps.any(axis=0)
    return np.minimum(stamps[:, used], 1), reach, offsets[used]


def default_bandwidth(n: int, width: int, height: int) -> float:
    """Return the standard deviation of the density's Gaussian in pixels, for n points in an image."""
    side = np.sqrt(width * height)
    by_count = (REFERENCE_POINTS / max(n, 1)) ** BANDWIDTH_POWER
    return float(max(BANDWIDTH_SHARE * side * by_count, MIN_BANDWIDTH))


def density(points: AnyArray, width: int, height: int, bandwidth: float | None = None) -> Surface:
    """Return the smooth number of points per pixel. points: (n, 2), pixels; those outside do not count.

    bandwidth: the standard deviation of the Gaussian, in pixels; None: chosen by the number of points.
    """
    from scipy.ndimage import gaussian_filter  # noqa: PLC0415 - slow to import

    points = np.asarray(points)
    with np.errstate(invalid="ignore"):
        seen = ((points >= 0) & (points < [width, height])).all(axis=1)
    pixels = points[seen].astype(np.int64)
    counts = np.bincount(pixels[:, 1] * width + pixels[:, 0], minlength=width * height).astype(np.float64)
    sigma = default_bandwidth(len(pixels), width, height) if bandwidth is None else bandwidth
    surface: Surface = gaussian_filter(counts.reshape(height, width), sigma, mode="constant")
    return surface


def contour_levels(surface: Surface, shares: tuple[float, ...] = CONTOURED) -> AnyArray:
    """Return increasing levels of density such that these shares of the points lie where it is higher.

    Equal levels, as of an empty surface, are left out.
    """
    descending = np.sort(surface, axis=None)[::-1]
    above = np.cumsum(descending)
    if above[-1] <= 0:
        return np.empty(0)
    indices = np.searchsorted(above, np.array(shares) * above[-1])
    levels: AnyArray = np.unique(descending[indices])
    return levels
