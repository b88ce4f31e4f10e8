"""Initial positions: the principal axes of all points, from sums over all partitions."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pixelsne.arrays import Points, Positions
from pixelsne.distributed.sized import Sized
from pixelsne.distributed.task_runner import TaskRunner
from pixelsne.initial_positions import DEFAULT_INIT_SCALE, Limits, find_limits, noise_positions
from pixelsne.reduce import add, fix_signs, top_directions


@dataclass(frozen=True)
class Axes(Sized):
    """Principal axes, and the transform from points to initial positions along them."""

    mean: Any  # (p)
    directions: Any  # (p, 1 or 2)
    limits: Limits | None  # None unless outliers dominate
    center: Any  # (1 or 2), subtracted from the clipped coordinates
    scale: float  # from points to embedding units
    flat: list[bool]  # whether the points do not vary along a direction


def sums(points: Points) -> Any:
    return points.sum(axis=0, dtype=np.float64)


def products(points: Points, total: Any, n: int) -> Any:
    """Return the sums of products of deviations, (p, p). n: the number of all points."""
    deviations = points.astype(np.float64) - total / n
    return deviations.T @ deviations


def make_axes(total: Any, covariance: Any, n: int, samples: list[Points], deviation: float) -> Axes:
    """Return the axes of largest variance, scaled to a deviation along the first. covariance: multiplied by n.

    The variances are those of all points, or of a clipped sample if outliers dominate.
    """
    mean, directions = total / n, fix_signs(top_directions(covariance, min(2, len(covariance))))
    deviations = np.sqrt(np.maximum(np.einsum("ij,ik,kj->j", directions, covariance, directions), 0) / n)
    sampled = (np.concatenate(samples) - mean) @ directions
    limits, center = find_limits(sampled), np.zeros(directions.shape[1])
    if limits is not None:
        clipped = limits.clip(sampled)
        center, deviations = clipped.mean(axis=0), clipped.std(axis=0)
    largest = float(deviations.max())
    flat = [bool(deviation <= 1e-9 * largest) for deviation in deviations]
    return Axes(mean, directions, limits, center, deviation / largest if largest > 0 else 0.0, flat)


def initial_positions(points: Points, axes: Axes | None, seed: int, deviation: float = DEFAULT_INIT_SCALE) -> Positions:
    """Return (n, 2) positions in embedding units. Without axes, and along flat axes, they are random."""
    start = noise_positions(len(points), seed, deviation)
    if axes is None:
        return start
    along = (points - axes.mean) @ axes.directions
    if axes.limits is not None:
        along = axes.limits.clip(along)
    for axis, flat in enumerate(axes.flat):
        if not flat:
            start[:, axis] = (along[:, axis] - axes.center[axis]) * axes.scale
    return start


def find_axes(
    runner: TaskRunner,
    points: Sequence[Any],
    n: int,
    samples: Sequence[Any],
    init: str,
    deviation: float = DEFAULT_INIT_SCALE,
) -> Any:
    """Return the future of Axes; None for random positions. n: the number of all points."""
    if init == "random":
        return None
    total = runner.tree_reduce("init", add, runner.map("init", sums, points))
    covariance = runner.tree_reduce("init", add, runner.map("init", products, points, shared=(total, n)))
    return runner.submit("init", make_axes, total, covariance, n, list(samples), deviation)
