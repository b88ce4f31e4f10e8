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
    recall: float = 0.98  # reached with fewer probes where that is possible
    reach: int = 20  # where it is not: neighbors of neighbors looked at, reach x reach a point


def choose_effort(n: int) -> ClusterEffort:
    """The more clusters there are, the smaller the share of them that a point can afford to be compared with."""
    return ClusterEffort(probes=round(30 + 0.04 * math.sqrt(n)))


Search = Callable[[Points, int, int, _core.ProgressToken, int], tuple[NDArray[np.int32], NDArray[np.float32]]]


def search_exact(
    points: Points, k: int, _seed: int, token: _core.ProgressToken, threads: int
) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
    return _core.exact_neighbors(points, k, token, threads)


def search_forest(
    points: Points, k: int, seed: int, token: _core.ProgressToken, threads: int
) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
    effort = ForestEffort()
    return _core.rp_forest_neighbors(
        points, k, seed, effort.trees, effort.candidates, effort.rounds, effort.reach, token, threads
    )


def search_clusters(
    points: Points, k: int, seed: int, token: _core.ProgressToken, threads: int
) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
    effort = choose_effort(len(points))
    return _core.cluster_neighbors(
        points, k, seed, effort.size, effort.recall, effort.probes, effort.reach, token, threads
    )


SEARCHES: dict[str, Search] = {
    "exact": search_exact,
    "vp-tree": _core.vp_tree_neighbors,
    "rp-forest": search_forest,
    "clusters": search_clusters,
}

# Comparing all with all is as fast up to about 3,000 points, whatever d and k are, and still takes less
# than half a second here (benchmarks/neighbors.py).
EXACT_UP_TO = 5_000


def choose_search(name: str, n: int) -> str:
    if name != "auto":
        return name
    return "exact" if n <= EXACT_UP_TO else "clusters"


def find_neighbors(
    points: Points, k: int, method: str, seed: int, threads: int, token: _core.ProgressToken | None = None
) -> Neighbors:
    """Stage 2: k neighbors of each of the n points, 1 <= k < n."""
    search = SEARCHES[choose_search(method, len(points))]
    indices, distances = search(points, k, seed, token or _core.ProgressToken(), threads)
    return Neighbors(indices, distances)
