"""How a map travels to the page: the same bytes from a live server and from an exported file.

A manifest says what there is; every array is a part of its own, little-endian, in the order of the rows.

    positions   (n, 2) uint16: place * 65536 / resolution, so that zooming finds detail between pixels
    category    (n) uint8, uint16 or uint32: which of the manifest's names; the last code stands for no value
    number      (n) float32, or float64 where that is needed to hold them exactly; NaN for no value
    date        (n) float64: milliseconds since 1970; NaN for no value
    text        (n + 1) uint32, where each row's UTF-8 begins, then all of it
    unavailable nothing; the manifest says why
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from pixelsne.arrays import AnyArray, Placed, Positions
from pixelsne.coloring import as_numbers, encode, has_few, is_missing
from pixelsne.dates import as_dates
from pixelsne.files.maps import Map
from pixelsne.files.source import ROW_NUMBERS
from pixelsne.screen import Screen

STEPS = 65_536  # of a coordinate

# Words of which there are more than this, and more than a tenth as many as rows, are texts and not categories.
MOST_CATEGORIES = 5_000
SHARE_OF_ROWS = 0.1
LONGEST_NAME = 200  # characters of a category

# So are words of which more than half are different, unless they are few and short, like names of classes.
SHARE_OF_DIFFERENT = 0.5
FEW_NAMES = 12
SHORT_NAME = 20  # characters

COLORED_KINDS = ("category", "number", "date")


@dataclass(frozen=True)
class Column:
    name: str
    kind: str  # "category", "number", "date", "text" or "unavailable"
    content: bytes
    names: tuple[str, ...] = ()  # of categories
    wide: bool = False  # numbers in 64 bits
    reason: str = ""  # why the page cannot show it

    def described(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "kind": self.kind,
            "names": list(self.names),
            "wide": self.wide,
            "reason": self.reason,
        }


@dataclass(frozen=True)
class Page:
    """All that a page shows of one map."""

    title: str
    resolution: tuple[int, int]
    n: int
    columns: tuple[Column, ...] = ()
    positions: bytes = b""  # none yet while a run prepares
    color: str | None = None  # the column that colors the map at first
    dark: bool | None = None  # None: as the reader's system likes it

    def manifest(self) -> dict[str, Any]:
        return {
            "title": self.title,
            "resolution": list(self.resolution),
            "n": self.n,
            "columns": [column.described() for column in self.columns],
            "color": self.color,
            "dark": self.dark,
        }

    def parts(self) -> dict[str, bytes]:
        """By name: "positions", "column0", "column1", ..."""
        return {"positions": self.positions} | {
            f"column{place}": column.content for place, column in enumerate(self.columns)
        }


def as_steps(placed: Placed, resolution: tuple[int, int]) -> bytes:
    scaled = placed * (np.float32(STEPS) / np.array(resolution, dtype=np.float32))
    return np.minimum(scaled, STEPS - 1).astype("<u2").tobytes()


def frame_of(positions: Positions, screen: Screen) -> bytes:
    """The same of a map on its way."""
    scale = STEPS / (np.array(screen.unit_per_pixel) * screen.resolution)
    origin = np.array(screen.origin)
    steps = positions * scale.astype(np.float32) - (origin * scale).astype(np.float32)
    return np.clip(steps, 0, STEPS - 1).astype("<u2").tobytes()


def column_of(name: str, values: Any, *, is_label: bool = False) -> Column:
    """Return a column for the page. values: an array, or a column of a pyarrow table.

    A label names classes, even if it looks like numbers, unless nearly all of them differ; dates remain dates.
    """
    tried = (make(name, values) for make in (LABEL_KINDS if is_label else KINDS))
    return next(column for column in tried if column is not None)


def as_unavailable(name: str, values: Any) -> Column | None:
    """Lists, images and bytes, and columns without any value."""
    reason = why_not_shown(values)
    return None if reason is None else Column(name, "unavailable", b"", reason=reason)


def as_date(name: str, values: Any) -> Column | None:
    dates = as_dates(values)
    return None if dates is None else Column(name, "date", dates.astype("<f8").tobytes(), wide=True)


def as_number(name: str, values: Any) -> Column | None:
    numbers = as_numbers(values)
    if numbers is None or has_few(numbers):
        return None
    narrow = numbers.astype("<f4")
    wide = not np.array_equal(narrow.astype(np.float64), numbers, equal_nan=True)
    return Column(name, "number", numbers.astype("<f8").tobytes() if wide else narrow.tobytes(), wide=wide)


def as_category(name: str, values: Any) -> Column | None:
    names, codes = encode(values)
    if len(names) > max(MOST_CATEGORIES, SHARE_OF_ROWS * len(codes)) or is_prose(names):
        return None
    if is_nearly_all_different(names, int((codes >= 0).sum())):
        return None
    return Column(name, "category", code_bytes(codes, len(names)), tuple(names))


def as_text(name: str, values: Any) -> Column:
    names, codes = encode(values)
    return Column(name, "text", text_bytes([names[code] if code >= 0 else "" for code in codes]))


# The first that fits. What the page does with each stands in static/column_kinds.js.
KINDS: tuple[Callable[[str, Any], Column | None], ...] = (as_unavailable, as_date, as_number, as_category, as_text)
LABEL_KINDS = (as_unavailable, as_date, as_category, as_number, as_text)


def is_prose(names: list[str]) -> bool:
    """Words too long for a legend."""
    return median_length(names) > LONGEST_NAME


def is_nearly_all_different(names: list[str], known: int) -> bool:
    """Titles, identifiers, addresses: a color for each would say nothing. known: rows that have a value."""
    if len(names) <= FEW_NAMES and median_length(names) <= SHORT_NAME:
        return False
    return len(names) > max(1, SHARE_OF_DIFFERENT * known)


def median_length(names: list[str]) -> float:
    return float(np.median([len(name) for name in names])) if names else 0.0


def code_bytes(codes: AnyArray, number: int) -> bytes:
    kind = "<u1" if number < 2**8 else "<u2" if number < 2**16 else "<u4"
    return np.where(codes < 0, number, codes).astype(kind).tobytes()


def text_bytes(rows: list[str]) -> bytes:
    encoded = [row.encode("utf-8", "replace") for row in rows]
    begins = np.zeros(len(rows) + 1, dtype=np.uint64)
    np.cumsum([len(row) for row in encoded], out=begins[1:])
    if begins[-1] >= 2**32:
        raise ValueError("texts of more than 4 GB cannot be shown; leave that column out")
    return begins.astype("<u4").tobytes() + b"".join(encoded)


def page_of(one: Map, title: str, color: str | None = None, *, dark: bool = False) -> Page:
    """Of a map that is finished."""
    label = one.metadata.get("label")
    columns = columns_of(one.extra_columns, {label, label.removeprefix("input_")} if label else set())
    chosen = chosen_color(columns, color, label)
    return Page(
        title=title,
        resolution=one.resolution,
        n=len(one.placed),
        columns=columns,
        positions=as_steps(one.placed, one.resolution),
        color=chosen,
        dark=dark or None,
    )


def chosen_color(columns: tuple[Column, ...], wanted: str | None, label: str | None = None) -> str | None:
    """What the user wants, which must be there; else the label, or the first column that may mean something."""
    names = [column.name for column in columns if column.kind in COLORED_KINDS]
    if wanted is not None and wanted not in names:
        raise ValueError(f"{wanted!r} is not a column to color by; there are {', '.join(names) or 'none'}")
    if wanted or label in names:
        return wanted or label
    return next((name for name in names if name not in ROW_NUMBERS), None)


def columns_of(extra_columns: Any, labels: set[str] | None = None) -> tuple[Column, ...]:
    """Return the columns of a pyarrow table for the page; none for None."""
    if extra_columns is None:
        return ()
    pairs = zip(extra_columns.column_names, extra_columns.columns, strict=True)
    return tuple(column_of(name, column, is_label=name in (labels or ())) for name, column in pairs)


def why_not_shown(values: Any) -> str | None:
    """Name what a column holds if the page has no way to show it; None if it has."""
    if isinstance(values, np.ndarray):
        return "no values" if bool(is_missing(values).all()) else None
    if values.null_count == len(values) or has_only_nan(values):
        return "no values"
    import pyarrow as pa  # noqa: PLC0415 - slow to import

    kind, types = values.type, pa.types
    known = {
        "lists": types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind),
        "images": is_image(kind),
        "bytes": types.is_binary(kind) or types.is_large_binary(kind) or types.is_fixed_size_binary(kind),
        f"values of type {kind!s:.40}": types.is_nested(kind) or isinstance(kind, pa.BaseExtensionType),
    }
    return next((reason for reason, holds in known.items() if holds), None)


def has_only_nan(column: Any) -> bool:
    numbers = as_numbers(column)
    return numbers is not None and bool(np.isnan(numbers).all())


def is_image(kind: Any) -> bool:
    """The way Hugging Face's data sets keep images: bytes and a path."""
    import pyarrow as pa  # noqa: PLC0415 - slow to import

    return pa.types.is_struct(kind) and {field.name for field in kind} == {"bytes", "path"}
