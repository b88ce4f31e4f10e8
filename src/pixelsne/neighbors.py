"""The nearest neighbors of every point, by one of several searches."""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pixelsne import _core
from pixelsne.arrays import Points


@dataclass(frozen=True)
class Neighbors:
    indices: NDArray[np.int32]  # (n, k), nearest first, never the point itself, none twice
    distances: NDArray[np.float32]  # (n, k)
    order: NDArray[np.int32] | None = None  # the point that each row, and each index, stands for; None: itself


@dataclass(frozen=True)
class ForestEffort:
    """How hard `rp-forest` tries. benchmarks/neighbors.py shows what the defaults reach."""

    trees: int = 8
    candidates: int = 2000  # points a block of queries is compared with before exploring
    rounds: int = 3  # of exploring; it ends earlier once few lists change
    reach: int = 30  # neighbors of neighbors looked at: reach x reach a point


@dataclass(frozen=True)
class ClusterEffort:
    """How hard `clusters` tries. benchmarks/neighbors.py shows what choose_effort reaches."""

    probes: int  # clusters a point is compared with at most, its own included
    size: int = 256  # points in a cluster, about
    recall: float = 0.995  # reached with fewer probes where that is possible
    reach: int = 20  # neighbors of neighbors looked at afterwards: reach x reach a point


def choose_effort(n: int) -> ClusterEffort:
    """The more clusters there are, the smaller the share of them that a point can afford to be compared with."""
    return ClusterEffort(probes=round(30 + 0.12 * math.sqrt(n)))


@dataclass(frozen=True)
class Quest:
    """What a search is asked for."""

    points: Points
    k: int
    seed: int
    reorder: bool  # whether points may be numbered anew
    token: _core.ProgressToken
    threads: int


def search_exact(quest: Quest) -> Neighbors:
    return Neighbors(*_core.exact_neighbors(quest.points, quest.k, quest.token, quest.threads))


def search_vantage_point_tree(quest: Quest) -> Neighbors:
    return Neighbors(*_core.vp_tree_neighbors(quest.points, quest.k, quest.seed, quest.token, quest.threads))


def search_forest(quest: Quest) -> Neighbors:
    effort = ForestEffort()
    found = _core.rp_forest_neighbors(
        quest.points,
        quest.k,
        quest.seed,
        effort.trees,
        effort.candidates,
        effort.rounds,
        effort.reach,
        quest.token,
        quest.threads,
    )
    return Neighbors(*found)


def search_in_clusters(quest: Quest, effort: ClusterEffort, asked: int) -> Neighbors:
    """Of the first `asked` points, among all of them."""
    indices, distances, order = _core.cluster_neighbors(
        quest.points,
        quest.k,
        quest.seed,
        effort.size,
        effort.recall,
        effort.probes,
        effort.reach,
        asked,
        quest.reorder,
        quest.token,
        quest.threads,
    )
    return Neighbors(indices, distances, order if quest.reorder else None)


def search_clusters(quest: Quest) -> Neighbors:
    n = len(quest.points)
    return search_in_clusters(quest, choose_effort(n), n)


SEARCHES: dict[str, Callable[[Quest], Neighbors]] = {
    "exact": search_exact,
    "vp-tree": search_vantage_point_tree,
    "rp-forest": search_forest,
    "clusters": search_clusters,
}

# Comparing all with all is as fast up to about 3,000 points, whatever d and k are, and still takes less
# than half a second here (benchmarks/neighbors.py).
EXACT_UP_TO = 5_000


# Whoever wants such a share of all points as neighbors has to look at most of them anyway.
LARGE_SHARE = 0.1


def choose_search(name: str, n: int, k: int) -> str:
    """By n and k; what d means for the effort, `clusters` finds out from a sample."""
    if name != "auto":
        return name
    return "exact" if n <= EXACT_UP_TO or k > LARGE_SHARE * n else "clusters"


def find_neighbors(
    points: Points,
    k: int,
    method: str,
    seed: int,
    threads: int,
    token: _core.ProgressToken | None = None,
    *,
    reorder: bool = False,
) -> Neighbors:
    """Stage 2: k neighbors of each of the n points, 1 <= k < n.

    With `reorder` a search may number the points anew, near ones close together, and say so in `order`.
    """
    search = SEARCHES[choose_search(method, len(points), k)]
    return search(Quest(points, k, seed, reorder, token or _core.ProgressToken(), threads))


def find_neighbors_of_first(points: Points, asked: int, k: int, seed: int, threads: int) -> Neighbors:
    """k neighbors of each of the first `asked` points, among all of them.

    `order` is None, or the asked points are numbered anew: row i, and an index i < asked, stand for order[i].
    """
    quest = Quest(points, k, seed, reorder=True, token=_core.ProgressToken(), threads=threads)
    if choose_search("auto", len(points), k) == "exact":
        found = search_exact(quest)
        return Neighbors(found.indices[:asked], found.distances[:asked])
    return search_in_clusters(quest, choose_effort(len(points)), asked)
