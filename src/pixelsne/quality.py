"""How good a map is, near and far.

Near: neighborhood precision, k-NN accuracy, KL divergence. Far: triplet accuracy and center correlation, which show
whether groups lie beside the right groups. A map can be good at one and bad at the other.

Distances are Euclidean; `pixelsne score` has the others. Near measures compare all pairs exactly. `k` may be a number
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
from scipy import sparse

from pixelsne import _core, descent
from pixelsne.affinities import Affinities
from pixelsne.arrays import AnyArray
from pixelsne.neighbors import find_neighbors
from pixelsne.reduce import standardize
from pixelsne.settings import check_count, check_threads, is_sequence
from pixelsne.watched import finish, watched

__all__ = [
    "center_correlation",
    "kl_divergence",
    "knn_accuracy",
    "neighborhood_precision",
    "point_precision",
    "triplet_accuracy",
]

Float64s = NDArray[np.float64]

# Votes are counted for blocks of rows, about this many comparisons at a time.
COMPARISONS_PER_BLOCK = 10_000_000

# Triplets are compared in blocks of about this many numbers.
NUMBERS_PER_BLOCK = 1_000_000

FEWEST_FOR_A_TRIPLET = 3


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
    """Return the number of indices that each row of two tables has in common."""
    both = np.sort(np.concatenate([first, second], axis=1), axis=1)
    shared: NDArray[np.int64] = (both[:, 1:] == both[:, :-1]).sum(axis=1)
    return shared


@overload
def point_precision(X: ArrayLike, embedding: ArrayLike, k: int, *, n_jobs: int | None = -1) -> Float64s: ...
@overload
def point_precision(X: ArrayLike, embedding: ArrayLike, k: Sequence[int], *, n_jobs: int | None = -1) -> Float64s: ...
def point_precision(X: ArrayLike, embedding: ArrayLike, k: Any, *, n_jobs: int | None = -1) -> Float64s:
    """Return, for each point, the share of its k nearest neighbors in X that are among its k nearest on the map.

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
    """Return the share of the k nearest neighbors in X that are among the k nearest on the map, over all points."""
    means: Float64s = np.mean(point_precision(X, embedding, k, n_jobs=n_jobs), axis=-1)
    return means if is_sequence(k) else float(means)


def vote(classes: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return the most frequent class of each row; of ties, the class of the nearest member."""
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
    """Return how often the majority of a point's k nearest points on the map has its label (leave one out)."""
    placed = _rows("embedding", embedding)
    classes = np.unique(np.asarray(labels), return_inverse=True)[1]
    if classes.shape != (len(placed),):
        raise ValueError(f"labels must be one for each of the {len(placed)} points, got shape {np.shape(labels)}")
    counts = _counts(k, len(placed))
    nearest = _nearest(placed, max(counts), n_jobs)
    scores = np.array([np.mean(vote(classes[nearest[:, :count]]) == classes) for count in counts])
    return scores if is_sequence(k) else float(scores[0])


def squared_distances(rows: AnyArray, first: AnyArray, second: AnyArray) -> Float64s:
    """Return the distances between the rows of two lists of indices, (pairs)."""
    squares = np.empty(len(first))
    step = max(1, NUMBERS_PER_BLOCK // rows.shape[1])
    for begin in range(0, len(first), step):
        block = slice(begin, begin + step)
        difference = rows[first[block]].astype(np.float64) - rows[second[block]]
        squares[block] = np.einsum("ij,ij->i", difference, difference)
    return squares


def triplet_accuracy(X: ArrayLike, embedding: ArrayLike, *, per_point: int = 5, random_state: int = 0) -> float:
    """Return the share of random triplets (i, j, k) for which the same of j and k is nearer to i in X and on the map.

    Every point is i in `per_point` triplets. 0.5 is chance, 1 a map on which all distances keep their order. Triplets
    with two equal distances in X are left out.
    """
    values = _rows("X", X)
    placed = _rows("embedding", embedding, len(values))
    n = len(values)
    if n < FEWEST_FOR_A_TRIPLET:
        raise ValueError(f"X must have at least {FEWEST_FOR_A_TRIPLET} rows to form triplets, got {n}")
    points = np.repeat(np.arange(n), check_count("per_point", per_point, 1))
    # Two of the n - 1 other points, both different: steps around the circle of all points.
    random = np.random.default_rng(random_state)
    first, second = random.integers(1, n, len(points)), random.integers(1, n - 1, len(points))
    second += second >= first
    pairs = [(points, (points + step) % n) for step in (first, second)]
    true, shown = (np.subtract(*(squared_distances(rows, *pair) for pair in pairs)) for rows in (values, placed))
    differs = true != 0
    return float(np.mean(np.sign(true[differs]) == np.sign(shown[differs]))) if differs.any() else float("nan")


def center_correlation(X: ArrayLike, embedding: ArrayLike, labels: ArrayLike) -> float:
    """Return Spearman's rank correlation between the distances of class centers in X and on the map.

    1 means that classes far apart in X are far apart on the map, too; it needs at least three classes.
    """
    values = _rows("X", X)
    placed = _rows("embedding", embedding, len(values))
    classes = np.unique(np.asarray(labels), return_inverse=True)[1]
    if classes.shape != (len(placed),):
        raise ValueError(f"labels must be one for each of the {len(placed)} points, got shape {np.shape(labels)}")
    if classes.max() < FEWEST_FOR_A_TRIPLET - 1:
        raise ValueError(f"labels must name at least {FEWEST_FOR_A_TRIPLET} classes, got {classes.max() + 1}")
    from scipy.spatial.distance import pdist  # noqa: PLC0415 - slow to import
    from scipy.stats import spearmanr  # noqa: PLC0415

    true, shown = (pdist(class_centers(rows, classes)) for rows in (values, placed))
    return float(spearmanr(true, shown).statistic)


def class_centers(rows: AnyArray, classes: NDArray[np.intp]) -> Float64s:
    """Return the mean row of each class, (classes, columns)."""
    members = sparse.csr_array((np.ones(len(rows)), (classes, np.arange(len(rows)))))
    centers: Float64s = (members @ rows) / np.bincount(classes)[:, None]
    return centers


def kl_divergence(affinities: Affinities, positions: ArrayLike, *, n_jobs: int | None = -1) -> float:
    """Return the cost that t-SNE minimizes, with an exact normalizer. `positions` are in embedding units.

    `affinities` come from pixelsne.affinities.joint_affinities.
    """
    rows = np.ascontiguousarray(_rows("positions", positions, len(affinities)), dtype=np.float32)
    threads = check_threads(n_jobs)
    attraction = _core.Attraction(affinities.offsets, affinities.columns, affinities.values)
    normalizer = _core.exact_repulsion(rows, np.empty_like(rows), threads)
    return descent.kl_divergence(attraction, rows, normalizer, threads)
