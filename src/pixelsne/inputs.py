"""Convert X to an array of numbers."""

from collections import Counter
from typing import Any

import numpy as np
from scipy import sparse

from pixelsne.arrays import AnyArray
from pixelsne.sparse_structure import StructureError, to_csr

NUMERIC_KINDS = "biufc"  # scikit-learn rejects complex numbers with an error of its own
COLUMNS_NAMED = 5  # in an error


def as_numbers(values: Any) -> Any:
    """Return an array (n, d) or a sparse matrix; `values` itself if it is one already."""
    if sparse.issparse(values):
        return checked_sparse(values)
    if np.ma.isMaskedArray(values):
        return without_mask(values)
    refuse_containers(values)
    vectors = stacked_vectors(values)
    if vectors is not None:
        return vectors
    if hasattr(values, "columns") or hasattr(values, "column_names"):
        values = frame_as_array(with_distinct_names(with_dense_columns(values)))
    if sparse.issparse(values):
        return values
    array = np.asarray(values)
    if array.dtype.kind in NUMERIC_KINDS:
        return values if isinstance(values, np.ndarray) else array
    if array.dtype.kind == "O":  # objects may be numbers
        try:
            return np.asarray(values, dtype=np.float64)
        except ValueError:
            pass
    raise ValueError(f"X must hold numbers, got {array.dtype}; convert or leave out other columns")


def column_names(frame: Any) -> list[str]:
    """Return the column names of a data frame; an empty list for anything else."""
    names = getattr(frame, "column_names", getattr(frame, "columns", ()))
    return [str(name) for name in names]


def refuse_containers(values: Any) -> None:
    """Raise ValueError for lazy frames and for containers of arrays. The error names the arrays to pass."""
    if hasattr(values, "collect_schema") and not hasattr(values, "to_numpy"):
        raise ValueError("X is a lazy frame; give X.collect()")
    if hasattr(values, "obsm") and hasattr(values, "X"):
        known = ", ".join(["X.X", *(f"X.obsm[{name!r}]" for name in values.obsm)])
        raise ValueError(f"X is an AnnData; give one of its arrays: {known}")


def only_column(values: Any) -> Any:
    """Return the column of a frame with one column (pandas, polars, pyarrow); anything else unchanged."""
    if len(column_names(values)) != 1:
        return values
    if hasattr(values, "iloc"):
        return values.iloc[:, 0]
    return values.column(0) if hasattr(values, "column") else values.to_series()


def stacked_vectors(values: Any) -> Any:
    """Return (n, d) from a column of vectors, or from a frame with no other column; None for anything else."""
    column = only_column(values)
    if isinstance(column, np.ndarray | list | tuple) or sparse.issparse(column) or not hasattr(column, "__len__"):
        return None
    if hasattr(column, "to_arrow") and not column_names(column):  # a polars Series
        column = column.to_arrow()
    if hasattr(column, "to_pylist") and not column_names(column):
        return stacked_arrow(column)
    if getattr(column, "ndim", 0) != 1 or len(column) == 0 or np.ndim(next(iter(column))) != 1:
        return None
    check_lengths(np.array([np.size(vector) for vector in column]))
    return np.array(list(column))


def stacked_arrow(column: Any) -> Any:
    import pyarrow as pa  # noqa: PLC0415 - slow to import
    import pyarrow.compute as pc  # noqa: PLC0415

    if not pa.types.is_nested(column.type):
        return None
    lengths = pc.fill_null(pc.list_value_length(column), 0).to_numpy(zero_copy_only=False)
    check_lengths(lengths)
    whole = column.combine_chunks() if hasattr(column, "combine_chunks") else column
    return whole.flatten().to_numpy(zero_copy_only=False).reshape(len(lengths), -1)


def check_lengths(lengths: AnyArray) -> None:
    wrong = np.flatnonzero(lengths != lengths[0])
    if len(wrong):
        raise ValueError(f"row {wrong[0]} of X has {lengths[wrong[0]]} numbers where row 0 has {lengths[0]}")


def without_mask(values: Any, name: str = "X", remedy: str = "X.filled(value)") -> Any:
    """Return the numbers of a masked array; raise ValueError if some are masked."""
    masked = np.argwhere(np.ma.getmaskarray(values))
    if len(masked):
        first = ", ".join(str(index) for index in masked[0])
        raise ValueError(
            f"{name} has {len(masked):,} masked entries, the first at [{first}]; missing values are not supported: "
            f"pass {remedy}, or leave out the rows or columns that have some"
        )
    return np.ma.getdata(values)


def with_dense_columns(frame: Any) -> Any:
    """Convert the sparse columns of a pandas frame; return other frames as they are.

    Columns that are all sparse, with fill value 0, become a sparse matrix; otherwise they become dense columns.
    """
    dtypes = list(getattr(frame, "dtypes", []))
    are_sparse = [type(dtype).__name__ == "SparseDtype" for dtype in dtypes]
    if not any(are_sparse):
        return frame
    if all(are_sparse) and all(dtype.fill_value == 0 and dtype.subtype.kind in NUMERIC_KINDS for dtype in dtypes):
        return sparse.csr_array(frame.sparse.to_coo())
    import pandas as pd  # noqa: PLC0415 - installed, since the frame is from pandas

    columns = [frame.iloc[:, index] for index in range(len(dtypes))]
    pairs = zip(columns, are_sparse, strict=True)
    return pd.concat([column.sparse.to_dense() if is_sparse else column for column, is_sparse in pairs], axis=1)


def with_distinct_names(frame: Any) -> Any:
    """Rename columns of a pandas frame or pyarrow table that share a name: narwhals rejects such frames."""
    names = list(getattr(frame, "column_names", getattr(frame, "columns", [])))
    counts = Counter(names)
    if len(counts) == len(names):
        return frame
    distinct = [f"{name} (column {index})" if counts[name] > 1 else name for index, name in enumerate(names)]
    return frame.set_axis(distinct, axis=1) if hasattr(frame, "set_axis") else frame.rename_columns(distinct)


def checked_sparse(matrix: Any) -> Any:
    """Return a csr_array with valid indices; raise ValueError if the matrix is inconsistent."""
    try:
        return to_csr(matrix)
    except StructureError as error:
        raise ValueError(f"X is no valid sparse matrix: {error}; build it with scipy.sparse.coo_array") from None


def frame_as_array(frame: Any) -> Any:
    """Return a data frame that narwhals supports as an array; anything else unchanged."""
    import narwhals  # noqa: PLC0415 - only data frames need it

    known = narwhals.from_native(frame, eager_only=True, pass_through=True)
    if not isinstance(known, narwhals.DataFrame):
        return frame
    also_allowed = (narwhals.Boolean, narwhals.Object)  # objects may be numbers
    other = [
        f"{name} ({kind})" for name, kind in known.schema.items() if not kind.is_numeric() and kind not in also_allowed
    ]
    if other:
        listed = ", ".join(other[:COLUMNS_NAMED]) + (", ..." if len(other) > COLUMNS_NAMED else "")
        raise ValueError(f"X must hold numbers; convert or leave out the columns {listed}")
    return known.to_numpy()
