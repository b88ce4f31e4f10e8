"""The column types of the page: how values are recognized and encoded.

A new type is a subclass of ColumnType here, listed in COLUMN_TYPES, and an object with the same `kind` in
static/column_types.js, which decodes, formats, colors and searches it.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np

from pixelsne.arrays import AnyArray
from pixelsne.coloring import as_numbers, encode, has_few, is_missing
from pixelsne.dates import as_dates

# Strings are text, not categories, if they have more distinct values than both limits, or if these are long.
MAX_CATEGORIES = 5_000
MAX_CATEGORIES_PER_ROW = 0.1
MAX_NAME_LENGTH = 200  # characters, median of all categories

# They are also text if more than half of them are distinct, unless they are few and short, like names of classes.
MAX_DISTINCT_FRACTION = 0.5
FEW_CATEGORIES = 12
SHORT_NAME_LENGTH = 20  # characters, median


@dataclass(frozen=True)
class Column:
    """A column as it is sent to the page."""

    name: str
    kind: str  # that of its ColumnType
    content: bytes
    categories: tuple[str, ...] = ()  # their names
    is_float64: bool = False  # numbers have 64 bits
    reason: str = ""  # why the page cannot show it

    def metadata(self) -> dict[str, Any]:
        """Return the column's entry in the manifest."""
        return {
            "name": self.name,
            "kind": self.kind,
            "categories": list(self.categories),
            "isFloat64": self.is_float64,
            "reason": self.reason,
        }


class ColumnType(ABC):
    """One type of columns. kind: its name in the manifest. can_color: whether it can color points."""

    kind: str
    can_color: bool

    @abstractmethod
    def encode(self, name: str, values: Any) -> Column | None:
        """Return the encoded column; None if the values are not of this type."""


class Unavailable(ColumnType):
    """Lists, images and bytes, and columns without any value: no content, but a reason in the manifest."""

    kind, can_color = "unavailable", False

    def encode(self, name: str, values: Any) -> Column | None:
        reason = unavailable_reason(values)
        return None if reason is None else Column(name, self.kind, b"", reason=reason)


class Date(ColumnType):
    """(n) float64: milliseconds since 1970; NaN for missing values."""

    kind, can_color = "date", True

    def encode(self, name: str, values: Any) -> Column | None:
        dates = as_dates(values)
        return None if dates is None else Column(name, self.kind, dates.astype("<f8").tobytes(), is_float64=True)


class Number(ColumnType):
    """(n) float32, or float64 if float32 would lose digits; NaN for missing values."""

    kind, can_color = "number", True

    def encode(self, name: str, values: Any) -> Column | None:
        numbers = as_numbers(values)
        if numbers is None or has_few(numbers):
            return None
        narrow = numbers.astype("<f4")
        is_float64 = not np.array_equal(narrow.astype(np.float64), numbers, equal_nan=True)
        content = numbers.astype("<f8").tobytes() if is_float64 else narrow.tobytes()
        return Column(name, self.kind, content, is_float64=is_float64)


class Category(ColumnType):
    """(n) uint8, uint16 or uint32: indices of the manifest's categories; their number for missing values."""

    kind, can_color = "category", True

    def encode(self, name: str, values: Any) -> Column | None:
        names, codes = encode(values)
        if (
            len(names) > max(MAX_CATEGORIES, MAX_CATEGORIES_PER_ROW * len(codes))
            or median_length(names) > MAX_NAME_LENGTH
        ):
            return None
        if are_mostly_distinct(names, int((codes >= 0).sum())):
            return None
        return Column(name, self.kind, code_bytes(codes, len(names)), tuple(names))


class Text(ColumnType):
    """(n + 1) uint32 offsets, then the UTF-8 of all rows; a missing value is an empty string."""

    kind, can_color = "text", False

    def encode(self, name: str, values: Any) -> Column:
        names, codes = encode(values)
        return Column(name, self.kind, text_bytes([names[code] if code >= 0 else "" for code in codes]))


# A column has the first type that accepts it; text accepts everything.
COLUMN_TYPES = (Unavailable(), Date(), Number(), Category(), Text())
LABEL_TYPES = (Unavailable(), Date(), Category(), Number(), Text())
COLORED_KINDS = tuple(one.kind for one in COLUMN_TYPES if one.can_color)


def column_of(name: str, values: Any, *, is_label: bool = False) -> Column:
    """Return a column for the page. values: an array, or a column of a pyarrow table.

    A label holds class names, even if they look like numbers, unless nearly all of them differ; dates remain dates.
    """
    encoded = (one.encode(name, values) for one in (LABEL_TYPES if is_label else COLUMN_TYPES))
    return next(column for column in encoded if column is not None)


def are_mostly_distinct(names: list[str], n_values: int) -> bool:
    """Return whether strings are like titles or identifiers, for which colors carry no information.

    names: the distinct strings. n_values: rows that have a value.
    """
    if len(names) <= FEW_CATEGORIES and median_length(names) <= SHORT_NAME_LENGTH:
        return False
    return len(names) > max(1, MAX_DISTINCT_FRACTION * n_values)


def median_length(names: list[str]) -> float:
    return float(np.median([len(name) for name in names])) if names else 0.0


def code_bytes(codes: AnyArray, n_names: int) -> bytes:
    """Return codes in the narrowest integers that hold them; a negative code becomes n_names."""
    dtype = "<u1" if n_names < 2**8 else "<u2" if n_names < 2**16 else "<u4"
    return np.where(codes < 0, n_names, codes).astype(dtype).tobytes()


def text_bytes(rows: list[str]) -> bytes:
    encoded = [row.encode("utf-8", "replace") for row in rows]
    offsets = np.zeros(len(rows) + 1, dtype=np.uint64)
    np.cumsum([len(row) for row in encoded], out=offsets[1:])
    if offsets[-1] >= 2**32:
        raise ValueError(f"a text column must be below 4 GiB, got {int(offsets[-1]):,} bytes; leave that column out")
    return offsets.astype("<u4").tobytes() + b"".join(encoded)


def unavailable_reason(values: Any) -> str | None:
    """Return what a column holds if the page cannot show it; None if it can."""
    if isinstance(values, np.ndarray):
        return "no values" if bool(is_missing(values).all()) else None
    if values.null_count == len(values) or has_only_nan(values):
        return "no values"
    import pyarrow as pa  # noqa: PLC0415 - slow to import

    type_, types = values.type, pa.types
    reasons = {
        "lists": types.is_list(type_) or types.is_large_list(type_) or types.is_fixed_size_list(type_),
        "images": is_image(type_),
        "bytes": types.is_binary(type_) or types.is_large_binary(type_) or types.is_fixed_size_binary(type_),
        f"values of type {type_!s:.40}": types.is_nested(type_) or isinstance(type_, pa.BaseExtensionType),
    }
    return next((reason for reason, holds in reasons.items() if holds), None)


def has_only_nan(column: Any) -> bool:
    numbers = as_numbers(column)
    return numbers is not None and bool(np.isnan(numbers).all())


def is_image(type_: Any) -> bool:
    """Return whether a type is that of images in Hugging Face's data sets: a struct of bytes and a path."""
    import pyarrow as pa  # noqa: PLC0415 - slow to import

    return pa.types.is_struct(type_) and {field.name for field in type_} == {"bytes", "path"}
