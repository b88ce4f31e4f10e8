"""What was read: the numbers to embed, and the columns that travel along."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pyarrow as pa

# What columns without names are called.
NUMBERED = "column {}"

# Numbers of rows, which pandas writes along: a csv has them in a column without a name.
ROW_NUMBERS = ("", "__index_level_0__")

# Called with rows, columns and the bytes these still have to take; raises MemoryError if that is too much.
CheckRoom = Callable[[int, int, int], None]


@dataclass(frozen=True)
class Source:
    path: Path
    values: Any  # (n, d): an array, a memory map or a scipy sparse matrix
    columns: tuple[str, ...]  # where the values come from, if these have names; one may stand for many columns
    extra_columns: "pa.Table | None" = None  # (n) rows, every column that is not embedded
    identifiers: tuple[str, ...] = ()  # columns of integers that are not embedded because they identify rows

    def __len__(self) -> int:
        return int(self.values.shape[0])


@dataclass(frozen=True)
class ReadOptions:
    """What the user chose."""

    columns: tuple[str, ...] | None = None  # None: all that hold numbers
    label: str | None = None  # never embedded
    header: bool | None = None  # of a csv; None: found out
    representation: str | None = None  # of an h5ad: a name in obsm, None = X
    matrix: str = "X"  # of an npz; if it has no such array, the only matrix there is
