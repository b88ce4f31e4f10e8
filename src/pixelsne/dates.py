"""Dates and times as numbers: milliseconds since 1970, as JavaScript counts them."""

import datetime as dt
from contextlib import suppress
from typing import Any

import numpy as np

from pixelsne.arrays import AnyArray

DAY = 86_400_000  # milliseconds
MILLISECONDS = {"h": 3_600_000, "m": 60_000, "s": 1_000, "ms": 1, "us": 1e-3, "ns": 1e-6, "ps": 1e-9}
MIN_TICKS, MAX_TICKS = 3, 6
MIN_NAMED = 2
YEARS_OF_MATPLOTLIB = (1, 9999)
ISO_UNITS = ("Y", "M", "D", "m", "s", "ms")  # from short to long


def as_dates(values: Any) -> AnyArray | None:
    """Return (n) float64 milliseconds since 1970, NaN for missing values; None if the values are not dates.

    values: an array or a column of a pyarrow table. A time with a time zone counts as the local time in that zone.
    """
    if not isinstance(values, np.ndarray):
        return dates_of_column(values)
    if values.dtype.kind == "M":
        return milliseconds(values)
    if values.dtype.kind == "O" and any(isinstance(value, dt.date) for value in values):
        return dates_of_objects(values)
    return None


def dates_of_objects(values: AnyArray) -> AnyArray | None:
    """Convert Python's dates, and those of pandas with a time zone. Return None if there are other objects."""
    import pyarrow as pa  # noqa: PLC0415 - slow to import

    try:
        return dates_of_column(pa.chunked_array([pa.array(values, from_pandas=True)]))
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError):
        return None


def dates_of_column(column: Any) -> AnyArray | None:
    import pyarrow as pa  # noqa: PLC0415 - slow to import
    import pyarrow.compute as pc  # noqa: PLC0415

    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if not (pa.types.is_timestamp(column.type) or pa.types.is_date(column.type)):
        return None
    if pa.types.is_timestamp(column.type) and column.type.tz is not None:
        with suppress(pa.ArrowException, ValueError):  # unknown zones count as UTC
            column = pc.local_timestamp(column)
    return milliseconds(column.to_numpy())


def milliseconds(dates: AnyArray) -> AnyArray:
    """Convert datetime64 of any unit, without overflow."""
    unit, count = np.datetime_data(dates.dtype)
    if unit not in MILLISECONDS:
        dates, unit, count = dates.astype("datetime64[D]"), "D", 1
    numbers = dates.astype(np.int64).astype(np.float64) * (count * MILLISECONDS.get(unit, DAY))
    known: AnyArray = np.where(np.isnat(dates), np.nan, numbers)
    return known


def date_ticks(low: float, high: float) -> tuple[AnyArray, list[str]]:
    """Return ticks between two dates, in milliseconds, and their labels: the shortest ISO dates that differ."""
    ticks = round_dates(low, high)
    ticks = ticks[(ticks >= low) & (ticks <= high)]
    if len(ticks) < MIN_NAMED:
        ticks = np.array([low, high])
    return ticks, iso_names(ticks.astype("datetime64[ms]"))


def round_dates(low: float, high: float) -> AnyArray:
    import matplotlib.dates  # noqa: PLC0415 - slow to import

    calendar: Any = matplotlib.dates  # it has few type annotations
    ends: Any = np.array([low, high]).astype("datetime64[ms]")
    years = ends.astype("datetime64[Y]").astype(int) + 1970
    if years[0] < YEARS_OF_MATPLOTLIB[0] or years[1] > YEARS_OF_MATPLOTLIB[1]:
        return np.empty(0)
    locator = calendar.AutoDateLocator(minticks=MIN_TICKS, maxticks=MAX_TICKS)
    days = locator.tick_values(*(end.astype("datetime64[us]").item() for end in ends))
    ticks: AnyArray = np.round((np.asarray(days) - calendar.date2num(np.datetime64(0, "ms"))) * DAY)
    return ticks


def iso_names(dates: Any) -> list[str]:
    """Return dates in the shortest form of ISO 8601 that is exact for all: year, month, day, or time."""
    exact = (unit for unit in ISO_UNITS if (dates.astype(f"datetime64[{unit}]") == dates).all())
    names: Any = np.datetime_as_string(dates, unit=next(exact, "ms"))  # type: ignore[call-overload]
    return [str(name).replace("T", " ") for name in names]
