"""A coarse partition of space: cells around centers, cells in shards, points sent where they belong.

A point lives in one shard. It visits all shards that own one of the cells nearest to it, so that a shard finds the
neighbors of its points among its own and its visitors, without asking anybody.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pixelsne.arrays import Points
from pixelsne.distributed.crew import Crew
from pixelsne.distributed.sized import Sized

CELLS_A_SHARD = 32
MOST_CELLS = 4096
SAMPLE_A_CELL = 100
# A point visits the owners of so many of the cells nearest to it. With few shards most of its neighbors are at home
# anyway; with many, half of them may not be (benchmarks/results/cluster_halo_reviews1m.md).
CELLS_VISITED, CELLS_VISITED_OF_MANY = 8, 16
FEW_SHARDS = 4
PAIRS_AT_ONCE = 4_000_000  # points and cells

# A shard with fewer points than so many neighborhoods is not worth its messages.
FEWEST_NEIGHBORHOODS = 10


@dataclass(frozen=True)
class Cells(Sized):
    centers: Points  # (cells, d)
    owners: NDArray[np.int32]  # (cells) the shard


@dataclass(frozen=True)
class Travelers(Sized):
    """Points on their way from a partition to a shard."""

    rows: NDArray[np.int64]  # of the input
    owners: NDArray[np.int32]  # the shards they live in
    points: Points


@dataclass(frozen=True)
class Residents(Sized):
    """The points of a shard: its own first, then its visitors."""

    shard: int
    own: int  # how many
    rows: NDArray[np.int64]  # of the input, (own + visitors)
    owners: NDArray[np.int32]
    points: Points


def sample(points: Points, share: float, seed: int, number: int) -> Points:
    count = int(np.ceil(share * len(points)))
    rows = np.random.default_rng([seed, number]).permutation(len(points))[:count]
    return points[np.sort(rows)]


def make_cells(samples: list[Points], shards: int, seed: int) -> Cells:
    from sklearn.cluster import MiniBatchKMeans  # noqa: PLC0415 - large, and one worker alone needs it

    sampled = np.concatenate(samples)
    count = min(CELLS_A_SHARD * shards, MOST_CELLS, max(shards, len(sampled) // 4))
    model = MiniBatchKMeans(count, random_state=seed, n_init=1, batch_size=4096).fit(sampled)
    centers, weights = distinct(model.cluster_centers_.astype(np.float32), np.bincount(model.labels_, minlength=count))
    owners = np.empty(len(centers), dtype=np.int32)
    divide(centers, weights, np.arange(len(centers)), 0, min(shards, len(centers)), owners)
    return Cells(centers, owners)


def distinct(centers: Points, weights: Any) -> tuple[Points, Any]:
    """Join equal centers, which data with many equal rows have: a point would visit one place several times."""
    _, first, same = np.unique(centers, axis=0, return_index=True, return_inverse=True)
    total = np.bincount(same.ravel(), weights=weights)
    order = np.argsort(first)
    return centers[first[order]], total[order]


def divide(centers: Points, weights: Any, members: Any, first: int, shards: int, owners: Any) -> None:
    """Halves the cells along their longest direction, by weight, until there is a part for each shard."""
    if shards == 1:
        owners[members] = first
        return
    centered = centers[members].astype(np.float64) - centers[members].mean(axis=0)
    along = centered @ np.linalg.svd(centered, full_matrices=False)[2][0]
    order = members[np.argsort(along, kind="stable")]
    left = shards // 2
    filled = np.cumsum(weights[order]) / max(weights[order].sum(), 1.0)
    cut = int(np.clip(np.searchsorted(filled, left / shards) + 1, left, len(order) - (shards - left)))
    divide(centers, weights, order[:cut], first, left, owners)
    divide(centers, weights, order[cut:], first + left, shards - left, owners)


def nearest_cells(points: Points, cells: Cells) -> Any:
    """(n, those visited) nearest first."""
    visited = CELLS_VISITED if cells.owners.max() < FEW_SHARDS else CELLS_VISITED_OF_MANY
    count = min(visited, len(cells.centers))
    halves = 0.5 * np.einsum("ij,ij->i", cells.centers, cells.centers)
    found = np.empty((len(points), count), dtype=np.int64)
    rows = max(1, PAIRS_AT_ONCE // len(cells.centers))
    for at in range(0, len(points), rows):
        rough = halves - points[at : at + rows] @ cells.centers.T
        near = np.argpartition(rough, count - 1, axis=1)[:, :count]
        order = np.argsort(np.take_along_axis(rough, near, axis=1), axis=1, kind="stable")
        found[at : at + rows] = np.take_along_axis(near, order, axis=1)
    return found


def route(parts: list[Points], cells: Cells, first_rows: list[int], shards: int) -> list[Travelers]:
    """Of some partitions, for each shard: those that live there and those that visit it."""
    points = np.concatenate(parts)
    rows = np.concatenate([first + np.arange(len(part)) for first, part in zip(first_rows, parts, strict=True)])
    visited = cells.owners[nearest_cells(points, cells)]
    owners = visited[:, 0].astype(np.int32)
    sent = []
    for shard in range(shards):
        chosen = np.flatnonzero((visited == shard).any(axis=1))
        sent.append(Travelers(rows[chosen], owners[chosen], points[chosen]))
    return sent


def count_travelers(sent: list[Travelers]) -> list[list[int]]:
    """For each shard, how many points will live there; and how many it will see, visitors included."""
    own = [int((one.owners == shard).sum()) for shard, one in enumerate(sent)]
    return [own, [len(one.rows) for one in sent]]


def merge_small(own: Sequence[int], seen: Sequence[int], fewest: int) -> list[int]:
    """Return a new number for each shard. Shards that follow each other, which are near each other, share a number
    until they see `fewest` points: neighbors are looked for among the points a shard sees."""
    numbers, number, points, largest = [], 0, 0, 0
    for here, there in zip(own, seen, strict=True):
        numbers.append(number)
        points, largest = points + here, max(largest, there)
        if points > 0 and max(points, largest) >= fewest:
            number, points, largest = number + 1, 0, 0
    last = max(0, number - 1)  # what is left over joins the last complete one
    return [min(one, last) for one in numbers]


def renumber(cells: Cells, numbers: list[int]) -> Cells:
    return Cells(cells.centers, np.array(numbers, dtype=np.int32)[cells.owners])


def take(parts: list[Any], place: int) -> Any:
    return parts[place]


def settle(arrived: list[Travelers], shard: int) -> Residents:
    """Its own first. Points are copied once: with those that arrived they are much of what a worker can hold."""
    total, width = sum(len(part.rows) for part in arrived), arrived[0].points.shape[1]
    points, at = np.empty((total, width), dtype=np.float32), 0
    rows, owners = [], []
    for at_home in (True, False):
        for part in arrived:
            chosen = np.flatnonzero((part.owners == shard) == at_home)
            points[at : at + len(chosen)] = part.points[chosen]
            at += len(chosen)
            rows.append(part.rows[chosen])
            owners.append(part.owners[chosen])
    own = sum(len(part) for part in rows[: len(arrived)])
    return Residents(shard, own, np.concatenate(rows), np.concatenate(owners), points)


def share_sampled(n: int, shards: int) -> float:
    """Of n points, enough to find the cells of so many shards."""
    return min(1.0, min(CELLS_A_SHARD * shards, MOST_CELLS) * SAMPLE_A_CELL / n)


def draw_samples(crew: Crew, points: Sequence[Any], n: int, seed: int) -> list[Any]:
    """A small share of each partition of n points, futures."""
    share = share_sampled(n, crew.shards)
    return [crew.task("partition", sample, part, share, seed, number) for number, part in enumerate(points)]


class Sending:
    """Sends the points of all partitions to their shards; all values are futures.

    Partitions are taken together until there are no more groups than shards: the messages are groups x shards.
    """

    def __init__(self, crew: Crew, points: Sequence[Any], first_rows: Sequence[int]) -> None:
        self._crew, self._points, self._first_rows = crew, points, first_rows

    def route(self, cells: Any) -> list[Any]:
        """For each group of partitions, its Travelers to each shard."""
        crew, points, size = self._crew, self._points, -(-len(self._points) // self._crew.shards)
        groups = [slice(at, at + size) for at in range(0, len(points), size)]
        return [
            crew.task("partition", route, list(points[group]), cells, list(self._first_rows[group]), crew.shards)
            for group in groups
        ]

    def settle(self, cells: Any, sent: list[Any], k: int) -> list[Any]:
        """The Residents of each shard. Shards too small to find k neighbors in are merged first."""
        crew = self._crew
        counts = np.sum(crew.gather([crew.task("partition", count_travelers, one) for one in sent]), axis=0)
        numbers = merge_small(counts[0].tolist(), counts[1].tolist(), FEWEST_NEIGHBORHOODS * k)
        if numbers[-1] + 1 < crew.shards:
            crew.take_fewer(numbers[-1] + 1)
            sent = self.route(crew.task("partition", renumber, cells, numbers))
        arrived = [[crew.task("partition", take, one, shard) for one in sent] for shard in range(crew.shards)]
        return crew.each("partition", settle, arrived, range(crew.shards))
