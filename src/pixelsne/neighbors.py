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
    counts: NDArray[np.int64] | None = None  # (n), of rows that have fewer than k, as in a user's graph; None: all k


@dataclass(frozen=True)
class ForestEffort:
    """Parameters of `rp-forest`. benchmarks/neighbors.py measures the recall of the defaults."""

    trees: int = 8
    candidates: int = 2000  # points a block of queries is compared with before exploring
    rounds: int = 3  # of exploring; it ends earlier once few lists change
    reach: int = 30  # neighbors of neighbors looked at: reach x reach a point


CLUSTER_SIZE = 256  # points in a cluster, about


@dataclass(frozen=True)
class ClusterEffort:
    """Parameters of `clusters`. benchmarks/neighbors.py measures the recall of choose_effort."""

    probes: int  # clusters a point is compared with on average at most, its own included
    size: int = CLUSTER_SIZE
    recall: float = 0.995  # reached with fewer probes where that is possible; 1: all points are compared
    reach: int = 20  # neighbors of neighbors looked at afterwards: reach x reach a point


# Comparing all points may take this long on two threads of the reference machine. The time is worked out, not taken:
# the same input is searched in the same way everywhere. benchmarks/exact_search.py measures the three constants.
AFFORDABLE_SECONDS = 2.0
SECONDS_PER_PAIR = 0.3e-9
SECONDS_PER_COORDINATE = 0.015e-9  # of a pair
SECONDS_PER_CANDIDATE = 30e-9  # k log(n / k) candidates a point are kept for a while


def exact_seconds(n: int, d: int, k: int) -> float:
    """Return an estimate of the seconds that `exact` takes."""
    pairs = n * n * (SECONDS_PER_PAIR + d * SECONDS_PER_COORDINATE)
    return pairs + n * k * math.log(n / k) * SECONDS_PER_CANDIDATE


def usual_probes(n: int) -> float:
    """Return a number of clusters that grows more slowly than all clusters do."""
    return 27 + 0.108 * math.sqrt(n)


def choose_effort(n: int, d: int) -> ClusterEffort:
    """Return an effort whose probes take as long as is affordable, or more for many points."""
    affordable = AFFORDABLE_SECONDS / (n * CLUSTER_SIZE * (SECONDS_PER_PAIR + d * SECONDS_PER_COORDINATE))
    return ClusterEffort(probes=round(max(usual_probes(n), affordable)))


@dataclass(frozen=True)
class SearchRequest:
    """The arguments of a search."""

    points: Points
    k: int
    seed: int
    reorder: bool  # whether points may be numbered anew
    token: _core.ProgressToken
    threads: int


# For fewer points, the order in memory does not matter.
ORDERED_FROM = 5_000


def search_exact(request: SearchRequest) -> Neighbors:
    points, order = request.points, None
    if request.reorder and len(points) > ORDERED_FROM:
        order = _core.cluster_order(points, CLUSTER_SIZE, request.seed, request.token, request.threads)
        points = points[order]
    return Neighbors(*_core.exact_neighbors(points, request.k, request.token, request.threads), order)


def search_vantage_point_tree(request: SearchRequest) -> Neighbors:
    return Neighbors(*_core.vp_tree_neighbors(request.points, request.k, request.seed, request.token, request.threads))


def search_forest(request: SearchRequest) -> Neighbors:
    effort = ForestEffort()
    found = _core.rp_forest_neighbors(
        request.points,
        request.k,
        request.seed,
        effort.trees,
        effort.candidates,
        effort.rounds,
        effort.reach,
        request.token,
        request.threads,
    )
    return Neighbors(*found)


def search_in_clusters(request: SearchRequest, effort: ClusterEffort, asked: int) -> Neighbors:
    """Search the neighbors of the first `asked` points among all points."""
    indices, distances, order = _core.cluster_neighbors(
        request.points,
        request.k,
        request.seed,
        effort.size,
        effort.recall,
        effort.probes,
        effort.reach,
        asked,
        request.reorder,
        request.token,
        request.threads,
    )
    return Neighbors(indices, distances, order if request.reorder else None)


def search_clusters(request: SearchRequest) -> Neighbors:
    n, d = request.points.shape
    return search_in_clusters(request, choose_effort(n, d), n)


SEARCHES: dict[str, Callable[[SearchRequest], Neighbors]] = {
    "exact": search_exact,
    "vp-tree": search_vantage_point_tree,
    "rp-forest": search_forest,
    "clusters": search_clusters,
}

# Whoever wants such a share of all points as neighbors has to look at most of them anyway.
LARGE_SHARE = 0.1


def choose_search(name: str, n: int, d: int, k: int) -> str:
    """Return `name`, or for "auto" the name of the search for n points of d coordinates and k neighbors each."""
    if name != "auto":
        return name
    affordable = exact_seconds(n, d, k) <= AFFORDABLE_SECONDS
    return "exact" if affordable or k > LARGE_SHARE * n else "clusters"


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
    """Stage 2: return k neighbors of each of the n points, 1 <= k < n.

    With `reorder` a search may renumber the points so that near ones are close in memory, and returns `order`.
    """
    n, d = points.shape
    search = SEARCHES[choose_search(method, n, d, k)]
    return search(SearchRequest(points, k, seed, reorder, token or _core.ProgressToken(), threads))


def find_neighbors_of_first(points: Points, asked: int, k: int, seed: int, threads: int) -> Neighbors:
    """Return k neighbors of each of the first `asked` points, among all points.

    `order` is None, or the asked points are numbered anew: row i, and an index i < asked, stand for order[i].
    """
    n, d = points.shape
    exact = choose_search("auto", n, d, k) == "exact"
    request = SearchRequest(points, k, seed, reorder=not exact, token=_core.ProgressToken(), threads=threads)
    if exact:
        found = search_exact(request)
        return Neighbors(found.indices[:asked], found.distances[:asked])
    return search_in_clusters(request, choose_effort(n, d), asked)
