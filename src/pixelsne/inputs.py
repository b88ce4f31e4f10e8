"""From what users have, to an array of numbers."""

from typing import Any

import numpy as np
from scipy import sparse

NUMERIC_KINDS = "biufc"  # scikit-learn has its own words for complex numbers
COLUMNS_NAMED = 5  # in an error


def as_numbers(values: Any) -> Any:
    """An array (n, d) or a sparse matrix; `values` itself, not a copy, where it is one already."""
    if sparse.issparse(values):
        return values
    if hasattr(values, "collect_schema") and not hasattr(values, "to_numpy"):
        raise ValueError("X is a lazy frame; give X.collect()")
    if hasattr(values, "columns") or hasattr(values, "column_names"):
        values = frame_as_array(values)
    array = np.asarray(values)
    if array.dtype.kind in NUMERIC_KINDS:
        return values if isinstance(values, np.ndarray) else array
    if array.dtype.kind == "O":  # numbers after all, maybe
        try:
            return np.asarray(values, dtype=np.float64)
        except ValueError:
            pass
    raise ValueError(f"X must hold numbers, got {array.dtype}; convert or leave out other columns")


def frame_as_array(frame: Any) -> Any:
    """A data frame of any kind narwhals knows (pandas, polars, pyarrow, ...); anything else as it is."""
    import narwhals  # noqa: PLC0415 - only for those who have data frames

    known = narwhals.from_native(frame, eager_only=True, pass_through=True)
    if not isinstance(known, narwhals.DataFrame):
        return frame
    fitting = (narwhals.Boolean, narwhals.Object)  # objects may be numbers
    other = [f"{name} ({kind})" for name, kind in known.schema.items() if not kind.is_numeric() and kind not in fitting]
    if other:
        listed = ", ".join(other[:COLUMNS_NAMED]) + (", ..." if len(other) > COLUMNS_NAMED else "")
        raise ValueError(f"X must hold numbers; convert or leave out the columns {listed}")
    return known.to_numpy()
