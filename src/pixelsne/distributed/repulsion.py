"""Repulsion between the points of all shards.

Large maps use the pixel field: every shard deposits its points on one lattice, one task adds up and convolves the
lattices, and every shard reads the result. Small maps (`GATHER_UP_TO` points) use the repulsion of one machine: one
task gathers all positions. It is exact for few points, and it handles sparse maps and outliers. The field of shards is
inaccurate there: a lattice needs many points per node, and shards do not treat outliers separately.
"""

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pixelsne import _core
from pixelsne.arrays import Positions
from pixelsne.descent import MIN_NORMALIZER
from pixelsne.distributed.halo import EncodedPositions
from pixelsne.distributed.sized import Sized, aligned
from pixelsne.distributed.task_runner import threads_here
from pixelsne.repulsion import EXACT_NORMALIZER_UP_TO, EXACT_UP_TO, best_normalizer
from pixelsne.settings import MAX_POSITION

# Up to this many points, one task computes the repulsion of all points, in a few milliseconds. Their positions are a
# smaller message than the lattice. Up to the same number, the final KL has an exact normalizer, as on one machine.
GATHER_UP_TO = EXACT_NORMALIZER_UP_TO


@dataclass(frozen=True)
class ShardSummary(Sized):
    """The number, sums and bounds of a shard's positions, and the positions that other shards need."""

    count: int
    sums: tuple[float, float]  # of x and of y
    bounds: "_core.Bounds"  # low x, low y, high x, high y
    encoded: EncodedPositions  # of the points it exports


@dataclass(frozen=True)
class DescentSettings:
    """The settings that all tasks of a descent share."""

    n: int
    most_nodes: int
    step_limit: float
    gathers_positions: bool = False  # whether one task computes the repulsion of all points


@dataclass(frozen=True)
class Field(Sized):
    """The lattices of all shards, convolved."""

    lattice: "_core.Lattice"
    nodes: NDArray[np.float32]  # (rows, columns)
    normalizer: float


@dataclass(frozen=True)
class GatheredRepulsion(Sized):
    """The repulsion on every point, in the order of the shards."""

    push: Positions  # (n, 2)
    normalizer: float

    def of_shard(self, shard: int, summaries: Sequence[ShardSummary]) -> Positions:
        """Return the repulsion on the points of one shard, (own, 2)."""
        first = sum(summary.count for summary in summaries[:shard])
        push: Positions = aligned(self.push[first : first + summaries[shard].count])
        return push


def center_of(summaries: Sequence[ShardSummary]) -> tuple[float, float]:
    """Return the mean position; every shard gets the same bits."""
    count = sum(summary.count for summary in summaries)
    return sum(part.sums[0] for part in summaries) / count, sum(part.sums[1] for part in summaries) / count


def bounds_of(summaries: Sequence[ShardSummary]) -> "_core.Bounds":
    """Return the bounds of the centered map."""
    bounds, center = np.array([summary.bounds for summary in summaries]), center_of(summaries)
    low, high = bounds[:, :2].min(axis=0) - center, bounds[:, 2:].max(axis=0) - center
    if not (np.abs([low, high]) < MAX_POSITION).all():
        raise FloatingPointError("the descent diverged; lower learning_rate or set step_limit")
    return float(low[0]), float(low[1]), float(high[0]), float(high[1])


def merge(parts: list[Any], settings: DescentSettings) -> NDArray[np.float32]:
    """Merge the deposits of some shards: add up lattices, or concatenate positions."""
    if settings.gathers_positions:
        return np.concatenate(parts)
    total: NDArray[np.float32] = parts[0].copy()
    for part in parts[1:]:
        total += part
    return total


# Both objects keep the spectrum of the kernel, so only one task at a time may use them.
_convolution, _field = _core.FieldConvolution(), _core.FieldRepulsion()
_lock = threading.Lock()


def repel(parts: list[Any], summaries: list[ShardSummary], settings: DescentSettings) -> Field | GatheredRepulsion:
    """Compute the repulsion from the deposits of all shards."""
    merged = merge(parts, settings)
    return repel_gathered(merged, settings) if settings.gathers_positions else convolve(merged, summaries, settings)


def convolve(nodes: NDArray[np.float32], summaries: list[ShardSummary], settings: DescentSettings) -> Field:
    lattice = _core.choose_lattice(bounds_of(summaries), settings.n, settings.most_nodes)
    with _lock:
        normalizer = _convolution.apply(nodes, lattice, settings.n, threads_here())
    return Field(lattice, nodes, max(normalizer, MIN_NORMALIZER))


def repel_gathered(positions: Positions, settings: DescentSettings) -> GatheredRepulsion:
    """Compute the repulsion on all points as one machine does for this number of points."""
    push, threads = np.empty_like(positions), threads_here()
    if settings.n <= EXACT_UP_TO:
        normalizer = _core.exact_repulsion(positions, push, threads)
    else:
        with _lock:
            normalizer = _field.pixel_field(positions, settings.most_nodes, push, threads)
    return GatheredRepulsion(push, max(normalizer, MIN_NORMALIZER))


def relay(repulsion: Field | GatheredRepulsion) -> Field | GatheredRepulsion:
    """Return the repulsion. As a task, it puts a copy on another worker."""
    return repulsion


@dataclass(frozen=True)
class GlobalState:
    """Bounds and normalizer of the whole map."""

    bounds: "_core.Bounds"
    normalizer: float


def reduce_global(
    repulsion: Field | GatheredRepulsion, summaries: list[ShardSummary], parts: list[Any] | None
) -> GlobalState:
    """Return the GlobalState. parts: positions of all shards, for an exact normalizer; None: that of `repulsion`."""
    normalizer = repulsion.normalizer if parts is None else best_normalizer(np.concatenate(parts), threads_here())
    return GlobalState(bounds_of(summaries), max(normalizer, MIN_NORMALIZER))
