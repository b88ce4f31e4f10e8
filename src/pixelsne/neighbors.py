"""Find the nearest neighbors of every point, by one of several searches."""

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
    order: NDArray[np.int32] | None = None  # order[i] is the point that row i and index i mean; None: point i
    counts: NDArray[np.int64] | None = None  # (n) neighbors of each row; None: all rows have k


@dataclass(frozen=True)
class ForestParameters:
    """Parameters of `rp-forest`. benchmarks/neighbors.py measures the recall of the defaults."""

    trees: int = 8
    candidates: int = 2000  # points that a block of queries is compared with before exploring
    rounds: int = 3  # of exploring, at most; exploring ends once few lists change
    reach: int = 30  # neighbors of neighbors compared: reach x reach per point


CLUSTER_SIZE = 192  # approximate number of points in a cluster


@dataclass(frozen=True)
class ClusterParameters:
    """Parameters of `clusters`. benchmarks/neighbors.py measures the recall of choose_cluster_parameters."""

    probes: int  # the most clusters that a point is compared with on average, its own included
    size: int = CLUSTER_SIZE
    recall: float = 0.985  # target before exploring, often reached with fewer probes; 1: all points are compared
    reach: int = 20  # neighbors of neighbors compared afterwards: reach x reach per point


# Comparing all points may take this long on two threads of the reference machine. The time is estimated by a model, not
# measured, so that every machine searches the same input in the same way. benchmarks/exact_search.py measures the
# constants of the model.
AFFORDABLE_SECONDS = 2.0
SECONDS_PER_PAIR = 0.3e-9
SECONDS_PER_COORDINATE = 0.015e-9  # of a pair
SECONDS_PER_CANDIDATE = 30e-9  # k log(n / k) candidates per point enter its list


def exact_seconds(n: int, d: int, k: int) -> float:
    """Return an estimate of the seconds that `exact` takes."""
    pairs = n * n * (SECONDS_PER_PAIR + d * SECONDS_PER_COORDINATE)
    return pairs + n * k * math.log(n / k) * SECONDS_PER_CANDIDATE


def usual_probes(n: int, k: int) -> float:
    """Return a number of probes that grows more slowly than the number of clusters, and slowly with k."""
    return (30 + 0.1 * math.sqrt(n)) * math.pow(k / 30, 0.25)


def choose_cluster_parameters(n: int, d: int, k: int) -> ClusterParameters:
    """Return parameters with as many probes as AFFORDABLE_SECONDS allow, or usual_probes if those are more."""
    affordable = AFFORDABLE_SECONDS / (n * CLUSTER_SIZE * (SECONDS_PER_PAIR + d * SECONDS_PER_COORDINATE))
    return ClusterParameters(probes=round(max(usual_probes(n, k), affordable)))


@dataclass(frozen=True)
class SearchRequest:
    """The arguments of a search."""

    points: Points
    k: int
    seed: int
    reorder: bool  # whether the search may renumber the points
    token: _core.ProgressToken
    threads: int
    rows: NDArray[np.int32] | None = None  # the points to search; None: all

    @property
    def searched(self) -> Points:
        """The points to search; a copy if they are not all."""
        return self.points if self.rows is None else self.points[self.rows]


# With fewer points, their order in memory does not matter.
ORDERED_FROM = 5_000


def search_exact(request: SearchRequest) -> Neighbors:
    points, order = request.searched, None
    if request.reorder and len(points) > ORDERED_FROM:
        order = _core.cluster_order(points, CLUSTER_SIZE, request.seed, request.token, request.threads)
        points = points[order]
    return Neighbors(*_core.exact_neighbors(points, request.k, request.token, request.threads), order)


def search_vantage_point_tree(request: SearchRequest) -> Neighbors:
    return Neighbors(
        *_core.vp_tree_neighbors(request.searched, request.k, request.seed, request.token, request.threads)
    )


def search_forest(request: SearchRequest) -> Neighbors:
    parameters = ForestParameters()
    found = _core.rp_forest_neighbors(
        request.searched,
        request.k,
        request.seed,
        parameters.trees,
        parameters.candidates,
        parameters.rounds,
        parameters.reach,
        request.token,
        request.threads,
    )
    return Neighbors(*found)


def search_in_clusters(request: SearchRequest, parameters: ClusterParameters, queries: int) -> Neighbors:
    """Return the neighbors of the first `queries` points, among all points to search."""
    indices, distances, order = _core.cluster_neighbors(
        request.points,
        request.rows,
        request.k,
        request.seed,
        parameters.size,
        parameters.recall,
        parameters.probes,
        parameters.reach,
        queries,
        request.reorder,
        request.token,
        request.threads,
    )
    return Neighbors(indices, distances, order if request.reorder else None)


def search_clusters(request: SearchRequest) -> Neighbors:
    n, d = request.points.shape
    n = n if request.rows is None else len(request.rows)
    return search_in_clusters(request, choose_cluster_parameters(n, d, request.k), n)


SEARCHES: dict[str, Callable[[SearchRequest], Neighbors]] = {
    "exact": search_exact,
    "vp-tree": search_vantage_point_tree,
    "rp-forest": search_forest,
    "clusters": search_clusters,
}

# A search for more neighbors than this share of all points compares most points anyway.
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
    rows: NDArray[np.int32] | None = None,
) -> Neighbors:
    """Return k neighbors of each of the n points, 1 <= k < n.

    rows: the points to search, by whose positions in `rows` they are then numbered; None: all points. With `reorder`, a
    search may renumber the points so that near ones are close in memory; it then returns `order`.
    """
    n, d = points.shape if rows is None else (len(rows), points.shape[1])
    search = SEARCHES[choose_search(method, n, d, k)]
    return search(SearchRequest(points, k, seed, reorder, token or _core.ProgressToken(), threads, rows))


def find_neighbors_of_first(points: Points, queries: int, k: int, seed: int, threads: int) -> Neighbors:
    """Return k neighbors of each of the first `queries` points, among all points.

    If `order` is not None, the queries are renumbered: row i, and an index i < queries, mean point order[i].
    """
    n, d = points.shape
    exact = choose_search("auto", n, d, k) == "exact"
    request = SearchRequest(points, k, seed, reorder=not exact, token=_core.ProgressToken(), threads=threads)
    if exact:
        found = search_exact(request)
        return Neighbors(found.indices[:queries], found.distances[:queries])
    return search_in_clusters(request, choose_cluster_parameters(n, d, k), queries)
