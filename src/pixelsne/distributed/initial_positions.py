"""Where the points start: the local start's axes, from moments summed over all partitions."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pixelsne.arrays import Points, Positions
from pixelsne.distributed.reduce import Moments, added
from pixelsne.distributed.sized import Sized
from pixelsne.distributed.task_runner import TaskRunner
from pixelsne.initial_positions import START_DEVIATION, Limits, find_limits, noise_positions
from pixelsne.reduce import fix_signs, top_directions


@dataclass(frozen=True)
class Axes(Sized):
    """The start's directions, and how points are placed along them."""

    mean: Any  # (p)
    directions: Any  # (p, 1 or 2)
    limits: Limits | None  # where outliers would rule
    center: Any  # (1 or 2) to be taken off after that
    scale: float  # from points to embedding units
    flat: list[bool]  # whether nothing varies along a direction


def sums(points: Points) -> Moments:
    return Moments(len(points), points.sum(axis=0, dtype=np.float64))


def products(points: Points, total: Moments) -> Moments:
    deviations = points.astype(np.float64) - total.total / total.rows
    return Moments(len(deviations), deviations.T @ deviations)


def make_axes(total: Moments, found: Moments, samples: list[Points]) -> Axes:
    """The directions of largest variance; the first gets the deviation a start has.

    Variances are those of all points, or, where outliers rule, those of a sample without them.
    """
    mean, directions = total.total / total.rows, fix_signs(top_directions(found.total, min(2, len(found.total))))
    deviations = np.sqrt(np.maximum(np.einsum("ij,ik,kj->j", directions, found.total, directions), 0) / found.rows)
    sampled = (np.concatenate(samples) - mean) @ directions
    limits, center = find_limits(sampled), np.zeros(directions.shape[1])
    if limits is not None:
        clipped = limits.clip(sampled)
        center, deviations = clipped.mean(axis=0), clipped.std(axis=0)
    largest = float(deviations.max())
    flat = [bool(deviation <= 1e-9 * largest) for deviation in deviations]
    return Axes(mean, directions, limits, center, START_DEVIATION / largest if largest > 0 else 0.0, flat)


def start_positions(points: Points, axes: Axes | None, seed: int) -> Positions:
    """(n, 2), embedding units; at random without axes, and where nothing varies: zeros never move."""
    start = noise_positions(len(points), seed)
    if axes is None:
        return start
    along = (points - axes.mean) @ axes.directions
    if axes.limits is not None:
        along = axes.limits.clip(along)
    for axis, flat in enumerate(axes.flat):
        if not flat:
            start[:, axis] = (along[:, axis] - axes.center[axis]) * axes.scale
    return start


def find_axes(runner: TaskRunner, points: Sequence[Any], samples: Sequence[Any], init: str) -> Any:
    """The future of Axes; None for a start at random."""
    if init == "random":
        return None
    total = runner.join("start", added, [runner.task("start", sums, part) for part in points])
    parts = [runner.task("start", products, part, total) for part in points]
    return runner.task("start", make_axes, total, runner.join("start", added, parts), list(samples))
