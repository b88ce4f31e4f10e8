"""How good a map is.

Distances are Euclidean; `pixelsne score` has the others. Every measure compares all pairs exactly. `k` may be a number
or a sequence of numbers; of a sequence, results come in its order.

>>> import numpy as np
>>> from pixelsne import quality
>>> values = 2.0 ** np.arange(8)[:, None]
>>> placed = np.column_stack([values[:, 0], np.zeros(8)])
>>> quality.neighborhood_precision(values, placed, k=2)
1.0
>>> placed[[0, 7]] = placed[[7, 0]]  # two points change places
>>> quality.neighborhood_precision(values, placed, k=2)
0.625
"""

from collections.abc import Sequence
from typing import Any, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pixelsne import _core, descent
from pixelsne.affinities import Affinities
from pixelsne.arrays import AnyArray
from pixelsne.neighbors import find_neighbors
from pixelsne.reduce import standardize
from pixelsne.settings import check_count, check_threads, is_sequence
from pixelsne.watched import finish, watched

__all__ = ["kl_divergence", "knn_accuracy", "neighborhood_precision", "point_precision"]

Float64s = NDArray[np.float64]

# Votes are counted for blocks of rows, about this many comparisons at a time.
COMPARISONS_PER_BLOCK = 10_000_000


def _rows(name: str, values: ArrayLike, n: int | None = None) -> AnyArray:
    if hasattr(values, "toarray"):
        raise ValueError(f"{name} must be dense here, got a sparse matrix; use {name}.toarray(), or its reduced rows")
    rows = np.asarray(values)
    if rows.ndim != 2 or rows.dtype.kind not in "biuf" or len(rows) < 2 or rows.shape[1] < 1:  # noqa: PLR2004
        raise ValueError(
            f"{name} must be numbers (rows, columns) with at least two rows, got {rows.dtype} {rows.shape}"
        )
    if not np.isfinite(rows).all():
        raise ValueError(f"{name} must be finite, got NaN or infinity")
    if n is not None and len(rows) != n:
        raise ValueError(f"{name} must have {n} rows as the other argument has, got {len(rows)}")
    return rows


def _counts(k: Any, n: int) -> list[int]:
    several = list(k) if is_sequence(k) else [k]
    if not several:
        raise ValueError("k must be a number or a sequence of numbers, got an empty one")
    return [check_count("k", one, 1, n - 1) for one in several]


def _nearest(values: AnyArray, k: int, n_jobs: int | None) -> NDArray[np.int32]:
    points, threads = standardize(values), check_threads(n_jobs)
    return finish(watched(lambda token: find_neighbors(points, k, "exact", 0, threads, token))).indices


def shared_neighbors(first: NDArray[np.int32], second: NDArray[np.int32]) -> NDArray[np.int64]:
    """How many indices each row of two tables has in common."""
    both = np.sort(np.concatenate([first, second], axis=1), axis=1)
    shared: NDArray[np.int64] = (both[:, 1:] == both[:, :-1]).sum(axis=1)
    return shared


@overload
def point_precision(X: ArrayLike, embedding: ArrayLike, k: int, *, n_jobs: int | None = -1) -> Float64s: ...
@overload
def point_precision(X: ArrayLike, embedding: ArrayLike, k: Sequence[int], *, n_jobs: int | None = -1) -> Float64s: ...
def point_precision(X: ArrayLike, embedding: ArrayLike, k: Any, *, n_jobs: int | None = -1) -> Float64s:
    """For each point, the share of its k nearest neighbors in X that are among its k nearest on the map.

    (n), or (len(k), n) for a sequence: which points to distrust.
    """
    values = _rows("X", X)
    placed = _rows("embedding", embedding, len(values))
    counts = _counts(k, len(values))
    high, low = _nearest(values, max(counts), n_jobs), _nearest(placed, max(counts), n_jobs)
    shares = np.array([shared_neighbors(high[:, :count], low[:, :count]) / count for count in counts])
    return shares if is_sequence(k) else shares[0]


@overload
def neighborhood_precision(X: ArrayLike, embedding: ArrayLike, k: int, *, n_jobs: int | None = -1) -> float: ...
@overload
def neighborhood_precision(
    X: ArrayLike, embedding: ArrayLike, k: Sequence[int], *, n_jobs: int | None = -1
) -> Float64s: ...
def neighborhood_precision(X: ArrayLike, embedding: ArrayLike, k: Any, *, n_jobs: int | None = -1) -> float | Float64s:
    """The share of the k nearest neighbors in X that are among the k nearest on the map, over all points."""
    means: Float64s = np.mean(point_precision(X, embedding, k, n_jobs=n_jobs), axis=-1)
    return means if is_sequence(k) else float(means)


def vote(classes: NDArray[np.intp]) -> NDArray[np.intp]:
    """The most frequent class of each row; of several, the one whose first member is nearest."""
    winners = np.empty(len(classes), dtype=np.intp)
    rows = max(1, COMPARISONS_PER_BLOCK // classes.shape[1] ** 2)
    for first in range(0, len(classes), rows):
        block = classes[first : first + rows]
        agreeing = (block[:, :, None] == block[:, None, :]).sum(axis=2)
        best = agreeing.argmax(axis=1)  # ranks ascend: of equals the nearest wins
        winners[first : first + rows] = block[np.arange(len(block)), best]
    return winners


@overload
def knn_accuracy(embedding: ArrayLike, labels: ArrayLike, k: int, *, n_jobs: int | None = -1) -> float: ...
@overload
def knn_accuracy(embedding: ArrayLike, labels: ArrayLike, k: Sequence[int], *, n_jobs: int | None = -1) -> Float64s: ...
def knn_accuracy(embedding: ArrayLike, labels: ArrayLike, k: Any, *, n_jobs: int | None = -1) -> float | Float64s:
    """How often the majority of a point's k nearest points on the map has its label (leave one out)."""
    placed = _rows("embedding", embedding)
    classes = np.unique(np.asarray(labels), return_inverse=True)[1]
    if classes.shape != (len(placed),):
        raise ValueError(f"labels must be one for each of the {len(placed)} points, got shape {np.shape(labels)}")
    counts = _counts(k, len(placed))
    nearest = _nearest(placed, max(counts), n_jobs)
    scores = np.array([np.mean(vote(classes[nearest[:, :count]]) == classes) for count in counts])
    return scores if is_sequence(k) else float(scores[0])


def kl_divergence(affinities: Affinities, positions: ArrayLike, *, n_jobs: int | None = -1) -> float:
    """The cost t-SNE minimizes, with an exact normalizer. `positions` are in embedding units.

    `affinities` come from pixelsne.affinities.joint_affinities.
    """
    rows = np.ascontiguousarray(_rows("positions", positions, len(affinities)), dtype=np.float32)
    threads = check_threads(n_jobs)
    attraction = _core.Attraction(affinities.offsets, affinities.columns, affinities.values)
    normalizer = _core.exact_repulsion(rows, np.empty_like(rows), threads)
    return descent.kl_divergence(attraction, rows, normalizer, threads)
