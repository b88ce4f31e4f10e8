"""Fit a reduction: sums over all rows give the mean, the scale and the principal directions.

The rows may be in this process, or in parts on the workers of a cluster: `Rows` computes a function on every part and
combines the results.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, Protocol, TypeVar

import numpy as np
from scipy import linalg, sparse

from pixelsne import _core
from pixelsne.arrays import Points
from pixelsne.components import (
    MIN_COMPONENTS,
    NUMBERS_IN_SAMPLE,
    SampledNeighbors,
    most_components,
    numbers_to_try,
    sample_rows,
)
from pixelsne.extremes import (
    ExtremeCounts,
    Extremes,
    Threshold,
    count_block,
    decide_clipping,
    describe_frequent,
    find_threshold,
    merge_counts,
)
from pixelsne.reduction import (
    DOUBLE_BYTES,
    MAX_COVARIANCE_COLUMNS,
    NUMBERS_PER_BLOCK,
    Float64s,
    Reduction,
    RowPreprocessing,
    Values,
    as_doubles,
    float_blocks,
    numbers_per_row,
    row_slices,
)
from pixelsne.row_transforms import ROW_TRANSFORMS

Dimensions = int | Literal["auto"] | None  # None: all of them
Result = TypeVar("Result")

# For input wider than MAX_COVARIANCE_COLUMNS, directions come from subspace iteration, with this many rounds and extra
# directions.
POWER_ITERATIONS = 8
OVERSAMPLES = 10

# Smaller deviations, relative to a column's mean, are rounding errors.
MIN_DEVIATION = 1e-12


@dataclass(frozen=True)
class Part:
    """Some rows of the input, in this process."""

    values: Values
    first_row: int
    token: _core.ProgressToken
    threads: int = 1


class Rows(Protocol):
    """All rows of the input, in one part or several."""

    @property
    def shape(self) -> tuple[int, int]: ...

    def map_reduce(
        self, function: Callable[..., Result], join: Callable[[Sequence[Result]], Result], *arguments: Any
    ) -> Result:
        """Return join([function(part, *arguments) for each part]). `join` must be associative."""

    def sample(self, numbers: int) -> Any:
        """Return sampled rows in float64, with about this many numbers at most."""

    def expect(self, passes: int) -> None:
        """Announce this many passes over the rows, for the progress."""


@dataclass(frozen=True)
class LocalRows:
    """All rows in this process."""

    values: Values
    token: _core.ProgressToken
    threads: int = 1

    @property
    def shape(self) -> tuple[int, int]:
        rows, columns = self.values.shape
        return int(rows), int(columns)

    def map_reduce(
        self, function: Callable[..., Result], join: Callable[[Sequence[Result]], Result], *arguments: Any
    ) -> Result:
        return join([function(Part(self.values, 0, self.token, self.threads), *arguments)])

    def sample(self, numbers: int) -> Any:
        return as_doubles(self.values[sample_rows(self.values.shape[0], numbers_per_row(self.values), numbers)])

    def expect(self, passes: int) -> None:
        self.token.expect(passes * self.values.shape[0])


# Functions of a part, and functions that combine their results.


def add(parts: Sequence[Any]) -> Any:
    total = parts[0]
    for part in parts[1:]:
        total = total + part
    return total


def largest_magnitude(part: Part) -> float:
    values = part.values
    numbers = values.data if sparse.issparse(values) else values
    largest = 0.0
    for first in range(0, len(numbers), rows := max(1, NUMBERS_PER_BLOCK // max(1, numbers[:1].size))):
        block = numbers[first : first + rows]
        largest = max(largest, -float(block.min()), float(block.max()))  # abs of the smallest integer overflows
    part.token.advance(values.shape[0])
    if not np.isfinite(largest):
        raise ValueError("X must hold numbers that float64 can hold; divide it by a constant")
    return largest


def count_extremes(part: Part, threshold: Threshold) -> ExtremeCounts | None:
    """Count the values beyond the threshold; None if the part has no rows."""
    blocks = float_blocks(part.values, part.token)
    return merge_known_counts([count_block(block, threshold, part.first_row + rows.start) for rows, block in blocks])


def greatest(magnitudes: Sequence[float]) -> float:
    return max(magnitudes)


def merge_known_counts(parts: Sequence[ExtremeCounts | None]) -> ExtremeCounts | None:
    known = [counts for counts in parts if counts is not None]
    return merge_counts(known) if known else None


def sum_of_rows(part: Part, preprocessing: RowPreprocessing) -> Float64s:
    total, values = np.zeros(part.values.shape[1]), part.values
    if preprocessing.only_divides and not sparse.issparse(values) and values.dtype.itemsize < DOUBLE_BYTES:
        for rows in row_slices(values):
            total += values[rows].sum(axis=0, dtype=np.float64)
            part.token.advance(rows.stop - rows.start)
        return total / preprocessing.unit
    for _, block in preprocessing.blocks(values, part.token):  # float64 may overflow before it is divided
        total += np.asarray(block.sum(axis=0)).ravel()
    return total


def squared_deviations(part: Part, preprocessing: RowPreprocessing, mean: Float64s) -> Float64s:
    """Return the sums of the squared deviations of each column, (d)."""
    total = np.zeros(len(mean))
    for _, block in preprocessing.blocks(part.values, part.token):
        if sparse.issparse(block):  # zeros are not stored, and deviate by the mean
            stored = np.bincount(block.indices, minlength=len(mean))
            squares = np.square(block.data - mean[block.indices])
            total += np.bincount(block.indices, squares, len(mean)) + (block.shape[0] - stored) * np.square(mean)
        else:
            total += np.square(block - mean).sum(axis=0)
    return total


def sum_of_products(part: Part, preprocessing: RowPreprocessing, mean: Float64s) -> Float64s:
    """Return n times the covariance, (d, d), lower half only."""
    covariance = np.zeros((len(mean), len(mean)))
    for _, centered in preprocessing.centered_blocks(part.values, mean, 1.0, part.token, part.threads):
        _core.add_products(centered, covariance, part.threads)
    return covariance


def sum_of_squares(part: Part, preprocessing: RowPreprocessing, mean: Float64s) -> float:
    """Return the sum of all squared deviations from the mean."""
    total = 0.0
    for _, block in preprocessing.blocks(part.values, part.token):
        if sparse.issparse(block):
            total += float(block.multiply(block).sum()) - 2 * float((block @ mean).sum()) + block.shape[0] * mean @ mean
        else:
            total += float(np.square(block - mean).sum())
    return max(0.0, total)


def sums_along(part: Part, preprocessing: RowPreprocessing, mean: Float64s, basis: Float64s) -> Float64s:
    """Return n times the covariance along a basis, (width, width)."""
    small = np.zeros((basis.shape[1], basis.shape[1]))
    for _, block in preprocessing.blocks(part.values, part.token):
        image = centered_product(block, mean, basis)
        small += image.T @ image
    return small


def covariance_times(part: Part, preprocessing: RowPreprocessing, mean: Float64s, basis: Float64s) -> Float64s:
    """Return n times the covariance times a basis, (d, width), without forming the covariance."""
    image, sums = np.zeros_like(basis), np.zeros(basis.shape[1])
    for _, block in preprocessing.blocks(part.values, part.token):
        along = centered_product(block, mean, basis)
        if sparse.issparse(block):  # subtract the mean at the end, since the block would become dense
            image += block.T @ along
            sums += along.sum(axis=0)
        else:
            image += (block - mean).T @ along
    return image - np.outer(mean, sums)


def centered_product(block: Any, mean: Float64s, matrix: Float64s) -> Float64s:
    """Return (block - mean) @ matrix, without making a sparse block dense."""
    product: Float64s = block @ matrix - mean @ matrix if sparse.issparse(block) else (block - mean) @ matrix
    return product


# Functions of the combined sums.


def top_directions(covariance: Float64s, count: int) -> Float64s:
    """Return the top eigenvectors, (d, count), largest variance first."""
    last = len(covariance) - 1
    directions: Float64s = linalg.eigh(covariance, subset_by_index=[last + 1 - count, last])[1][:, ::-1]
    return directions


def subspace_iteration(rows: Rows, preprocessing: RowPreprocessing, mean: Float64s, count: int, seed: int) -> Float64s:
    """Return the top directions of wide input by subspace iteration, with one pass over the rows per round."""
    rows.expect(POWER_ITERATIONS + 1)
    width = min(count + OVERSAMPLES, *rows.shape)
    basis = np.random.default_rng(seed).normal(size=(len(mean), width))
    for _ in range(POWER_ITERATIONS):
        basis = np.linalg.qr(rows.map_reduce(covariance_times, add, preprocessing, mean, basis))[0]
    return basis @ top_directions(rows.map_reduce(sums_along, add, preprocessing, mean, basis), count)


def fix_signs(directions: Float64s) -> Float64s:
    """Make the largest entry of each eigenvector positive, so that signs are the same on every machine."""
    largest = np.abs(directions).argmax(axis=0)
    signs = np.sign(directions[largest, np.arange(directions.shape[1])])
    return np.ascontiguousarray(directions * np.where(signs == 0, 1.0, signs))


def find_extremes(rows: Rows, largest: float) -> Extremes:
    """Find extreme values, with one more pass over the rows if the largest magnitude exceeds the threshold."""
    sample = rows.sample(NUMBERS_PER_BLOCK)
    threshold = find_threshold(sample, largest)
    if threshold is None:
        return Extremes(None, largest, describe_frequent(sample, largest))
    rows.expect(1)
    counts = rows.map_reduce(count_extremes, merge_known_counts, threshold)
    return Extremes(None, largest) if counts is None else decide_clipping(counts, largest)


def column_deviations(rows: Rows, preprocessing: RowPreprocessing, mean: Float64s) -> Float64s:
    """Return the standard deviations of the columns, (d); 1 for constant columns."""
    rows.expect(1)
    deviations = np.sqrt(rows.map_reduce(squared_deviations, add, preprocessing, mean) / rows.shape[0])
    return np.where(deviations <= MIN_DEVIATION * np.abs(mean), 1.0, deviations)


def reduces(columns: int, dimensions: Dimensions) -> bool:
    """Return whether an input with this many columns is reduced."""
    if dimensions == "auto":
        return columns > MIN_COMPONENTS
    return dimensions is not None and columns > dimensions


@dataclass(frozen=True)
class Sample:
    """Sampled rows by which reductions are compared."""

    rows: Any  # rescaled by RowPreprocessing, dense or sparse
    mean: Float64s  # (d), of all rows
    neighbors: SampledNeighbors

    @classmethod
    def of(cls, rows: Any, preprocessing: RowPreprocessing, mean: Float64s) -> "Sample":
        """Return the Sample of rows of the input, in float64."""
        rows = preprocessing.rescale(rows)
        return cls(rows, mean, SampledNeighbors.of(rows if sparse.issparse(rows) else rows - mean))

    def project(self, directions: Float64s) -> Float64s:
        return centered_product(self.rows, self.mean, directions)

    def keeps_neighbors(self, directions: Float64s) -> bool:
        """Return whether rows along these directions keep enough of their neighbors."""
        return self.neighbors.are_kept(self.project(directions))


def directions_to_keep(covariance: Float64s, rows: int, sample: Sample) -> Float64s | None:
    """Return the fewest top directions that keep the neighbors of sampled rows; None if half of all are too few."""
    most = min(rows, len(covariance))
    directions = top_directions(covariance, min(MIN_COMPONENTS, most))
    if sample.keeps_neighbors(directions):
        return directions
    most = min(most, len(covariance) // 2)
    if most <= MIN_COMPONENTS:
        return None
    along = sample.project(top_directions(covariance, most))
    for count in (*numbers_to_try(most), most):
        if sample.neighbors.are_kept(along[:, :count]):
            return top_directions(covariance, count)
    return None


def directions_of_wide_input(
    rows: Rows, preprocessing: RowPreprocessing, mean: Float64s, dimensions: Dimensions, seed: int
) -> Float64s:
    """Return the directions of wide input: a given number, or for "auto" as many as keep the neighbors."""
    if isinstance(dimensions, int):
        return subspace_iteration(rows, preprocessing, mean, min(dimensions, *rows.shape), seed)
    sample = Sample.of(rows.sample(NUMBERS_IN_SAMPLE), preprocessing, mean)
    most = most_components(*rows.shape, iterates=True)
    for count in (*numbers_to_try(most, iterates=True), most):
        directions = subspace_iteration(rows, preprocessing, mean, count, seed)
        if sample.keeps_neighbors(directions):
            break
    return directions


def fit(rows: Rows, dimensions: Dimensions, seed: int, metric: str, *, scale_columns: bool = False) -> Reduction:
    """Fit a reduction to at most `dimensions` components; "auto": to as many as keep the neighborhoods."""
    n, d = rows.shape
    rows.expect(3)
    largest = rows.map_reduce(largest_magnitude, greatest)
    extremes = Extremes(None, largest) if ROW_TRANSFORMS[metric].apply else find_extremes(rows, largest)
    preprocessing = RowPreprocessing(extremes.magnitude or 1.0, metric, extremes.ordinary)
    mean = rows.map_reduce(sum_of_rows, add, preprocessing) / n
    if scale_columns:
        deviations = column_deviations(rows, preprocessing, mean)
        preprocessing, mean = replace(preprocessing, deviations=deviations), mean / deviations
    directions = None
    if reduces(d, dimensions) and d <= MAX_COVARIANCE_COLUMNS:
        covariance = rows.map_reduce(sum_of_products, add, preprocessing, mean)
        spread = float(np.trace(covariance))
        if isinstance(dimensions, int):
            directions = top_directions(covariance, min(dimensions, n, d))
        else:
            directions = directions_to_keep(
                covariance, n, Sample.of(rows.sample(NUMBERS_IN_SAMPLE), preprocessing, mean)
            )
    else:
        spread = rows.map_reduce(sum_of_squares, add, preprocessing, mean)
    if reduces(d, dimensions) and d > MAX_COVARIANCE_COLUMNS:
        directions = directions_of_wide_input(rows, preprocessing, mean, dimensions, seed)
    scale = float(np.sqrt(spread / (n * d))) or 1.0
    signed = None if directions is None else fix_signs(directions)
    return Reduction(preprocessing, mean, scale, signed, extremes.warning)


def fit_reduction(
    values: Values,
    dimensions: Dimensions,
    seed: int,
    token: _core.ProgressToken,
    *,
    metric: str = "euclidean",
    scale_columns: bool = False,
    threads: int = 1,
) -> Reduction:
    """Fit a reduction to rows in this process."""
    return fit(LocalRows(values, token, threads), dimensions, seed, metric, scale_columns=scale_columns)


def reduce(values: Values, dimensions: int | None, seed: int, threads: int = 1) -> Points:
    """Fit a reduction and apply it."""
    token = _core.ProgressToken()
    return fit_reduction(values, dimensions, seed, token, threads=threads).apply(values, token, threads)


def center_and_rescale(values: Values) -> Points:
    """Return points centered and divided by one common scale."""
    return reduce(values, None, 0)


def principal_components(points: Values, count: int, seed: int) -> Points:
    """Return coordinates along the `count` directions of largest variance, (n, count), or all if there are fewer."""
    return reduce(points, count, seed)
