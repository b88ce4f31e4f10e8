"""Describe regions by the categories, numbers and dates of their rows."""

from typing import Any

import numpy as np

from pixelsne.arrays import AnyArray
from pixelsne.coloring import as_numbers, encode, has_few
from pixelsne.dates import as_dates

DOMINANT = 0.5  # share of a region's rows from which on one category names it
TOGETHER = 0.7  # share that two categories need
BESIDE = 0.2  # share of the second one
MIN_LIFT = 1.2  # a category must be so much more frequent than on the whole map
ALMOST_ALL = 0.95  # share that needs no lift
MAX_CATEGORIES = 5_000
NOTABLE = 0.8  # distance of a region's median from the map's, in units of the map's spread
SPREAD = (0.16, 0.84)  # quantiles, a standard deviation from the median of a normal distribution


def category_codes(values: Any) -> tuple[list[str], AnyArray] | None:
    """Return the categories of a column and their codes; None if the values are numbers, dates or texts."""
    if as_dates(values) is not None:
        return None
    numbers = as_numbers(values)
    if numbers is not None and not has_few(numbers):
        return None
    names, codes = encode(values)
    return (names, codes) if 1 < len(names) <= min(MAX_CATEGORIES, max(len(codes) // 4, 12)) else None


def share_of_rows(codes: AnyArray, number: int, regions: AnyArray, regions_number: int) -> AnyArray:
    """Return (regions, categories) shares of the known rows of each region."""
    known = (codes >= 0) & (regions >= 0)
    keys = regions[known].astype(np.int64) * number + codes[known]
    counts = np.bincount(keys, minlength=regions_number * number).reshape(regions_number, number)
    return np.asarray(counts / np.maximum(counts.sum(axis=1, keepdims=True), 1))


def dominant_categories(names: list[str], codes: AnyArray, regions: AnyArray, number: int) -> list[tuple[str, ...]]:
    """Return the one or two categories that dominate each region, or none."""
    shares = share_of_rows(codes, len(names), regions, number)
    overall = np.bincount(codes[codes >= 0], minlength=len(names)) / max(int((codes >= 0).sum()), 1)
    chosen: list[tuple[str, ...]] = []
    for share in shares:
        first, second = np.argsort(-share, kind="stable")[:2].tolist()
        are_frequent = (
            min(share[each] / overall[each] if overall[each] else 0.0 for each in (first, second)) >= MIN_LIFT
        )
        if share[first] < TOGETHER <= share[first] + share[second] and share[second] >= BESIDE and are_frequent:
            chosen.append((names[first], names[second]))
        elif share[first] >= max(DOMINANT, min(MIN_LIFT * overall[first], ALMOST_ALL)):
            chosen.append((names[first],))
        else:
            chosen.append(())
    return chosen


def notable_values(table: Any, columns: list[str], regions: AnyArray, number: int) -> list[tuple[str, ...]]:
    """Return for each region the medians of the numbers and dates in which it differs most from the map."""
    found: list[list[tuple[float, str]]] = [[] for _ in range(number)]
    order = np.argsort(regions, kind="stable")
    ends = np.searchsorted(regions[order], np.arange(number + 1))
    for name in columns:
        column = table.column(name)
        dates = as_dates(column)
        values = dates if dates is not None else as_numbers(column)
        if values is None or not np.isfinite(values).any():
            continue
        middle = float(np.nanmedian(values))
        low, high = np.nanquantile(values, SPREAD)
        for region in range(number):
            inside = values[order[ends[region] : ends[region + 1]]]
            inside = inside[np.isfinite(inside)]
            if inside.size and high > low:
                median = float(np.median(inside))
                text = date_text(median) if dates is not None else number_text(median)
                found[region].append((2 * abs(median - middle) / float(high - low), f"{name} {text}"))
    return [tuple(text for far, text in sorted(of, key=lambda item: -item[0])[:2] if far >= NOTABLE) for of in found]


def number_text(value: float) -> str:
    """Return a number with three digits."""
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"  # noqa: PLR2004 - three digits


def date_text(milliseconds: float) -> str:
    """Return the month of a date."""
    return str(np.datetime64(round(milliseconds), "ms").astype("datetime64[M]"))
