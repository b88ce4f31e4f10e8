"""The transform from rows of numbers to float32 points of few dimensions; new rows are transformed in the same way.

Values are read in blocks of rows, so that integers, memory maps and sparse matrices are never copied as a whole.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from pixelsne import _core
from pixelsne.arrays import Points
from pixelsne.extremes import ValueRange
from pixelsne.row_transforms import ROW_TRANSFORMS

Float64s = NDArray[np.float64]
Values = Any  # an array (n, d) of numbers, or a scipy sparse matrix by rows

NUMBERS_PER_BLOCK = 500_000

# The limit of a coordinate: its squares, summed over all columns, fit into float32. Only new rows can exceed it: the
# common scale keeps fitted values below the square root of their number.
MAX_COORDINATE = 1e15

DOUBLE_BYTES = 8

# A covariance matrix of this many columns takes 32 MB and a second to decompose; wider ones are never formed.
MAX_COVARIANCE_COLUMNS = 2048


def numbers_per_row(values: Values) -> int:
    """Return the numbers per row in memory; for a wide sparse matrix, the mean number of stored values."""
    if sparse.issparse(values) and values.shape[1] > MAX_COVARIANCE_COLUMNS:
        return int(values.nnz // max(1, values.shape[0]))
    return int(values.shape[1])


def as_doubles(block: Any) -> Any:
    """Return a float64 copy in C order, since sums over another layout would round differently."""
    if not sparse.issparse(block):
        return np.array(block, dtype=np.float64, order="C")
    copy = sparse.csr_array(block, dtype=np.float64, copy=True)
    copy.sum_duplicates()
    return copy


def row_slices(values: Values) -> Iterator[slice]:
    """Yield slices of rows that hold about NUMBERS_PER_BLOCK numbers each."""
    rows = max(1, NUMBERS_PER_BLOCK // max(1, numbers_per_row(values)))
    for first in range(0, values.shape[0], rows):
        yield slice(first, min(first + rows, values.shape[0]))


def float_blocks(values: Values, token: _core.ProgressToken) -> Iterator[tuple[slice, Any]]:
    """Yield blocks of rows in float64; sparse rows stay sparse."""
    for part in row_slices(values):
        yield part, as_doubles(values[part])
        token.advance(part.stop - part.start)


def divide_columns(block: Any, divisors: Float64s) -> Any:
    if not sparse.issparse(block):
        return block / divisors
    block.data /= divisors[block.indices]
    return block


def divide_and_clip(block: Any, unit: float) -> Any:
    """Divide by the unit and clip to [-MAX_COORDINATE, MAX_COORDINATE]."""
    with np.errstate(over="ignore"):
        if not sparse.issparse(block):
            return np.clip(block / unit, -MAX_COORDINATE, MAX_COORDINATE)
        rescaled = sparse.csr_array(block)
        rescaled.data = np.clip(rescaled.data / unit, -MAX_COORDINATE, MAX_COORDINATE)
        return rescaled


@dataclass(frozen=True)
class RowPreprocessing:
    """The first transform of every row.

    For cosine and correlation, it is the row transform of the metric. For Euclidean distances, it clips extreme values
    and divides all values by one number, so that squares cannot overflow; then it divides columns by their deviations.
    """

    unit: float
    metric: str = "euclidean"
    ordinary: ValueRange | None = None  # the range to which values are clipped; None if no value is extreme
    deviations: Float64s | None = None  # (d) divisors of the columns; None: columns are not scaled

    def blocks(self, values: Values, token: _core.ProgressToken) -> Iterator[tuple[slice, Any]]:
        """Yield blocks of rescaled rows."""
        for part, block in float_blocks(values, token):
            yield part, self.rescale(block)

    @property
    def only_divides(self) -> bool:
        """Whether rescaling a value is a division by the unit."""
        return ROW_TRANSFORMS[self.metric].apply is None and self.ordinary is None and self.deviations is None

    def centered_blocks(
        self, values: Values, mean: Float64s, scale: float, token: _core.ProgressToken, threads: int
    ) -> Iterator[tuple[slice, Points]]:
        """Yield blocks of rescaled rows, minus the mean, divided by the scale: dense, in float32."""
        for part in row_slices(values):
            block, unit = values[part], self.unit
            if sparse.issparse(block) or not self.only_divides:
                block, unit = as_dense(self.rescale(as_doubles(block))), 1.0
            elif block.dtype == np.float16 or block.dtype.itemsize > DOUBLE_BYTES or not block.dtype.isnative:
                block = block.astype(np.float64)
            yield part, _core.center_rows(np.ascontiguousarray(block), unit, mean, scale, MAX_COORDINATE, threads)
            token.advance(part.stop - part.start)

    def rescale(self, block: Any) -> Any:
        transform = ROW_TRANSFORMS[self.metric].apply
        if transform is not None:
            return transform(block)
        block = divide_and_clip(block if self.ordinary is None else self.ordinary.clip(block), self.unit)
        return block if self.deviations is None else divide_columns(block, self.deviations)


@dataclass(frozen=True)
class Reduction:
    """The transform from a row to a point: rescale, center, divide by one scale, project.

    One scale for all columns does not change ratios of distances. Every row is transformed independently: the same row
    gives the same bits, whichever rows come with it.
    """

    preprocessing: RowPreprocessing
    mean: Float64s  # (d)
    scale: float
    directions: Float64s | None  # (d, p), orthonormal
    warning: str = ""  # about extreme values, for the user

    @property
    def n_components(self) -> int:
        """The number p of coordinates of a point."""
        return len(self.mean) if self.directions is None else self.directions.shape[1]

    def apply(self, values: Values, token: _core.ProgressToken, threads: int) -> Points:
        """Return the points (n, p) of rows (n, d)."""
        points = np.empty((values.shape[0], self.n_components), dtype=np.float32)
        if self.directions is not None and sparse.issparse(values) and values.shape[1] > MAX_COVARIANCE_COLUMNS:
            shift = self.mean @ self.directions
            for rows, block in self.preprocessing.blocks(values, token):
                points[rows] = divide_and_clip(block @ self.directions - shift, self.scale)
            return points
        directions = None if self.directions is None else self.directions.astype(np.float32)
        for rows, centered in self.preprocessing.centered_blocks(values, self.mean, self.scale, token, threads):
            if directions is None:
                points[rows] = centered
            else:
                projected = _core.project_rows(centered, directions, threads)
                points[rows] = np.clip(projected, -MAX_COORDINATE, MAX_COORDINATE, out=projected)
        return points


def as_dense(block: Any) -> Float64s:
    dense: Float64s = block.toarray() if sparse.issparse(block) else block
    return dense
