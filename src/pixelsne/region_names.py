"""Name regions by what their rows have: words of texts, dominant categories, notable values, or names of the user."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from pixelsne.arrays import AnyArray
from pixelsne.coloring import encode, without_controls
from pixelsne.region_terms import SEPARATOR, RankedTerms, name_by_terms
from pixelsne.region_texts import Progress, beginnings, count_terms
from pixelsne.region_values import category_codes, dominant_categories, notable_values
from pixelsne.regions import Regions, with_names

MAX_TEXTS = 200_000  # rows up to which names="auto" reads texts
MAX_VALUES = 2_000_000  # numbers and codes that names="auto" reads
SAMPLE = 2_000  # rows by which a column is judged
LONGEST_SAMPLE = 1_000  # characters of each that are read
TEXT_LENGTH = 12  # characters: shorter strings are categories or identifiers
LONGEST_NAME = 80  # characters
MAX_MORE = 3  # terms that are added to tell equal names apart


def name_regions(regions: Regions, table: Any = None, names: Any = "auto", progress: Progress | None = None) -> Regions:
    """Return the regions with names.

    table: a pyarrow table with a row for each point, or None. names: "auto" (a text column if there is one and at most
    200,000 rows, else categories, numbers and dates), the name of a column, "none", a dict with the names of regions by
    index or by (level, index in the level), or an array with a label for each row, of which the most frequent one names
    a region. progress is called with the finished fraction.
    """
    if isinstance(names, Mapping):
        given = given_names(regions, names)
        return with_names(regions, tell_apart(regions, [ranked((name,) if name else ()) for name in given]))
    if not regions.regions or (isinstance(names, str) and names == "none"):
        return with_names(regions, [""] * len(regions.regions))
    if not isinstance(names, str):
        return with_names(regions, tell_apart(regions, names_by_label(regions, names)))
    if names == "auto":
        return with_names(regions, tell_apart(regions, automatic_names(regions, table, progress)))
    column = column_of(table, names)
    if is_text(column):
        return with_names(regions, tell_apart(regions, names_by_text(regions, column, progress)))
    return with_names(regions, tell_apart(regions, names_by_values(regions, table, [names])))


def column_of(table: Any, name: str) -> Any:
    """Return a column; raise ValueError if there is none of this name."""
    known = [] if table is None else table.column_names
    if known.count(name) != 1:
        listed = ", ".join(known[:20]) or "none"
        raise ValueError(f"names must be auto, none, or the name of one column, got {name!r}; the columns are {listed}")
    return table.column(name)


def given_names(regions: Regions, names: Mapping[Any, Any]) -> list[str]:
    """Return names by index, or by (level, index in the level)."""
    first: dict[int, int] = {}
    for index, region in enumerate(regions.regions):
        first.setdefault(region.level, index)
    result = [region.name for region in regions.regions]
    for key, name in names.items():
        is_pair = isinstance(key, tuple) and len(key) == 2  # noqa: PLR2004 - level and index
        index = first.get(key[0], -1) + key[1] if is_pair else key
        fits = isinstance(index, (int, np.integer)) and 0 <= index < len(result)
        if not fits or (is_pair and (key[1] < 0 or key[0] not in first or regions.regions[index].level != key[0])):
            raise ValueError(f"names has the key {key!r:.40}, but there is no such region among {len(result)}")
        result[int(index)] = "" if name is None else str(name)
    return result


def names_by_label(regions: Regions, labels: Any) -> list[RankedTerms]:
    """Return the most frequent label of each region. labels: an own label for each row, None for no label."""
    n = len(regions.indices[0])
    values = labels if hasattr(labels, "combine_chunks") else np.asarray(labels)
    if len(values) != n or getattr(values, "ndim", 1) != 1:
        raise ValueError(f"names must be one label for each of the {n:,} rows, got {len(values):,}")
    known, codes = encode(values)
    terms: list[RankedTerms] = []
    for indices, number, first in levels_of(regions):
        inside = (indices >= 0) & (codes >= 0)
        keys = (indices[inside] - first).astype(np.int64) * max(len(known), 1) + codes[inside]
        used, counts = np.unique(keys, return_counts=True)
        best: dict[int, str] = {}
        for key in used[np.argsort(counts, kind="stable")].tolist():
            best[key // len(known)] = known[key % len(known)]
        terms += [ranked((best[region],) if region in best else ()) for region in range(number)]
    return terms


def levels_of(regions: Regions) -> list[tuple[AnyArray, int, int]]:
    """Return for each level the regions of the points, the number of regions, and the index of the first one."""
    levels = np.array([region.level for region in regions.regions])
    numbers = [int((levels == level + 1).sum()) for level in range(len(regions.indices))]
    firsts = np.cumsum([0, *numbers[:-1]]).tolist()
    return list(zip(regions.indices, numbers, firsts, strict=True))


def ranked(terms: tuple[str, ...]) -> RankedTerms:
    return RankedTerms(terms, len(terms))


def automatic_names(regions: Regions, table: Any, progress: Progress | None) -> list[RankedTerms]:
    """Return names from the text column if there is one, else from categories, or else from numbers and dates."""
    none = [ranked(())] * len(regions.regions)
    if table is None or not table.num_columns:
        return none
    texts = [name for name in table.column_names if table.column_names.count(name) == 1 and is_text(table.column(name))]
    if texts and len(table) <= MAX_TEXTS:
        longest = max(texts, key=lambda name: mean_length(table.column(name)))
        return names_by_text(regions, table.column(longest), progress)
    if len(table) * table.num_columns > MAX_VALUES:
        return none
    others = [name for name in table.column_names if name not in texts and table.column_names.count(name) == 1]
    return names_by_values(regions, table, others)


def sample_of(column: Any) -> list[str]:
    """Return some strings of a column, empty if it has others than strings."""
    import pyarrow as pa  # noqa: PLC0415 - slow to import

    kind = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
    if not (pa.types.is_string(kind) or pa.types.is_large_string(kind)):
        return []
    rows = np.arange(len(column))[:: max(len(column) // SAMPLE, 1)]
    return [text for text in beginnings(column, LONGEST_SAMPLE).take(rows).to_pylist() if text]


def is_text(column: Any) -> bool:
    """Return whether a column holds texts: strings of several words, most of them different."""
    strings = sample_of(column)
    if not strings or mean_length(column) < TEXT_LENGTH:
        return bool(strings) and is_unspaced(strings) and len(set(strings)) > len(strings) / 2
    spaced = np.mean([" " in text.strip() or is_unspaced([text]) for text in strings])
    return bool(spaced > 0.5 and len(set(strings)) > len(strings) / 10)  # noqa: PLR2004


def is_unspaced(strings: list[str]) -> bool:
    """Return whether most strings are longer ones of a script without spaces."""
    from pixelsne.region_texts import UNSPACED_RUN  # noqa: PLC0415 - used here only

    return bool(np.mean([len(UNSPACED_RUN.findall(text[:20])) > 5 for text in strings]) > 0.5)  # noqa: PLR2004


def mean_length(column: Any) -> float:
    strings = sample_of(column)
    return float(np.mean([len(text) for text in strings])) if strings else 0.0


def names_by_text(regions: Regions, column: Any, progress: Progress | None) -> list[RankedTerms]:
    """Return the distinctive terms of each region."""
    levels = levels_of(regions)
    indices, number, first = levels[-1]
    terms = count_terms(column, np.where(indices >= 0, indices - first, -1), number, progress)
    above = [0, *(first for _, _, first in levels[:-1])]
    parents = [
        np.array([max(region.parent - above[depth], 0) for region in regions.level(depth + 1)], dtype=np.int64)
        for depth in range(len(levels))
    ]
    return [name for level in name_by_terms(terms, parents) for name in level]


def names_by_values(regions: Regions, table: Any, columns: list[str]) -> list[RankedTerms]:
    """Return the dominant categories of the column that says most, or else notable numbers and dates."""
    categories = {name: codes for name in columns if (codes := category_codes(table.column(name))) is not None}
    numbers = [name for name in columns if name not in categories]
    names: list[RankedTerms] = []
    for indices, number, first in levels_of(regions):
        inside = np.where(indices >= 0, indices - first, -1)
        options = [dominant_categories(*coded, inside, number) for coded in categories.values()]
        best = max(options, key=lambda option: sum(map(bool, option)), default=[()] * number)
        if not all(best) and numbers:
            notable = notable_values(table, numbers, inside, number)
            best = [chosen or other for chosen, other in zip(best, notable, strict=True)]
        names += [ranked(terms) for terms in best]
    return names


def tell_apart(regions: Regions, terms: list[RankedTerms]) -> list[str]:
    """Return the names. Equal ones within a level get further terms, if they have any."""
    taken: set[tuple[int, str]] = set()
    names = []
    for region, found in zip(regions.regions, terms, strict=True):
        name = shorten(SEPARATOR.join(found.terms[: found.enough]))
        for more in range(1, MAX_MORE + 1):
            if name and (region.level, name) in taken and found.enough + more <= len(found.terms):
                name = shorten(SEPARATOR.join((*found.terms[: found.enough - 1], found.terms[found.enough + more - 1])))
        taken.add((region.level, name))
        names.append(name)
    return names


def shorten(name: str) -> str:
    """Return a name of one line and limited length."""
    line = " ".join(without_controls(name).encode(errors="replace").decode().split())
    return line if len(line) <= LONGEST_NAME else line[: LONGEST_NAME - 1].rstrip() + "…"
