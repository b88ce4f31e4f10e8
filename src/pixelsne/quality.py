"""Measure the local and global quality of a map.

Local measures are neighborhood precision, k-NN accuracy and KL divergence. Global measures are triplet accuracy and
center correlation, which show whether groups lie beside the right groups. A map can be good in one sense only.

These functions use Euclidean distances and compare all pairs exactly. `pixelsne score` takes any metric, and samples
large inputs. `k` may be a number or a sequence of numbers; for a sequence, the results have the same order.

>>> import numpy as np
>>> from pixelsne import quality
>>> values = 2.0 ** np.arange(8)[:, None]
>>> placed = np.column_stack([values[:, 0], np.zeros(8)])
>>> quality.neighborhood_precision(values, placed, k=2)
1.0
>>> placed[[0, 7]] = placed[[7, 0]]  # swap two points
>>> quality.neighborhood_precision(values, placed, k=2)
0.625
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from pixelsne import _core, descent
from pixelsne.affinities import Affinities
from pixelsne.arrays import AnyArray
from pixelsne.comparison import Classes, Comparison, shared_neighbors
from pixelsne.neighbors import find_neighbors
from pixelsne.reduce import center_and_rescale
from pixelsne.settings import check_count, check_threads, is_sequence
from pixelsne.watched import run_to_completion, watched

__all__ = [
    "center_correlation",
    "kl_divergence",
    "knn_accuracy",
    "neighborhood_precision",
    "point_precision",
    "triplet_accuracy",
]

Float64s = NDArray[np.float64]

# Votes are counted in blocks of rows, with about this many comparisons each.
COMPARISONS_PER_BLOCK = 10_000_000

# Triplets are compared in blocks of about this many numbers.
NUMBERS_PER_BLOCK = 1_000_000

MIN_FOR_A_TRIPLET = 3
MIN_CLASSES = 3  # for a correlation of distances between their centers
TRIPLETS_PER_POINT = 5


def _check_rows(name: str, values: ArrayLike, n: int | None = None) -> AnyArray:
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


def _check_counts(k: Any, n: int) -> list[int]:
    several = list(k) if is_sequence(k) else [k]
    if not several:
        raise ValueError("k must be a number or a sequence of numbers, got an empty one")
    return [check_count("k", count, 1, n - 1) for count in several]


def _check_labels(labels: ArrayLike, n: int) -> Classes:
    classes = np.unique(np.asarray(labels), return_inverse=True)[1]
    if classes.shape != (n,):
        raise ValueError(f"labels must be one for each of the {n} points, got shape {np.shape(labels)}")
    return classes


def _required(array: AnyArray | None) -> AnyArray:
    if array is None:
        raise TypeError("this measure needs points or classes that the comparison does not have")
    return array


def _nearest(values: AnyArray, k: int, n_jobs: int | None) -> NDArray[np.int32]:
    points, threads = center_and_rescale(values), check_threads(n_jobs)
    return run_to_completion(watched(lambda token: find_neighbors(points, k, "exact", 0, threads, token))).indices


@overload
def point_precision(X: ArrayLike, embedding: ArrayLike, k: int, *, n_jobs: int | None = -1) -> Float64s: ...
@overload
def point_precision(X: ArrayLike, embedding: ArrayLike, k: Sequence[int], *, n_jobs: int | None = -1) -> Float64s: ...
def point_precision(X: ArrayLike, embedding: ArrayLike, k: Any, *, n_jobs: int | None = -1) -> Float64s:
    """Return, for each point, the share of its k nearest neighbors in X that are among its k nearest on the map.

    The shape is (n), or (len(k), n) for a sequence. Points with low values have few true neighbors nearby.
    """
    values = _check_rows("X", X)
    placed = _check_rows("embedding", embedding, len(values))
    counts = _check_counts(k, len(values))
    true, shown = _nearest(values, max(counts), n_jobs), _nearest(placed, max(counts), n_jobs)
    compared = Comparison(np.arange(len(values)), true, shown, placed)
    shares = np.array([precision_of_points(compared, count) for count in counts])
    return shares if is_sequence(k) else shares[0]


def precision_of_points(compared: Comparison, k: int) -> Float64s:
    known = (compared.data_neighbors[:, :k] >= 0).sum(axis=1)
    shared = shared_neighbors(compared.data_neighbors[:, :k], compared.map_neighbors[:, :k])
    shares: Float64s = shared / np.maximum(known, 1)
    return shares


def compute_precision(compared: Comparison, k: int) -> float:
    return float(np.mean(precision_of_points(compared, k)))


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
    """Return the most frequent class of each row; in a tie, the class of the nearest member."""
    winners = np.empty(len(classes), dtype=np.intp)
    rows = max(1, COMPARISONS_PER_BLOCK // classes.shape[1] ** 2)
    for first in range(0, len(classes), rows):
        block = classes[first : first + rows]
        agreeing = (block[:, :, None] == block[:, None, :]).sum(axis=2)
        best = agreeing.argmax(axis=1)  # the first maximum, which is the nearest
        winners[first : first + rows] = block[np.arange(len(block)), best]
    return winners


@overload
def knn_accuracy(embedding: ArrayLike, labels: ArrayLike, k: int, *, n_jobs: int | None = -1) -> float: ...
@overload
def knn_accuracy(embedding: ArrayLike, labels: ArrayLike, k: Sequence[int], *, n_jobs: int | None = -1) -> Float64s: ...
def knn_accuracy(embedding: ArrayLike, labels: ArrayLike, k: Any, *, n_jobs: int | None = -1) -> float | Float64s:
    """Return the share of points whose label is the most frequent one among their k nearest points on the map."""
    placed = _check_rows("embedding", embedding)
    classes = _check_labels(labels, len(placed))
    counts = _check_counts(k, len(placed))
    shown = _nearest(placed, max(counts), n_jobs)
    compared = Comparison(np.arange(len(placed)), shown, shown, placed, classes=classes)  # the data do not matter
    scores = np.array([compute_accuracy(compared, count) for count in counts])
    return scores if is_sequence(k) else float(scores[0])


def compute_accuracy(compared: Comparison, k: int) -> float:
    """Return the k-NN accuracy over the rows that have a class."""
    classes = _required(compared.classes)
    labeled = classes[compared.rows] >= 0
    right = vote(classes[compared.map_neighbors[labeled, :k]]) == classes[compared.rows[labeled]]
    return float(right.mean()) if right.size else float("nan")


def squared_distances(rows: AnyArray, first: AnyArray, second: AnyArray) -> Float64s:
    """Return the squared distance of each pair of rows, (pairs). first, second: the indices of the pairs."""
    squares = np.empty(len(first))
    step = max(1, NUMBERS_PER_BLOCK // rows.shape[1])
    for begin in range(0, len(first), step):
        block = slice(begin, begin + step)
        difference = rows[first[block]].astype(np.float64) - rows[second[block]]
        squares[block] = np.einsum("ij,ij->i", difference, difference)
    return squares


def triplet_accuracy(
    X: ArrayLike, embedding: ArrayLike, *, per_point: int = TRIPLETS_PER_POINT, random_state: int = 0
) -> float:
    """Return the share of random triplets (a, b, c) in which the same one of b and c is nearer to a in X and the map.

    Every point is a in `per_point` triplets. 0.5 is chance; 1 means that all distances keep their order. Triplets with
    two equal distances in X do not count.
    """
    values = _check_rows("X", X)
    placed = _check_rows("embedding", embedding, len(values))
    if len(values) < MIN_FOR_A_TRIPLET:
        raise ValueError(f"X must have at least {MIN_FOR_A_TRIPLET} rows to form triplets, got {len(values)}")
    rows = np.arange(len(values))
    return share_of_triplets(values, placed, rows, check_count("per_point", per_point, 1), random_state)


def share_of_triplets(values: AnyArray, placed: AnyArray, rows: AnyArray, per_point: int, random_state: int) -> float:
    """Return the accuracy of triplets whose first points are `rows`; NaN if all have equal distances in the data."""
    n = len(values)
    points = np.repeat(rows, per_point)
    # The other two points, different from i and each other, are i + first and i + second, modulo n.
    random = np.random.default_rng(random_state)
    first, second = random.integers(1, n, len(points)), random.integers(1, n - 1, len(points))
    second += second >= first
    pairs = [(points, (points + step) % n) for step in (first, second)]
    true, shown = (np.subtract(*(squared_distances(each, *pair) for pair in pairs)) for each in (values, placed))
    differs = true != 0
    return float(np.mean(np.sign(true[differs]) == np.sign(shown[differs]))) if differs.any() else float("nan")


def compute_triplets(compared: Comparison) -> float:
    points = _required(compared.points)
    if len(points) < MIN_FOR_A_TRIPLET:
        return float("nan")
    return share_of_triplets(points, compared.placed, compared.rows, TRIPLETS_PER_POINT, 0)


def center_correlation(X: ArrayLike, embedding: ArrayLike, labels: ArrayLike) -> float:
    """Return Spearman's rank correlation between the distances of class centers in X and on the map.

    1 means that the distances between classes have the same order. At least three classes are needed.
    """
    values = _check_rows("X", X)
    placed = _check_rows("embedding", embedding, len(values))
    classes = _check_labels(labels, len(placed))
    if classes.max() < MIN_CLASSES - 1:
        raise ValueError(f"labels must name at least {MIN_CLASSES} classes, got {classes.max() + 1}")
    return correlation_of_centers(values, placed, classes)


def correlation_of_centers(values: AnyArray, placed: AnyArray, classes: Classes) -> float:
    from scipy.spatial.distance import pdist  # noqa: PLC0415 - slow to import
    from scipy.stats import spearmanr  # noqa: PLC0415

    true, shown = (pdist(class_centers(rows, classes)) for rows in (values, placed))
    return float(spearmanr(true, shown).statistic)


def compute_centers(compared: Comparison) -> float:
    """Return the center correlation over the points that have a class; NaN if there are fewer than three classes."""
    labeled = _required(compared.classes) >= 0
    classes = np.unique(_required(compared.classes)[labeled], return_inverse=True)[1]
    if classes.size == 0 or classes.max() < MIN_CLASSES - 1:
        return float("nan")
    return correlation_of_centers(_required(compared.points)[labeled], compared.placed[labeled], classes)


def class_centers(rows: AnyArray, classes: NDArray[np.intp]) -> Float64s:
    """Return the mean row of each class, (classes, columns)."""
    members = sparse.csr_array((np.ones(len(rows)), (classes, np.arange(len(rows)))))
    centers: Float64s = (members @ rows) / np.bincount(classes)[:, None]
    return centers


def kl_divergence(affinities: Affinities, positions: ArrayLike, *, n_jobs: int | None = -1) -> float:
    """Return the KL divergence, which t-SNE minimizes, with an exact normalizer. `positions` are in embedding units.

    `affinities` come from pixelsne.affinities.joint_affinities.
    """
    rows = np.ascontiguousarray(_check_rows("positions", positions, len(affinities)), dtype=np.float32)
    threads = check_threads(n_jobs)
    attraction = _core.Attraction(affinities.offsets, affinities.columns, affinities.values)
    normalizer = _core.exact_repulsion(rows, np.empty_like(rows), threads)
    return descent.kl_divergence(attraction, rows, normalizer, threads)


@dataclass(frozen=True)
class Measure:
    """A quality measure that commands and benchmarks report."""

    title: str
    compute: Callable[..., float]  # takes a Comparison, and k if by_k
    by_k: bool = False
    needs: tuple[str, ...] = ()  # attributes of the Comparison that must not be None

    def __call__(self, compared: Comparison, counts: Sequence[int]) -> list[float] | float | None:
        """Return one value per count if the measure has a k, else one value; None if it cannot be computed."""
        if any(getattr(compared, name) is None for name in self.needs):
            return None
        if self.by_k:
            return [self.compute(compared, k) for k in counts]
        value = self.compute(compared)
        return None if np.isnan(value) else value


# The measures that `pixelsne score`, `--json` and the benchmarks report, by their names in JSON.
MEASURES = {
    "neighborhood_precision": Measure("neighborhood precision", compute_precision, by_k=True),
    "knn_accuracy": Measure("k-NN accuracy", compute_accuracy, by_k=True, needs=("classes",)),
    "triplet_accuracy": Measure("triplet accuracy", compute_triplets, needs=("points",)),
    "center_correlation": Measure("center correlation", compute_centers, needs=("points", "classes")),
}
