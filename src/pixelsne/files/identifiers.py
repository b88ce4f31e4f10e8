"""Find integer columns that identify rows: row numbers and keys, which are embedded only if the user names them."""

import re
from collections.abc import Iterable
from typing import Any

import numpy as np
import pyarrow as pa

from pixelsne.arrays import AnyArray

IDENTIFYING_WORDS = {"id", "index", "row"}
MIN_CONSECUTIVE = 10  # fewer numbers may be consecutive by chance
ROWS_CHECKED_FIRST = 100  # most columns repeat a value within the first rows


def words_of(name: str) -> set[str]:
    """Return the words of a column's name in lower case: row and id for `row_id`, `RowId` and `Row ID`."""
    return {word.lower() for word in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+", name)}


def all_different(values: AnyArray) -> bool:
    ordered = np.sort(values)
    return bool((ordered[1:] != ordered[:-1]).all())


def may_identify(column: Any) -> bool:
    """Return whether a batch of a column holds integers that are all different."""
    if not pa.types.is_integer(column.type) or column.null_count:
        return False
    values = column.to_numpy(zero_copy_only=False)
    return all_different(values[:ROWS_CHECKED_FIRST]) and all_different(values)


def is_identifier(name: str, values: AnyArray) -> bool:
    """Return whether all values are different, and the name marks an identifier or the values are consecutive."""
    if not all_different(values):
        return False
    is_named = not IDENTIFYING_WORDS.isdisjoint(words_of(name))
    is_long = len(values) >= MIN_CONSECUTIVE
    return is_named or (is_long and int(values.max()) - int(values.min()) == len(values) - 1)


class IdentifierScan:
    """Finds the identifiers among the columns of a table that is read batch by batch."""

    def __init__(self, names: Iterable[str]) -> None:
        self._values: dict[str, list[AnyArray]] = {name: [] for name in names}

    def candidates(self) -> list[str]:
        """Return the columns whose values were all different so far in each batch."""
        return list(self._values)

    def add(self, columns: dict[str, Any]) -> None:
        for name in self.candidates():
            if may_identify(columns[name]):
                self._values[name].append(columns[name].to_numpy(zero_copy_only=False))
            else:
                del self._values[name]

    def found(self) -> list[str]:
        """Return the identifiers, once all batches are added."""
        return [name for name, parts in self._values.items() if is_identifier(name, np.concatenate(parts))]
