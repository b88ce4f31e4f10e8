"""The finished map, in the partitions of the input."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pixelsne.arrays import Positions, ScreenPositions
from pixelsne.descent_loop import History, StoppedBy
from pixelsne.distributed.descent import ShardGraph, ShardState, ShardTasks, centered
from pixelsne.distributed.repulsion import ShardSummary
from pixelsne.distributed.sized import Sized
from pixelsne.distributed.task_runner import TaskRunner
from pixelsne.neighborhood import Neighborhood
from pixelsne.screen import Screen


@dataclass(frozen=True)
class PartitionPositions(Sized):
    """The positions of the points that one shard and one partition share."""

    rows: NDArray[np.int64]
    positions: Positions


def split_by_partition(
    graph: ShardGraph, state: ShardState, summaries: list[ShardSummary], first_rows: list[int]
) -> list[PartitionPositions]:
    """Return, for each partition, the positions of its points in this shard."""
    rows, positions = graph.affinities.rows, centered(state, summaries)
    partition = np.searchsorted(first_rows, rows, side="right") - 1
    chosen = [np.flatnonzero(partition == number) for number in range(len(first_rows))]
    return [PartitionPositions(rows[indices], positions[indices]) for indices in chosen]


def assemble_partition(parts: list[PartitionPositions], first_row: int, count: int) -> Positions:
    positions = np.empty((count, 2), dtype=np.float32)
    for part in parts:
        positions[part.rows - first_row] = part.positions
    return positions


def gather_by_partition(runner: TaskRunner, tasks: ShardTasks, first_rows: list[int], counts: list[int]) -> list[Any]:
    """Return the positions of each partition, (rows, 2), as futures."""
    shared = (tasks.summaries, first_rows)
    sent = runner.map_shards("result", split_by_partition, tasks.graphs, tasks.states, shared=shared)
    received = runner.transpose("result", sent, len(first_rows))
    return runner.map("result", assemble_partition, received, first_rows, counts)


def to_pixels(positions: Positions, screen: Screen) -> ScreenPositions:
    return screen.to_pixels(positions)


@dataclass(frozen=True)
class DistributedMap:
    """A map whose points are on the workers, in the order of the input.

    positions, placed: dask arrays (n, 2) of float32, one chunk per partition: embedding units, and fractional pixels
    from the top left. screen: the mapping from positions to pixels. neighborhood: the number of neighbors and the
    perplexity. n_components: dimensions in which rows were compared. kl_divergence: from the affinities without
    exaggeration. iterations, stopped_by: the number of iterations, and what ended them: "max_iter", "tol", "callback"
    or "interrupt". timings: seconds by stage. history: iteration, KL and pixels moved, every 50 iterations
    (`history.columns()`).
    """

    positions: Any
    placed: Any
    screen: Screen
    neighborhood: Neighborhood
    n_components: int | None
    kl_divergence: float
    iterations: int
    stopped_by: StoppedBy
    timings: dict[str, float]
    history: History = field(repr=False)

    def compute(self) -> ScreenPositions:
        """Return the whole map, (n, 2) pixels, in this process."""
        placed: ScreenPositions = self.placed.compute()
        return placed
