"""Reduce numeric input to float32 points of few dimensions; new rows are reduced in the same way.

Values are read in blocks of rows, so that integers, memory maps and sparse matrices are never copied as a whole.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import linalg, sparse

from pixelsne import _core
from pixelsne.arrays import Points
from pixelsne.components import (
    FEWEST_COMPONENTS,
    NUMBERS_IN_SAMPLE,
    SampledNeighbors,
    most_components,
    numbers_to_try,
    sample_rows,
)
from pixelsne.extremes import (
    Extremes,
    ValueRange,
    describe_crowd,
    find_threshold,
    join_censuses,
    judge_census,
    take_census,
)
from pixelsne.row_transforms import ROW_TRANSFORMS

Float64s = NDArray[np.float64]
Values = Any  # an array (n, d) of numbers, or a scipy sparse matrix by rows
Dimensions = int | Literal["auto"] | None  # None: all of them

NUMBERS_PER_BLOCK = 500_000

# New rows may lie anywhere; the squares of this, summed over all columns, still fit into float32. Rows that a
# reduction was made for lie within the square root of how many numbers there are.
FARTHEST = 1e15

# A covariance matrix of this many columns takes 32 MB and a second to decompose; wider ones are never formed.
WIDEST_COVARIANCE = 2048

# Instead, directions come from so many rounds of subspace iteration, with so many directions to spare.
SUBSPACE_ROUNDS = 8
SPARE_DIRECTIONS = 10

# Of a column's mean; less is rounding, not a difference between rows.
SMALLEST_DEVIATION = 1e-12


def numbers_per_row(values: Values) -> int:
    """Return the numbers per row in memory; of a wide sparse matrix, the stored ones."""
    if sparse.issparse(values) and values.shape[1] > WIDEST_COVARIANCE:
        return int(values.nnz // max(1, values.shape[0]))
    return int(values.shape[1])


def as_doubles(block: Any) -> Any:
    """Return a float64 copy in one memory layout, since sums over another would round differently."""
    if not sparse.issparse(block):
        return np.array(block, dtype=np.float64, order="C")
    copy = sparse.csr_array(block, dtype=np.float64, copy=True)
    copy.sum_duplicates()
    return copy


def blocks_as_they_are(values: Values, token: _core.ProgressToken) -> Iterator[tuple[slice, Any]]:
    """Yield blocks of rows in float64; sparse rows stay sparse."""
    rows = max(1, NUMBERS_PER_BLOCK // max(1, numbers_per_row(values)))
    for first in range(0, values.shape[0], rows):
        part = slice(first, min(first + rows, values.shape[0]))
        yield part, as_doubles(values[part])
        token.advance(part.stop - part.start)


def divide_columns(block: Any, divisors: Float64s) -> Any:
    if not sparse.issparse(block):
        return block / divisors
    block.data /= divisors[block.indices]
    return block


def within_reach(block: Any, unit: float) -> Any:
    """Divide by the unit and clip to FARTHEST."""
    with np.errstate(over="ignore"):
        if not sparse.issparse(block):
            return np.clip(block / unit, -FARTHEST, FARTHEST)
        rescaled = sparse.csr_array(block)
        rescaled.data = np.clip(rescaled.data / unit, -FARTHEST, FARTHEST)
        return rescaled


@dataclass(frozen=True)
class Units:
    """The first transform of every row: that of its metric; or, for Euclidean distances, extreme values become ordinary
    ones, and all values are divided by one number, so that squares cannot overflow."""

    unit: float
    metric: str = "euclidean"
    ordinary: ValueRange | None = None  # None where no value is extreme
    deviations: Float64s | None = None  # (d) by which columns are divided then; None: by nothing

    def blocks(self, values: Values, token: _core.ProgressToken) -> Iterator[tuple[slice, Any]]:
        """Yield blocks of rescaled rows."""
        for part, block in blocks_as_they_are(values, token):
            yield part, self.rescale(block)

    def rescale(self, block: Any) -> Any:
        transform = ROW_TRANSFORMS[self.metric].apply
        if transform is not None:
            return transform(block)
        block = within_reach(block if self.ordinary is None else self.ordinary.clip(block), self.unit)
        return block if self.deviations is None else divide_columns(block, self.deviations)


@dataclass(frozen=True)
class Reduction:
    """The transform from a row to a point: rescale, center, divide by one scale, project.

    One scale for all columns leaves every ratio of distances as it was. Every row is worked out by itself: the
    same row gives the same bits, whichever rows come with it.
    """

    units: Units
    mean: Float64s  # (d)
    scale: float
    directions: Float64s | None  # (d, p), orthonormal
    warning: str = ""  # about extreme values, for the user

    @property
    def dimensions(self) -> int:
        """The number p of coordinates of a point."""
        return len(self.mean) if self.directions is None else self.directions.shape[1]

    def apply(self, values: Values, token: _core.ProgressToken, threads: int) -> Points:
        """Return points (n, p) of rows (n, d)."""
        points = np.empty((values.shape[0], self.dimensions), dtype=np.float32)
        for rows, block in self.units.blocks(values, token):
            points[rows] = self._points_of(block, threads)
        return points

    def _points_of(self, block: Any, threads: int) -> Any:
        if self.directions is None:
            return within_reach(as_dense(block) - self.mean, self.scale)
        if block.shape[1] <= WIDEST_COVARIANCE:
            block = as_dense(block)  # the same bits from either format
        if sparse.issparse(block):
            return within_reach(block @ self.directions - self.mean @ self.directions, self.scale)
        centered = within_reach(block - self.mean, self.scale).astype(np.float32)
        return within_reach(_core.project_rows(centered, self.directions.astype(np.float32), threads), 1.0)


def as_dense(block: Any) -> Float64s:
    dense: Float64s = block.toarray() if sparse.issparse(block) else block
    return dense


def largest_magnitude(values: Values, token: _core.ProgressToken) -> float:
    numbers = values.data if sparse.issparse(values) else values
    largest = 0.0
    for first in range(0, len(numbers), rows := max(1, NUMBERS_PER_BLOCK // max(1, numbers[:1].size))):
        part = numbers[first : first + rows]
        largest = max(largest, -float(part.min()), float(part.max()))  # the type's own abs may overflow
    token.advance(values.shape[0])
    if not np.isfinite(largest):
        raise ValueError("X must hold numbers that float64 can hold; divide it by a constant")
    return largest


def mean_row(values: Values, units: Units, token: _core.ProgressToken) -> Float64s:
    total = sum(np.asarray(block.sum(axis=0)).ravel() for _, block in units.blocks(values, token))
    mean: Float64s = total / values.shape[0]
    return mean


def column_deviations(values: Values, units: Units, mean: Float64s, token: _core.ProgressToken) -> Float64s:
    """Return the standard deviations of the columns, (d); 1 for constant columns."""
    token.expect(values.shape[0])
    total = np.zeros(len(mean))
    for _, block in units.blocks(values, token):
        if sparse.issparse(block):  # the zeros that are not stored deviate by the mean
            stored = np.bincount(block.indices, minlength=len(mean))
            squares = np.square(block.data - mean[block.indices])
            total += np.bincount(block.indices, squares, len(mean)) + (block.shape[0] - stored) * np.square(mean)
        else:
            total += np.square(block - mean).sum(axis=0)
    deviations = np.sqrt(total / values.shape[0])
    return np.where(deviations <= SMALLEST_DEVIATION * np.abs(mean), 1.0, deviations)


def covariance_of(values: Values, units: Units, mean: Float64s, token: _core.ProgressToken) -> Float64s:
    """Return n times the covariance, lower half only."""
    covariance = np.zeros((len(mean), len(mean)), order="F")
    for _, block in units.blocks(values, token):
        centered = as_dense(block) - mean
        covariance = linalg.blas.dsyrk(1.0, centered.T, beta=1.0, c=covariance, lower=1, overwrite_c=1)
    return covariance


def centered_product(block: Any, mean: Float64s, matrix: Float64s) -> Float64s:
    """Return (block - mean) @ matrix, without making a sparse block dense."""
    product: Float64s = block @ matrix - mean @ matrix if sparse.issparse(block) else (block - mean) @ matrix
    return product


def top_directions(covariance: Float64s, count: int) -> Float64s:
    """Return the top eigenvectors, (d, count), largest variance first."""
    last = len(covariance) - 1
    directions: Float64s = linalg.eigh(covariance, subset_by_index=[last + 1 - count, last])[1][:, ::-1]
    return directions


def directions_by_iteration(
    values: Values, units: Units, mean: Float64s, count: int, seed: int, token: _core.ProgressToken
) -> Float64s:
    """Return the top directions of very wide input by the power method, one pass over the rows per round."""
    token.expect((SUBSPACE_ROUNDS + 1) * values.shape[0])
    width = min(count + SPARE_DIRECTIONS, *values.shape)
    basis = np.random.default_rng(seed).normal(size=(len(mean), width))
    for _ in range(SUBSPACE_ROUNDS):
        image, sums = np.zeros_like(basis), np.zeros(width)
        for _, block in units.blocks(values, token):
            along = centered_product(block, mean, basis)
            if sparse.issparse(block):  # the mean is taken off at the end: it would fill the block
                image += block.T @ along
                sums += along.sum(axis=0)
            else:
                image += (block - mean).T @ along
        basis = np.linalg.qr(image - np.outer(mean, sums))[0]
    small = np.zeros((width, width))
    for _, block in units.blocks(values, token):
        image = centered_product(block, mean, basis)
        small += image.T @ image
    return basis @ top_directions(small, count)


def fix_signs(directions: Float64s) -> Float64s:
    """Make the largest entry of each eigenvector positive, so that signs are the same on every machine."""
    largest = np.abs(directions).argmax(axis=0)
    signs = np.sign(directions[largest, np.arange(directions.shape[1])])
    return np.ascontiguousarray(directions * np.where(signs == 0, 1.0, signs))


def spread_of(values: Values, units: Units, mean: Float64s, token: _core.ProgressToken) -> float:
    """Return the sum of all squared deviations from the mean."""
    total = 0.0
    for _, block in units.blocks(values, token):
        if sparse.issparse(block):
            total += float(block.multiply(block).sum()) - 2 * float((block @ mean).sum()) + block.shape[0] * mean @ mean
        else:
            total += float(np.square(block - mean).sum())
    return max(0.0, total)


def sampled(values: Values, numbers: int = NUMBERS_IN_SAMPLE) -> Any:
    """Return a sample of rows in float64, with at most this many numbers."""
    return as_doubles(values[sample_rows(values.shape[0], numbers_per_row(values), numbers)])


def find_extremes(values: Values, largest: float, token: _core.ProgressToken) -> Extremes:
    """Find extreme values; takes one more pass over the rows if the largest magnitude is suspicious."""
    sample = sampled(values, NUMBERS_PER_BLOCK)
    threshold = find_threshold(sample, largest)
    if threshold is None:
        return Extremes(None, largest, describe_crowd(sample, largest))
    token.expect(values.shape[0])
    blocks = blocks_as_they_are(values, token)
    return judge_census(join_censuses([take_census(block, threshold, rows.start) for rows, block in blocks]), largest)


def reduces(columns: int, dimensions: Dimensions) -> bool:
    """Return whether this many columns are to be reduced."""
    if dimensions == "auto":
        return columns > FEWEST_COMPONENTS
    return dimensions is not None and columns > dimensions


@dataclass(frozen=True)
class Sample:
    """Sampled rows by which reductions are compared."""

    rows: Any  # in units, dense or sparse
    mean: Float64s  # (d), of all rows
    neighbors: SampledNeighbors

    @classmethod
    def of(cls, rows: Any, units: Units, mean: Float64s) -> "Sample":
        """rows: sampled rows of the input, in float64."""
        rows = units.rescale(rows)
        return cls(rows, mean, SampledNeighbors.of(rows if sparse.issparse(rows) else rows - mean))

    def along(self, directions: Float64s) -> Float64s:
        return centered_product(self.rows, self.mean, directions)

    def is_kept_by(self, directions: Float64s) -> bool:
        return self.neighbors.are_kept(self.along(directions))


def directions_to_keep(covariance: Float64s, rows: int, sample: Sample) -> Float64s | None:
    """Return the fewest top directions that keep the neighbors of sampled rows; None if half of all do not."""
    most = min(rows, len(covariance))
    directions = top_directions(covariance, min(FEWEST_COMPONENTS, most))
    if sample.is_kept_by(directions):
        return directions
    most = min(most, len(covariance) // 2)
    if most <= FEWEST_COMPONENTS:
        return None
    along = sample.along(top_directions(covariance, most))
    for count in (*numbers_to_try(most), most):
        if sample.neighbors.are_kept(along[:, :count]):
            return top_directions(covariance, count)
    return None


def iterated_directions(
    values: Values, units: Units, mean: Float64s, dimensions: Dimensions, seed: int, token: _core.ProgressToken
) -> Float64s:
    """Return the same for very wide input, up to the most that is affordable, or a fixed number."""
    if isinstance(dimensions, int):
        return directions_by_iteration(values, units, mean, min(dimensions, *values.shape), seed, token)
    sample = Sample.of(sampled(values), units, mean)
    most = most_components(*values.shape, iterates=True)
    for count in (*numbers_to_try(most, iterates=True), most):
        directions = directions_by_iteration(values, units, mean, count, seed, token)
        if sample.is_kept_by(directions):
            break
    return directions


def fit_reduction(
    values: Values,
    dimensions: Dimensions,
    seed: int,
    token: _core.ProgressToken,
    *,
    metric: str = "euclidean",
    scale_columns: bool = False,
) -> Reduction:
    """Fit a reduction to at most `dimensions` components; "auto": as many as keep the neighborhoods."""
    n, d = values.shape
    token.expect(3 * n)
    largest = largest_magnitude(values, token)
    extremes = Extremes(None, largest) if ROW_TRANSFORMS[metric].apply else find_extremes(values, largest, token)
    units = Units(extremes.magnitude or 1.0, metric, extremes.ordinary)
    mean = mean_row(values, units, token)
    if scale_columns:
        deviations = column_deviations(values, units, mean, token)
        units, mean = replace(units, deviations=deviations), mean / deviations
    directions = None
    if reduces(d, dimensions) and d <= WIDEST_COVARIANCE:
        covariance = covariance_of(values, units, mean, token)
        spread = float(np.trace(covariance))
        if isinstance(dimensions, int):
            directions = top_directions(covariance, min(dimensions, n, d))
        else:
            directions = directions_to_keep(covariance, n, Sample.of(sampled(values), units, mean))
    else:
        spread = spread_of(values, units, mean, token)
    if reduces(d, dimensions) and d > WIDEST_COVARIANCE:
        directions = iterated_directions(values, units, mean, dimensions, seed, token)
    scale = float(np.sqrt(spread / (n * d))) or 1.0
    signed = None if directions is None else fix_signs(directions)
    return Reduction(units, mean, scale, signed, extremes.warning)


def reduce(values: Values, dimensions: int | None, seed: int, threads: int = 1) -> Points:
    """Fit a reduction and apply it."""
    token = _core.ProgressToken()
    return fit_reduction(values, dimensions, seed, token).apply(values, token, threads)


def standardize(values: Values) -> Points:
    """Return points centered and divided by one common scale."""
    return reduce(values, None, 0)


def principal_components(points: Values, count: int, seed: int) -> Points:
    """Return coordinates along the `count` directions of largest variance, (n, count), or all if there are fewer."""
    return reduce(points, count, seed)
