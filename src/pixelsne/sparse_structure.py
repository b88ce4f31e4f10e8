"""Check the structure of sparse matrices from users and files, and convert them to canonical CSR.

SciPy's compiled code uses indices without checking them: a wrong index reads or writes outside of the arrays. So pass
every matrix through `to_csr` before converting, slicing or sorting it.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse

from pixelsne.arrays import AnyArray

NUMBERS = "biufc"  # dtype.kind of numbers
MATRIX, VECTOR = 2, 1  # dimensions


class StructureError(ValueError):
    """Raised for a sparse matrix whose arrays contradict each other."""


def to_csr(matrix: Any) -> Any:
    """Return a csr_array with sorted indices and no duplicates. It shares memory with `matrix` if that is one already.

    Raise StructureError if the arrays of the matrix contradict each other. `matrix` itself is never changed.
    """
    check_structure(matrix)
    rows = matrix.tocsr()
    data = rows.data.astype(supported(rows.data.dtype), copy=False)
    # scikit-learn's compiled distances need int32 indices.
    kind = np.int32 if max(*rows.shape, len(rows.indices)) <= np.iinfo(np.int32).max else np.int64
    indices, offsets = rows.indices.astype(kind, copy=False), rows.indptr.astype(kind, copy=False)
    # Make a new object, since the flags "sorted" and "canonical" of the old one may be out of date.
    checked = sparse.csr_array((data, indices, offsets), shape=rows.shape)
    if not checked.has_canonical_format:
        checked = checked.copy()
        checked.sum_duplicates()
    return checked


def check_structure(matrix: Any) -> None:
    """Raise StructureError unless every index is within the matrix."""
    check = CHECKS.get(getattr(matrix, "format", ""))
    if check is None:
        raise StructureError(f"its format is {getattr(matrix, 'format', None)!r}; use one of {', '.join(CHECKS)}")
    if len(matrix.shape) != MATRIX or min(matrix.shape) < 0:
        raise StructureError(f"it must have two dimensions, got shape {matrix.shape}")
    if matrix.dtype.kind not in NUMBERS:
        raise StructureError(f"it must hold numbers, got {matrix.dtype}")
    check(matrix)


def supported(dtype: Any) -> Any:
    """Return the dtype that SciPy's compiled code supports: native byte order, and float32 for float16."""
    return np.dtype(np.float32) if dtype == np.float16 else dtype.newbyteorder("=")


def integers(name: str, array: Any) -> AnyArray:
    if not isinstance(array, np.ndarray) or array.ndim != VECTOR or array.dtype.kind not in "iu":
        got = f"{array.dtype} {array.shape}" if isinstance(array, np.ndarray) else type(array).__name__
        raise StructureError(f"its {name} must be a one-dimensional array of integers, got {got}")
    return array


def check_range(name: str, indices: AnyArray, first: int, last: int) -> None:
    """Raise StructureError for indices below `first` or above `last`."""
    if indices.size == 0 or (indices.min() >= first and indices.max() <= last):
        return
    wrong = int(np.argmax((indices < first) | (indices > last)))
    raise StructureError(f"its {name}[{wrong}] is {indices[wrong]}, which is not between {first} and {last}")


def check_offsets(offsets: AnyArray, count: int, stored: int) -> None:
    """Raise StructureError unless the indptr divides `stored` entries into `count` rows or columns."""
    if len(offsets) != count + 1:
        raise StructureError(f"its indptr must have {count + 1} entries, got {len(offsets)}")
    falls = offsets[1:] < offsets[:-1]
    if offsets[0] != 0 or falls.any():
        raise StructureError("its indptr must begin with 0 and never fall")
    if offsets[-1] > stored:
        raise StructureError(f"its indptr ends at {offsets[-1]}, but only {stored} entries are stored")


def check_compressed(matrix: Any) -> None:
    """Check CSR, CSC and BSR; the last one stores blocks."""
    indices, offsets, data = integers("indices", matrix.indices), integers("indptr", matrix.indptr), matrix.data
    dimensions = VECTOR
    down, across = matrix.shape if matrix.format != "csc" else matrix.shape[::-1]
    if matrix.format == "bsr":
        dimensions = 3
        if data.ndim == dimensions:
            high, wide = data.shape[1:]
            if min(high, wide) < 1 or down % high or across % wide:
                raise StructureError(f"its blocks of {high} x {wide} do not fill its shape {matrix.shape}")
            down, across = down // high, across // wide
    if data.ndim != dimensions or len(data) != len(indices):
        raise StructureError(f"its data {data.shape} and indices {indices.shape} do not fit together")
    check_offsets(offsets, down, len(indices))
    check_range("indices", indices[: int(offsets[-1])], 0, across - 1)


def check_coordinates(matrix: Any) -> None:
    for name, indices, size in zip(("row", "col"), (matrix.row, matrix.col), matrix.shape, strict=True):
        if integers(name, indices).shape != matrix.data.shape:
            raise StructureError(f"its data {matrix.data.shape} and {name} {indices.shape} do not fit together")
        check_range(name, indices, 0, size - 1)


def check_diagonals(matrix: Any) -> None:
    offsets, (rows, columns) = integers("offsets", matrix.offsets), matrix.shape
    if matrix.data.ndim != MATRIX or len(matrix.data) != len(offsets):
        raise StructureError(f"its data {matrix.data.shape} and offsets {offsets.shape} do not fit together")
    check_range("offsets", offsets, 1 - rows, columns - 1)
    if len(np.unique(offsets)) < len(offsets):
        raise StructureError("its offsets must differ from each other")


def check_lists(matrix: Any) -> None:
    rows, columns = matrix.shape
    if matrix.rows.shape != (rows,) or matrix.data.shape != (rows,):
        raise StructureError(f"it must have {rows} lists of columns and of data")
    for row, (indices, numbers) in enumerate(zip(matrix.rows, matrix.data, strict=True)):
        if len(indices) != len(numbers):
            raise StructureError(f"row {row} has {len(indices)} columns and {len(numbers)} numbers")
        if indices:
            check_range(f"rows[{row}]", integers(f"rows[{row}]", np.asarray(indices)), 0, columns - 1)


def check_keys(matrix: Any) -> None:
    if len(matrix.keys()):
        keys = np.array(list(matrix.keys()))
        for name, indices, size in zip(("row", "column"), keys.T, matrix.shape, strict=True):
            check_range(f"{name} indices", integers(f"{name} indices", indices), 0, size - 1)


CHECKS: dict[str, Callable[[Any], None]] = {
    "csr": check_compressed,
    "csc": check_compressed,
    "bsr": check_compressed,
    "coo": check_coordinates,
    "dia": check_diagonals,
    "lil": check_lists,
    "dok": check_keys,
}
