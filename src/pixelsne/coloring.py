"""Choose a color for each point, and describe the colors in a legend."""

import re
import unicodedata
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from pixelsne.arrays import AnyArray
from pixelsne.dates import DAY, as_dates
from pixelsne.palettes import colormap_of, palette_colors, palette_size

Colors = NDArray[np.float64]  # (n, 3), 0 to 1
ColorAs = Literal["auto", "label", "categories", "numbers"]  # label: categories, unless the column holds dates

# With normal sight and in three simulated kinds of color blindness, any two of the first ten colors differ by 22 in
# CIELAB, and any two of all by 13 (tests/test_plot.py measures it). All are visible on white and on black.
PALETTE = (
    "#3764de", "#bc640b", "#379b6f", "#bc2137", "#a659b1", "#e9b12c", "#90bcff", "#9bbc64", "#d3b1c8", "#6f596f",
    "#f47a43", "#2c5985", "#59e9b1", "#e97ad3", "#854e00", "#6443a6", "#4e6f43", "#ff597a", "#b185ff", "#7a859b",
)  # fmt: skip
MAX_CATEGORIES = len(PALETTE)
GRAY = "#9e9e9e"  # for categories without a color of their own, and for missing values
SCALE = "viridis"

MAX_SORTED = 100_000  # names; sorting them takes a second
LONGEST_COMPARED = 200  # characters of a name that sorting compares

# Numbers with at most this many different values are categories.
FEW_NUMBERS = 12

# Numbers beyond these quantiles get the color at the end of the scale: an outlier must not make all others look alike.
COLORED_RANGE = (0.01, 0.99)


@dataclass(frozen=True)
class Bar:
    """The color scale of numbers or dates."""

    low: float
    high: float
    scale: Any  # a colormap of Matplotlib
    logarithmic: bool = False
    cut: tuple[bool, bool] = (False, False)  # whether there are numbers below `low`, and above `high`
    dates: bool = False  # whether numbers are milliseconds since 1970


@dataclass(frozen=True)
class Coloring:
    """A color for each point, and what the colors mean."""

    colors: Colors
    legend: tuple[tuple[str, Any], ...] = ()  # names of categories and their colors
    bar: Bar | None = None
    name: str = ""
    codes: NDArray[np.intp] | None = None  # (n), index in `legend` of each point's category, -1 for those without color


def without_controls(text: str) -> str:
    """Return the text with spaces in place of control characters, which neither fonts nor SVG files have."""
    return "".join(" " if unicodedata.category(character) == "Cc" else character for character in text)


def rgb(color: str) -> AnyArray:
    return np.array([int(color[index : index + 2], 16) for index in (1, 3, 5)]) / 255


def as_hex(color: Any) -> str:
    """Return a color (3), 0 to 1, as "#rrggbb"."""
    return "#" + "".join(f"{round(255 * float(part)):02x}" for part in color[:3])


def category_colors(number: int) -> Colors:
    """Return (number, 3) colors, for at most MAX_CATEGORIES."""
    return np.array([rgb(color) for color in PALETTE[:number]]).reshape(-1, 3)


def in_reading_order(name: str) -> list[Any]:
    """Return a sort key that compares numbers within words as numbers: 2 comes before 10."""
    parts = re.split(r"(\d+)", name[:LONGEST_COMPARED])
    return [(int(part), "") if index % 2 else (-1, part.casefold()) for index, part in enumerate(parts)]


def encode(values: Any) -> tuple[list[str], NDArray[np.intp]]:
    """Return the distinct names, sorted unless there are too many, and for each point the index of its name, or -1."""
    if isinstance(values, np.ndarray):
        names, codes = encode_array(values)
    else:
        names, codes = encode_column(values)
    if len(names) > MAX_SORTED:
        return names, codes.astype(np.intp)
    order = sorted(range(len(names)), key=lambda index: (in_reading_order(names[index]), names[index]))
    new_codes = np.empty(len(names) + 1, dtype=np.intp)
    new_codes[order] = np.arange(len(names))
    new_codes[-1] = -1
    return [names[index] for index in order], new_codes[codes]


def is_missing(values: AnyArray) -> NDArray[np.bool_]:
    """Return (n) whether each value is None, NaN or NaT."""
    if values.dtype.kind == "O":
        return np.array([value is None or value != value for value in values], dtype=bool)  # noqa: PLR0124 - NaN
    if values.dtype.kind in "mM":
        return np.isnat(values)
    return np.isnan(values) if values.dtype.kind == "f" else np.zeros(len(values), dtype=bool)


def encode_array(values: AnyArray) -> tuple[list[str], AnyArray]:
    missing = is_missing(values)
    known = values[~missing]
    names, indices = np.unique(known.astype(str) if values.dtype.kind == "O" else known, return_inverse=True)
    codes = np.full(len(values), -1)
    codes[~missing] = indices
    return [str(name) for name in names], codes


def encode_column(column: Any) -> tuple[list[str], AnyArray]:
    """Encode an Arrow column, which is faster in Arrow than in NumPy."""
    import pyarrow as pa  # noqa: PLC0415 - slow to import
    import pyarrow.compute as pc  # noqa: PLC0415

    column = plain_column(column)
    if pa.types.is_null(column.type):
        return [], np.full(len(column), -1)
    if pa.types.is_floating(column.type):
        column = pc.if_else(pc.is_nan(column), None, column)
    encoded = column.combine_chunks().dictionary_encode()
    codes = encoded.indices.fill_null(len(encoded.dictionary)).to_numpy(zero_copy_only=False)
    names = [str(name) for name in as_strings(encoded.dictionary)]
    return names, np.where(codes == len(names), -1, codes)


def plain_column(column: Any) -> Any:
    """Return the column without dictionaries; lists and extension types as strings."""
    import pyarrow as pa  # noqa: PLC0415 - slow to import

    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if pa.types.is_nested(column.type) or isinstance(column.type, pa.BaseExtensionType):
        column = pa.chunked_array([pa.array(as_strings(column), pa.string())])
    return column


def as_strings(column: Any) -> list[str | None]:
    """Return the values as strings. Dates that Python cannot represent are written by NumPy."""
    try:
        return [None if value is None else str(value) for value in column.to_pylist()]
    except Exception:  # noqa: BLE001 - years after 9999, unknown time zones: every library has its own error
        return [as_string(value) for value in column]


def as_string(value: Any) -> str | None:
    import pyarrow as pa  # noqa: PLC0415 - slow to import

    if not value.is_valid:
        return None
    with suppress(Exception):
        return str(value.as_py())
    with suppress(Exception):
        return str(pa.array([value], value.type).to_numpy(zero_copy_only=False)[0])
    return "out of range"


def plain_array(column: Any) -> AnyArray:
    """Return a column as a NumPy array; values of types that NumPy does not have become strings."""
    plain = plain_column(column)
    try:
        array: AnyArray = plain.to_numpy()
    except Exception:  # noqa: BLE001 - as above
        array = np.array(as_strings(plain), dtype=object)
    return array


def color_categories(values: Any, name: str = "", palette: Any = None) -> Coloring:
    """Give colors to the most frequent categories, in sorted order, and gray to all others."""
    names, codes = encode(values)
    sizes = np.bincount(codes[codes >= 0], minlength=len(names))
    shown = np.arange(len(names))
    most = palette_size(palette, MAX_CATEGORIES)
    if len(names) > most:
        shown = np.sort(np.argsort(-sizes, kind="stable")[: most - 1 if palette is None else most])
    of_names = np.tile(rgb(GRAY), (len(names) + 1, 1))  # the last row is for missing values
    if palette is None:
        of_names[shown] = category_colors(len(shown))
    else:
        of_names[shown] = palette_colors(palette, [names[index] for index in shown], GRAY)
    legend = [(names[index], of_names[index]) for index in shown]
    in_legend = np.full(len(names) + 1, -1, dtype=np.intp)
    in_legend[shown] = np.arange(len(shown))
    if len(shown) < len(names):
        legend.append((f"{len(names) - len(shown):,} others", rgb(GRAY)))
    if (codes < 0).any():
        legend.append(("no value", rgb(GRAY)))
    return Coloring(of_names[codes], tuple(legend), name=name, codes=in_legend[codes])


def color_dates(dates: AnyArray, name: str = "", scale: Any = None) -> Coloring:
    """Color points by time. dates: milliseconds since 1970."""
    coloring = color_numbers(dates, name, DAY, scale)
    return replace(coloring, bar=None if coloring.bar is None else replace(coloring.bar, dates=True))


def color_numbers(numbers: AnyArray, name: str = "", least_span: float = 1.0, scale: Any = None) -> Coloring:
    """Color points by a scale. It spans `least_span` if all numbers are equal."""
    colormap = colormap_of(SCALE if scale is None else scale)
    known = np.isfinite(numbers)
    low, high = np.quantile(numbers[known], COLORED_RANGE) if known.any() else (0.0, 1.0)
    if low == high and known.any():
        low, high = numbers[known].min(), numbers[known].max()
    span = high - low if high > low else least_span
    fractions = np.clip((np.where(known, numbers, low) - low) / span, 0, 1)
    colors: Colors = np.where(known[:, None], colormap(fractions)[:, :3], rgb(GRAY))
    cut = (bool((numbers[known] < low).any()), bool((numbers[known] > high).any()))
    legend = () if known.all() else (("no value", rgb(GRAY)),)
    return Coloring(colors, legend, Bar(float(low), float(low + span), colormap, cut=cut), name)


def as_numbers(values: Any) -> AnyArray | None:
    """Return float64 with NaN for missing values; None if the values are not numeric."""
    if isinstance(values, np.ndarray):
        return values.astype(np.float64) if values.dtype.kind in "biuf" else None
    import pyarrow as pa  # noqa: PLC0415 - slow to import

    kind = values.type
    if not (pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind)):
        return None
    numbers: AnyArray = values.cast(pa.float64(), safe=False).to_numpy()
    return numbers


def has_few(numbers: AnyArray) -> bool:
    """Return whether the numbers look like class labels: few different integers."""
    whole = numbers[np.isfinite(numbers)]
    return bool((whole == np.floor(whole)).all()) and len(np.unique(whole)) <= FEW_NUMBERS


def check_colors(values: Any, name: str, color_as: ColorAs) -> None:
    """Raise ValueError if a column cannot be colored in this way."""
    if color_as == "numbers" and values is not None and as_numbers(values) is None and as_dates(values) is None:
        raise ValueError(f"column {name!r} holds no numbers; color it as categories")


def choose_coloring(values: Any, name: str = "", color_as: ColorAs = "auto", palette: Any = None) -> Coloring:
    """Color dates and numbers with many different values by a scale, everything else by categories.

    values: an array or a column of a pyarrow table, with one value per point. palette: colors of categories, in a list
    or by name in a dict, or the name of a Matplotlib colormap.
    """
    check_colors(values, name, color_as)
    dates = None if color_as == "categories" else as_dates(values)
    if dates is not None:
        return color_dates(dates, name, palette)
    numbers = as_numbers(values)
    if numbers is not None and (color_as == "numbers" or (color_as == "auto" and not has_few(numbers))):
        return color_numbers(numbers, name, scale=palette)
    return color_categories(values, name, palette)
