"""The map, partition by partition as the input was."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pixelsne.arrays import Placed, Positions
from pixelsne.descent import History, StoppedBy
from pixelsne.distributed.crew import Crew
from pixelsne.distributed.descent import Share, Stand, centered
from pixelsne.distributed.repulsion import News
from pixelsne.distributed.shards import take
from pixelsne.distributed.sized import Sized
from pixelsne.screen import Screen


@dataclass(frozen=True)
class Homecoming(Sized):
    """Points on their way back to a partition."""

    rows: NDArray[np.int64]
    positions: Positions


def send_home(share: Share, stand: Stand, news: list[News], first_rows: list[int]) -> list[Homecoming]:
    """For each partition, its points of this shard."""
    rows, positions = share.rows.rows, centered(stand, news)
    partition = np.searchsorted(first_rows, rows, side="right") - 1
    chosen = [np.flatnonzero(partition == number) for number in range(len(first_rows))]
    return [Homecoming(rows[one], positions[one]) for one in chosen]


def come_home(parts: list[Homecoming], first_row: int, count: int) -> Positions:
    positions = np.empty((count, 2), dtype=np.float32)
    for part in parts:
        positions[part.rows - first_row] = part.positions
    return positions


def bring_home(crew: Crew, shards: Any, first_rows: list[int], counts: list[int]) -> list[Any]:
    """(rows of the partition, 2) for each; futures."""
    sent = [
        crew.task("result", send_home, share, stand, shards.news, first_rows, shard=s)
        for s, (share, stand) in enumerate(zip(shards.shares, shards.stands, strict=True))
    ]
    return [
        crew.task("result", come_home, [crew.task("result", take, one, number) for one in sent], first, count)
        for number, (first, count) in enumerate(zip(first_rows, counts, strict=True))
    ]


def place(positions: Positions, screen: Screen) -> Placed:
    return screen.place(positions)


@dataclass(frozen=True)
class DistributedMap:
    """A map whose points are on the workers, in the order of the input.

    positions, placed: dask arrays (n, 2) of float32, one chunk a partition; in embedding units, and in pixels with
    fractions, from the top left. screen: how one becomes the other. perplexity: those used, which few points may have
    lowered. components: dimensions in which rows were compared. kl_divergence: of the affinities without exaggeration.
    iterations, stopped_by: how many were done, and what ended them: "max_iter", "tol", "callback" or "interrupt".
    timings: seconds by stage. history: iteration, KL and pixels moved, every 50 iterations (`history.columns()`).
    """

    positions: Any
    placed: Any
    screen: Screen
    perplexity: tuple[float, ...]
    components: int | None
    kl_divergence: float
    iterations: int
    stopped_by: StoppedBy
    timings: dict[str, float]
    history: History = field(repr=False)

    def compute(self) -> Placed:
        """All of it here: (n, 2) pixels."""
        placed: Placed = self.placed.compute()
        return placed
