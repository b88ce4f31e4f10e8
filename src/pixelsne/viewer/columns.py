"""Columns that the caller of `show` or `watch` passes, as a pyarrow table."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from pixelsne.inputs import with_distinct_names


def table_of(columns: Any, n: int) -> Any:
    """Return the columns as a pyarrow table of n rows; None if there are no columns."""
    import pyarrow as pa  # noqa: PLC0415 - slow to import

    by_name = columns_by_name(columns)
    for name, values in by_name.items():
        if len(values) != n:
            raise ValueError(
                f"columns[{name!r}] has {len(values)} values, the map {n} points; pass one value per point"
            )
    return pa.table({name: arrow_column(values) for name, values in by_name.items()}) if by_name else None


def columns_by_name(columns: Any) -> dict[str, Any]:
    """Return the columns of a dictionary, a data frame or a pyarrow table by their names."""
    if columns is None or isinstance(columns, Mapping):
        return {str(name): values for name, values in (columns or {}).items()}
    frame = with_distinct_names(columns)
    if hasattr(frame, "column_names"):
        return dict(zip(frame.column_names, frame.columns, strict=True))
    if hasattr(frame, "columns") and hasattr(frame, "__getitem__"):
        return {str(name): frame[name] for name in frame.columns}
    raise TypeError(
        f"columns must be a dictionary of arrays, a data frame or a pyarrow table, got {type(columns).__name__}"
    )


def arrow_column(values: Any) -> Any:
    """Return values as a pyarrow array; values of mixed types become strings."""
    import pyarrow as pa  # noqa: PLC0415 - slow to import

    if hasattr(values, "combine_chunks"):  # pyarrow
        return values
    if hasattr(values, "to_arrow"):  # polars
        return values.to_arrow()
    array = np.asarray(values)
    try:
        return pa.array(array, from_pandas=True)
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError):
        return pa.array([None if value is None else str(value) for value in array], pa.string())
