"""Find extreme values, usually fill values, beside which float32 cannot represent the differences between other rows.

One row of 1e20 moves the mean and the scale so far that no digit of the other rows is left. So extreme values are
found before anything else is computed, and are replaced by the largest ordinary value of their column.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

Float64s = NDArray[np.float64]

# A value is extreme if its deviation is this many times that of ordinary rows. float32 has 24 bits: with 1 % of the
# rows at this limit, a mean and a scale that include them leave 7 bits to the others. Maps of scikit-learn's digits
# get worse from 15 times this limit on (1 % of the rows) or 150 times (one row). Ordinary data stay below it, even if
# they are skewed: the largest of a million numbers from a log-normal distribution with a deviation of 4 is at half of
# it.
EXTREME = 2.0**22

# This quantile of the rows' deviations is the ordinary deviation. So at most one row of ten can be extreme.
ORDINARY_SHARE = 0.9

# With this quantile instead, more rows can be extreme. It is unclear then which rows are wrong, so the user is warned.
HALF = 0.5


@dataclass(frozen=True)
class ValueRange:
    """The smallest and largest ordinary value of each column; unlimited in columns without extreme values."""

    low: Float64s  # (d)
    high: Float64s  # (d)

    def clip(self, block: Any) -> Any:
        """Clip a block of float64 rows to the ordinary range."""
        if not sparse.issparse(block):
            return np.clip(block, self.low, self.high)
        block.data = np.clip(block.data, self.low[block.indices], self.high[block.indices])
        return block


@dataclass(frozen=True)
class Threshold:
    """The limit of ordinary values: their largest deviation from the center of a column."""

    center: Float64s  # (d)
    max_deviation: float


@dataclass(frozen=True)
class ExtremeCounts:
    """The ordinary range of some rows, and the number of values outside of it."""

    low: Float64s  # (d), of ordinary values
    high: Float64s
    extreme_columns: NDArray[np.bool_]  # (d)
    values: int  # number of extreme values
    rows: int  # number of rows with extreme values
    largest: tuple[int, int, float]  # row, column and value of the largest deviation; row -1: there is none


@dataclass(frozen=True)
class Extremes:
    """The extreme values of an input."""

    ordinary: ValueRange | None  # None if no value is extreme
    magnitude: float  # of the largest ordinary value
    warning: str = ""  # for the user


def deviations_of(block: Any, center: Float64s) -> Any:
    """Return how far values deviate from the centers of their columns; for a sparse block, the stored values only."""
    with np.errstate(over="ignore"):
        return np.abs(block.data - center[block.indices]) if sparse.issparse(block) else np.abs(block - center)


def threshold_by(sample: Any, share: float) -> Threshold | None:
    """Return the threshold, or None if all rows of the sample are equal.

    The center of a dense column is its median, that of a sparse column is 0. So 0 is never extreme in a sparse matrix.
    """
    is_sparse = sparse.issparse(sample)
    center = np.zeros(sample.shape[1]) if is_sparse else np.median(sample, axis=0)
    with np.errstate(over="ignore"):
        farthest = abs(sample).max(axis=1).toarray().ravel() if is_sparse else deviations_of(sample, center).max(axis=1)
    differing = farthest[farthest > 0]
    if differing.size == 0:
        return None
    return Threshold(center, EXTREME * float(np.quantile(differing, share, method="lower")))


def find_threshold(sample: Any, largest: float) -> Threshold | None:
    """Return the threshold from sampled rows and the largest magnitude of all rows; None if no value exceeds it."""
    threshold = threshold_by(sample, ORDINARY_SHARE)
    return None if threshold is None or 2 * largest <= threshold.max_deviation else threshold


def count_block(block: Any, threshold: Threshold, first_row: int) -> ExtremeCounts:
    """Count extreme values in a block of float64 rows. first_row: the index of its first row."""
    deviations = deviations_of(block, threshold.center)
    extreme = deviations > threshold.max_deviation
    if sparse.issparse(block):
        rows, columns, values = np.repeat(np.arange(block.shape[0]), np.diff(block.indptr)), block.indices, block.data
        low, high = np.zeros((2, block.shape[1]))
        np.minimum.at(low, columns[~extreme], values[~extreme])
        np.maximum.at(high, columns[~extreme], values[~extreme])
        rows, columns, values, deviations = rows[extreme], columns[extreme], values[extreme], deviations[extreme]
    else:
        ordinary = np.where(extreme, threshold.center, block)
        low, high = ordinary.min(axis=0), ordinary.max(axis=0)
        rows, columns = np.nonzero(extreme)
        values, deviations = block[extreme], deviations[extreme]
    largest = -1, 0, 0.0
    if len(values):
        farthest = int(deviations.argmax())
        largest = first_row + int(rows[farthest]), int(columns[farthest]), float(values[farthest])
    extreme_columns = np.bincount(columns, minlength=block.shape[1]) > 0
    return ExtremeCounts(low, high, extreme_columns, len(values), len(np.unique(rows)), largest)


def merge_counts(parts: Sequence[ExtremeCounts]) -> ExtremeCounts:
    """Merge the counts of parts, in the order of their rows. The first of equally large values is the largest."""
    return ExtremeCounts(
        np.min([part.low for part in parts], axis=0),
        np.max([part.high for part in parts], axis=0),
        np.any([part.extreme_columns for part in parts], axis=0),
        sum(part.values for part in parts),
        sum(part.rows for part in parts),
        max((part.largest for part in parts), key=lambda largest: (largest[0] >= 0, abs(largest[2]), -largest[0])),
    )


def decide_clipping(counts: ExtremeCounts, largest: float) -> Extremes:
    """Return the Extremes for the counts of all rows. largest: the largest magnitude of all values."""
    if counts.values == 0:
        return Extremes(None, largest)
    unlimited = np.finfo(np.float64).max
    low = np.where(counts.extreme_columns, counts.low, -unlimited)
    high = np.where(counts.extreme_columns, counts.high, unlimited)
    magnitude = float(max(np.abs(counts.low).max(), np.abs(counts.high).max()))
    return Extremes(ValueRange(low, high), magnitude, describe_extremes(counts))


def describe_extremes(counts: ExtremeCounts) -> str:
    row, column, value = counts.largest
    count = "one value" if counts.values == 1 else f"{counts.values:,} values"
    rows = "one row" if counts.rows == 1 else f"{counts.rows:,} rows"
    return (
        f"{count} of X in {rows} would dominate the scale; the largest is {value:g} in row {row}, column {column} "
        "(counted from 0). Such values are replaced by the largest ordinary value of their column; if they mark "
        "missing values, leave these rows out or fill them in"
    )


def describe_frequent(sample: Any, largest: float) -> str:
    """Return a warning if so many rows are extreme that it is unclear which are ordinary; else an empty string."""
    threshold = threshold_by(sample, HALF)
    if threshold is None or 2 * largest <= threshold.max_deviation:
        return ""
    counts = count_block(sample, threshold, 0)
    if counts.values == 0:
        return ""
    _, column, value = counts.largest
    percent = 100 * counts.rows / sample.shape[0]
    return (
        f"values of X such as {value:g} in column {column} (counted from 0) dominate the scale in about "
        f"{percent:.0f} % of the rows; the differences between the other rows are lost beside "
        "them. If they mark missing values, leave these rows or columns out, or fill them in"
    )
