"""Check the structure of sparse matrices from users and files, and convert them to canonical CSR.

SciPy's compiled code follows indices without checking them: a wrong index reads or writes outside of memory. So
nothing may convert, slice or sort a matrix that has not been through `to_csr`.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse

from pixelsne.arrays import AnyArray

NUMBERS = "biufc"  # kinds of dtypes
MATRIX, VECTOR = 2, 1  # dimensions


class StructureError(ValueError):
    """The parts of a sparse matrix contradict each other."""


def to_csr(matrix: Any) -> Any:
    """Return a csr_array with sorted indices and no duplicates; it shares memory where `matrix` is one already.

    StructureError for a matrix whose parts contradict each other. `matrix` itself is never changed.
    """
    check_structure(matrix)
    rows = matrix.tocsr()
    data = rows.data.astype(supported(rows.data.dtype), copy=False)
    # scikit-learn's compiled distances take int32 indices alone.
    kind = np.int32 if max(*rows.shape, len(rows.indices)) <= np.iinfo(np.int32).max else np.int64
    indices, offsets = rows.indices.astype(kind, copy=False), rows.indptr.astype(kind, copy=False)
    # A new object: flags that say "sorted" and "canonical" may be older than the indices.
    checked = sparse.csr_array((data, indices, offsets), shape=rows.shape)
    if not checked.has_canonical_format:
        checked = checked.copy()
        checked.sum_duplicates()
    return checked


def check_structure(matrix: Any) -> None:
    """StructureError unless every index leads into the matrix."""
    check = CHECKS.get(getattr(matrix, "format", ""))
    if check is None:
        raise StructureError(f"its format is {getattr(matrix, 'format', None)!r}; use one of {', '.join(CHECKS)}")
    if len(matrix.shape) != MATRIX or min(matrix.shape) < 0:
        raise StructureError(f"it must have two dimensions, got shape {matrix.shape}")
    if matrix.dtype.kind not in NUMBERS:
        raise StructureError(f"it must hold numbers, got {matrix.dtype}")
    check(matrix)


def supported(dtype: Any) -> Any:
    """Return the dtype that SciPy's compiled code takes: in this machine's byte order, and no float16."""
    return np.dtype(np.float32) if dtype == np.float16 else dtype.newbyteorder("=")


def integers(name: str, array: Any) -> AnyArray:
    if not isinstance(array, np.ndarray) or array.ndim != VECTOR or array.dtype.kind not in "iu":
        got = f"{array.dtype} {array.shape}" if isinstance(array, np.ndarray) else type(array).__name__
        raise StructureError(f"its {name} must be a one-dimensional array of integers, got {got}")
    return array


def check_range(name: str, indices: AnyArray, first: int, last: int) -> None:
    """Refuse indices below `first` or above `last`."""
    if indices.size == 0 or (indices.min() >= first and indices.max() <= last):
        return
    place = int(np.argmax((indices < first) | (indices > last)))
    raise StructureError(f"its {name}[{place}] is {indices[place]}, which is not between {first} and {last}")


def check_offsets(offsets: AnyArray, count: int, stored: int) -> None:
    """Refuse an indptr that does not cut `stored` entries into `count` runs."""
    if len(offsets) != count + 1:
        raise StructureError(f"its indptr must have {count + 1} entries, got {len(offsets)}")
    falls = offsets[1:] < offsets[:-1]
    if offsets[0] != 0 or falls.any():
        raise StructureError("its indptr must begin with 0 and never fall")
    if offsets[-1] > stored:
        raise StructureError(f"its indptr ends at {offsets[-1]}, but only {stored} entries are stored")


def check_compressed(matrix: Any) -> None:
    """CSR, CSC and BSR; the last one stores blocks."""
    indices, offsets, data = integers("indices", matrix.indices), integers("indptr", matrix.indptr), matrix.data
    wanted = VECTOR
    down, across = matrix.shape if matrix.format != "csc" else matrix.shape[::-1]
    if matrix.format == "bsr":
        wanted = 3
        if data.ndim == wanted:
            high, wide = data.shape[1:]
            if min(high, wide) < 1 or down % high or across % wide:
                raise StructureError(f"its blocks of {high} x {wide} do not fill its shape {matrix.shape}")
            down, across = down // high, across // wide
    if data.ndim != wanted or len(data) != len(indices):
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
    for row, (places, numbers) in enumerate(zip(matrix.rows, matrix.data, strict=True)):
        if len(places) != len(numbers):
            raise StructureError(f"row {row} has {len(places)} columns and {len(numbers)} numbers")
        if places:
            check_range(f"rows[{row}]", integers(f"rows[{row}]", np.asarray(places)), 0, columns - 1)


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
