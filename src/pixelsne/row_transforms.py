"""Metrics that are Euclidean distances between transformed rows.

For example, the squared distance between rows of unit length is 2 (1 - cosine). So searches, PCA and `transform` are
the same for all these metrics. A new metric is an entry in ROW_TRANSFORMS. Importing this module loads nothing slow,
because the command line lists the metrics.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

# A row whose values differ by less than this share of their magnitude is constant: its correlation is rounding error.
MIN_VARIATION = 1e-12


@dataclass(frozen=True)
class RowTransform:
    """A transform of the rows of a block: a float64 array (rows, columns) or a sparse csr_array."""

    apply: Callable[[Any], Any] | None = None  # None: rows are not transformed
    takes_sparse: bool = True


def divide_rows(block: Any, divisors: Any) -> Any:
    """Divide each row by its divisor, or by 1 if that is 0."""
    import numpy as np  # noqa: PLC0415
    from scipy import sparse  # noqa: PLC0415

    column = (divisors.toarray() if sparse.issparse(divisors) else np.asarray(divisors)).reshape(-1, 1)
    column = np.where(column == 0, 1.0, column)
    if not sparse.issparse(block):
        return block / column
    block.data /= np.repeat(column.ravel(), np.diff(block.indptr))
    return block


def to_unit_length(block: Any) -> Any:
    """Divide rows by their lengths, after dividing them by their largest values, so that no square overflows."""
    block = divide_rows(block, abs(block).max(axis=1))
    squares = block.multiply(block) if hasattr(block, "multiply") else block * block
    return divide_rows(block, squares.sum(axis=1) ** 0.5)


def to_centered_unit_length(block: Any) -> Any:
    """Subtract the mean of each row, then divide by its length. Constant rows become zeros."""
    block = divide_rows(block, abs(block).max(axis=1))
    centered = block - block.mean(axis=1, keepdims=True)
    centered[abs(centered).max(axis=1) < MIN_VARIATION] = 0
    return to_unit_length(centered)


ROW_TRANSFORMS = {
    "euclidean": RowTransform(),
    "l2": RowTransform(),
    "cosine": RowTransform(to_unit_length),
    "correlation": RowTransform(to_centered_unit_length, takes_sparse=False),
}
