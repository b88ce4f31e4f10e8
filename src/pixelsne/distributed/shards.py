"""Divide the points into shards.

Centers divide the space into Voronoi cells. Each shard owns neighboring cells and the points in them. A point is copied
to all shards that own one of the cells nearest to it, as a ghost point. So a shard finds the neighbors of its points
among its own points and its ghosts, without asking other shards.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pixelsne.arrays import Points
from pixelsne.distributed.sized import Sized
from pixelsne.distributed.task_runner import TaskRunner

CELLS_PER_SHARD = 32
MAX_CELLS = 4096
SAMPLE_PER_CELL = 100
# A point is sent to the owners of this many of the cells nearest to it. With few shards, most neighbors are in the
# point's own shard. With many shards, half of them may be in others (benchmarks/results/cluster_halo_reviews1m.md).
GHOST_CELLS, GHOST_CELLS_OF_MANY_SHARDS = 8, 16
FEW_SHARDS = 4
PAIRS_AT_ONCE = 4_000_000  # of a point and a cell

# Points of a shard at least, as a multiple of k. Smaller shards cost more communication than they save computation.
MIN_NEIGHBORHOODS = 10


@dataclass(frozen=True)
class Cells(Sized):
    centers: Points  # (cells, d)
    owners: NDArray[np.int32]  # (cells) the shard


@dataclass(frozen=True)
class RoutedPoints(Sized):
    """Points of one partition, sent to one shard."""

    rows: NDArray[np.int64]  # of the input
    owners: NDArray[np.int32]  # the shards that own them
    points: Points


@dataclass(frozen=True)
class ShardPoints(Sized):
    """The points of a shard: those it owns first, then its ghosts."""

    shard: int
    own: int  # number of points it owns
    rows: NDArray[np.int64]  # of the input, (own + ghosts)
    owners: NDArray[np.int32]
    points: Points


def sample(points: Points, number: int, share: float, seed: int) -> Points:
    """Return random points of a partition. number: the index of the partition."""
    count = int(np.ceil(share * len(points)))
    rows = np.random.default_rng([seed, number]).permutation(len(points))[:count]
    return points[np.sort(rows)]


def make_cells(samples: list[Points], shards: int, seed: int) -> Cells:
    from sklearn.cluster import MiniBatchKMeans  # noqa: PLC0415 - large, and one worker alone needs it

    sampled = np.concatenate(samples)
    count = min(CELLS_PER_SHARD * shards, MAX_CELLS, max(shards, len(sampled) // 4))
    model = MiniBatchKMeans(count, random_state=seed, n_init=1, batch_size=4096).fit(sampled)
    centers, weights = merge_equal_centers(
        model.cluster_centers_.astype(np.float32), np.bincount(model.labels_, minlength=count)
    )
    owners = np.empty(len(centers), dtype=np.int32)
    assign_owners(centers, weights, np.arange(len(centers)), 0, min(shards, len(centers)), owners)
    return Cells(centers, owners)


def merge_equal_centers(centers: Points, weights: Any) -> tuple[Points, Any]:
    """Merge equal centers, which k-means finds in data with many equal rows. Return the centers and their weights."""
    _, first, same = np.unique(centers, axis=0, return_index=True, return_inverse=True)
    total = np.bincount(same.ravel(), weights=weights)
    order = np.argsort(first)
    return centers[first[order]], total[order]


def assign_owners(centers: Points, weights: Any, members: Any, first: int, shards: int, owners: Any) -> None:
    """Assign cells to shards by recursive bisection along the first principal component, weighted by their points."""
    if shards == 1:
        owners[members] = first
        return
    centered = centers[members].astype(np.float64) - centers[members].mean(axis=0)
    along = centered @ np.linalg.svd(centered, full_matrices=False)[2][0]
    order = members[np.argsort(along, kind="stable")]
    left = shards // 2
    filled = np.cumsum(weights[order]) / max(weights[order].sum(), 1.0)
    cut = int(np.clip(np.searchsorted(filled, left / shards) + 1, left, len(order) - (shards - left)))
    assign_owners(centers, weights, order[:cut], first, left, owners)
    assign_owners(centers, weights, order[cut:], first + left, shards - left, owners)


def nearest_cells(points: Points, cells: Cells) -> Any:
    """Return the indices of the cells nearest to each point, (n, count), nearest first."""
    most = GHOST_CELLS if cells.owners.max() < FEW_SHARDS else GHOST_CELLS_OF_MANY_SHARDS
    count = min(most, len(cells.centers))
    halves = 0.5 * np.einsum("ij,ij->i", cells.centers, cells.centers)
    nearest = np.empty((len(points), count), dtype=np.int64)
    rows = max(1, PAIRS_AT_ONCE // len(cells.centers))
    for first in range(0, len(points), rows):
        # Half of the squared distances, without the term that does not depend on the cell.
        distances = halves - points[first : first + rows] @ cells.centers.T
        near = np.argpartition(distances, count - 1, axis=1)[:, :count]
        order = np.argsort(np.take_along_axis(distances, near, axis=1), axis=1, kind="stable")
        nearest[first : first + rows] = np.take_along_axis(near, order, axis=1)
    return nearest


def route(parts: list[Points], first_rows: list[int], cells: Cells, shards: int) -> list[RoutedPoints]:
    """Return, for each shard, the points that it owns or gets as ghosts. parts: the points of some partitions."""
    points = np.concatenate(parts)
    rows = np.concatenate([first + np.arange(len(part)) for first, part in zip(first_rows, parts, strict=True)])
    destinations = cells.owners[nearest_cells(points, cells)]
    owners = destinations[:, 0].astype(np.int32)
    sent = []
    for shard in range(shards):
        chosen = np.flatnonzero((destinations == shard).any(axis=1))
        sent.append(RoutedPoints(rows[chosen], owners[chosen], points[chosen]))
    return sent


def count_routed(sent: list[RoutedPoints]) -> list[list[int]]:
    """Return two lists: for each shard, the number of points it owns, and the number with its ghosts."""
    own = [int((routed.owners == shard).sum()) for shard, routed in enumerate(sent)]
    return [own, [len(routed.rows) for routed in sent]]


def merge_small_shards(own: Sequence[int], total: Sequence[int], fewest: int) -> list[int]:
    """Return a new number for each shard, so that each has at least `fewest` points, ghosts included.

    own: the number of points that each shard owns. total: the same plus its ghosts. A small shard is merged with the
    next one, which is near it in space.
    """
    numbers, number, points, largest = [], 0, 0, 0
    for owned, with_ghosts in zip(own, total, strict=True):
        numbers.append(number)
        points, largest = points + owned, max(largest, with_ghosts)
        if points > 0 and max(points, largest) >= fewest:
            number, points, largest = number + 1, 0, 0
    last = max(0, number - 1)  # the rest joins the last complete shard
    return [min(new, last) for new in numbers]


def renumber(cells: Cells, numbers: list[int]) -> Cells:
    return Cells(cells.centers, np.array(numbers, dtype=np.int32)[cells.owners])


def collect(received: list[RoutedPoints], shard: int) -> ShardPoints:
    """Order the received points, those the shard owns first. Copy them once, since memory is short at this stage."""
    total, width = sum(len(part.rows) for part in received), received[0].points.shape[1]
    points, end = np.empty((total, width), dtype=np.float32), 0
    rows, owners = [], []
    for owned in (True, False):
        for part in received:
            chosen = np.flatnonzero((part.owners == shard) == owned)
            points[end : end + len(chosen)] = part.points[chosen]
            end += len(chosen)
            rows.append(part.rows[chosen])
            owners.append(part.owners[chosen])
    own = sum(len(part) for part in rows[: len(received)])
    return ShardPoints(shard, own, np.concatenate(rows), np.concatenate(owners), points)


def share_sampled(n: int, shards: int) -> float:
    """Return the share of n points to sample for the cells of this many shards."""
    return min(1.0, min(CELLS_PER_SHARD * shards, MAX_CELLS) * SAMPLE_PER_CELL / n)


def draw_samples(runner: TaskRunner, points: Sequence[Any], n: int, seed: int) -> list[Any]:
    """Return a random sample of each partition, as futures."""
    share = share_sampled(n, runner.shards)
    return runner.map("partition", sample, points, range(len(points)), shared=(share, seed))


class PointRouter:
    """Sends the points of all partitions to their shards. All values are futures.

    Partitions are grouped into at most as many groups as shards, since there are groups x shards messages.
    """

    def __init__(self, runner: TaskRunner, points: Sequence[Any], first_rows: Sequence[int]) -> None:
        self._runner, self._points, self._first_rows = runner, points, first_rows

    def route(self, cells: Any) -> list[Any]:
        """Return, for each group of partitions, its RoutedPoints to each shard."""
        runner, points, size = self._runner, self._points, -(-len(self._points) // self._runner.shards)
        groups = [slice(first, first + size) for first in range(0, len(points), size)]
        parts, first_rows = (
            [list(points[group]) for group in groups],
            [list(self._first_rows[group]) for group in groups],
        )
        return runner.map("partition", route, parts, first_rows, shared=(cells, runner.shards))

    def collect(self, cells: Any, sent: list[Any], k: int) -> list[Any]:
        """Return the ShardPoints of each shard. Shards too small to find k neighbors in are merged first."""
        runner = self._runner
        counts = np.sum(runner.gather(runner.map("partition", count_routed, sent)), axis=0)
        numbers = merge_small_shards(counts[0].tolist(), counts[1].tolist(), MIN_NEIGHBORHOODS * k)
        if numbers[-1] + 1 < runner.shards:
            runner.limit_shards(numbers[-1] + 1)
            sent = self.route(runner.submit("partition", renumber, cells, numbers))
        received = runner.transpose("partition", sent, runner.shards)
        return runner.map_shards("partition", collect, received, range(runner.shards))
