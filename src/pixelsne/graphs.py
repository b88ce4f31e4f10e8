"""Precomputed input instead of coordinates: distances, a graph of neighbors, or affinities."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np
from scipy import sparse

from pixelsne.affinities import Affinities
from pixelsne.arrays import AnyArray
from pixelsne.neighbors import Neighbors

ROWS_PER_BLOCK = 1024
MAX_DISTANCE = 1e15


def check_square(name: str, matrix: Any) -> None:
    if matrix.shape[0] != matrix.shape[1]:
        raise ValueError(
            f"metric={name!r} takes a square matrix with a row and a column for each point, got shape {matrix.shape}"
        )


def check_not_negative(name: str, numbers: AnyArray) -> None:
    if numbers.size and numbers.min() < 0:
        raise ValueError(f"metric={name!r} takes numbers that are not negative, got {numbers.min():g}")


def nearest_in_rows(distances: AnyArray, k: int, itself: AnyArray | None) -> Neighbors:
    """Return the k smallest values of each row, sorted, ties by index. itself: in each row, a column to leave out."""
    block = np.array(distances, dtype=np.float64)
    if itself is not None:
        block[np.arange(len(block)), itself] = np.inf
    columns = np.sort(np.argpartition(block, k - 1, axis=1)[:, :k], axis=1)
    farthest = np.take_along_axis(block, columns, axis=1).max(axis=1, keepdims=True)
    for row in np.flatnonzero((block <= farthest).sum(axis=1) > k):  # ties: keep the smallest indices
        columns[row] = np.sort(np.argsort(block[row], kind="stable")[:k])
    nearest = np.take_along_axis(block, columns, axis=1)
    order = np.argsort(nearest, axis=1, kind="stable")
    return as_neighbors(np.take_along_axis(columns, order, axis=1), np.take_along_axis(nearest, order, axis=1))


def as_neighbors(columns: AnyArray, distances: AnyArray) -> Neighbors:
    """Return Neighbors from sorted float64 distances. Rows whose squares overflow float32 are rescaled.

    The perplexity determines the width of a kernel, so only ratios within a row matter.
    """
    farthest = distances[:, -1:]
    out_of_range = (farthest > MAX_DISTANCE) | ((farthest > 0) & (farthest < 1 / MAX_DISTANCE))
    units = np.where(out_of_range, farthest, 1.0)
    return Neighbors(columns.astype(np.int32), (distances / units).astype(np.float32))


def join(parts: Iterable[Neighbors]) -> Neighbors:
    indices, distances = zip(*((part.indices, part.distances) for part in parts), strict=True)
    return Neighbors(np.concatenate(indices), np.concatenate(distances))


def neighbors_in_matrix(distances: AnyArray, k: int, *, are_queries: bool = False) -> Neighbors:
    """Return neighbors from a dense matrix of distances: between all points, or from queries (m) to all points (n)."""
    check_not_negative("precomputed", distances)
    blocks = np.array_split(np.arange(len(distances)), -(-len(distances) // ROWS_PER_BLOCK))
    return join(nearest_in_rows(distances[rows], k, None if are_queries else rows) for rows in blocks)


def without_diagonal(matrix: Any) -> Any:
    """Remove the diagonal. Other explicit zeros stay: they are distances between equal points."""
    coordinates = sparse.coo_array(matrix)
    others = coordinates.row != coordinates.col
    parts = coordinates.data[others], (coordinates.row[others], coordinates.col[others])
    return sparse.csr_array(parts, shape=matrix.shape)


def neighbors_in_graph(graph: Any, k: int, *, are_queries: bool = False) -> Neighbors:
    """Return at most k neighbors of each row of a sparse graph of distances.

    Rows with fewer neighbors repeat the last one, and `counts` holds their numbers of neighbors.
    """
    check_not_negative("precomputed", graph.data)
    graph = sparse.csr_array(graph) if are_queries else without_diagonal(graph)
    counts = np.diff(graph.indptr)
    used = k if are_queries else min(k, int(counts.max()))
    if counts.min() == 0:
        raise ValueError(
            f"row {int(counts.argmin())} of the graph has no neighbors; "
            "every point needs some: make the graph with kneighbors_graph(X, k, mode='distance')"
        )
    rows = np.repeat(np.arange(len(counts)), counts)
    order = np.lexsort((graph.indices, graph.data, rows))  # by row, then distance, then index
    ranks = np.minimum(np.arange(used), counts[:, None] - 1)
    nearest = order[graph.indptr[:-1, None] + ranks]
    found = as_neighbors(graph.indices[nearest], graph.data[nearest].astype(np.float64))
    known = np.minimum(counts, used).astype(np.int64)
    return found if (known == used).all() else replace(found, counts=known)


def median_neighbors(graph: Any) -> int:
    """Return the number of neighbors of the median row of a sparse graph, without the point itself."""
    counts = np.diff(graph.indptr)
    rows = np.repeat(np.arange(len(counts), dtype=np.int32), counts)
    itself = np.bincount(rows[graph.indices == rows], minlength=len(counts))
    return int(np.median(counts - itself))


def precomputed_neighbors(distances: Any, k: int, *, are_queries: bool = False) -> Neighbors:
    """Return neighbors for metric="precomputed"."""
    if sparse.issparse(distances):
        return neighbors_in_graph(distances, k, are_queries=are_queries)
    return neighbors_in_matrix(distances, k, are_queries=are_queries)


def precomputed_affinities(matrix: Any) -> Affinities:
    """Return P for metric="affinities": symmetric, with sum 1, without its diagonal."""
    check_square("affinities", matrix)
    pairs = without_diagonal(matrix).astype(np.float64)
    check_not_negative("affinities", pairs.data)
    joint = sparse.csr_array(pairs + pairs.T)
    joint.eliminate_zeros()
    joint.sort_indices()
    total = joint.data.sum()
    if total <= 0:
        raise ValueError("metric='affinities' takes a matrix with some affinities above 0, got none off the diagonal")
    return Affinities(
        joint.indptr.astype(np.int64), joint.indices.astype(np.int32), (joint.data / total).astype(np.float32)
    )
