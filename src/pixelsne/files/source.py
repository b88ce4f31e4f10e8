"""Values that the readers exchange: the options of a read, and the source it returns."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pyarrow as pa

# Names of columns in a csv file without a header.
NUMBERED = "column {}"

# Columns of row numbers that pandas writes. In a csv file, that column has an empty name.
ROW_NUMBERS = ("", "__index_level_0__")

# Takes rows, columns and the bytes still to be allocated for them; raises MemoryError if they exceed the memory.
CheckMemory = Callable[[int, int, int], None]


@dataclass(frozen=True)
class Source:
    """The values of a file that are to be embedded, and its other columns."""

    path: Path
    values: Any  # (n, d): an array, a memory map or a scipy sparse matrix
    columns: tuple[str, ...]  # names of the embedded columns, if there are any; a vector column is one name
    extra_columns: "pa.Table | None" = None  # n rows, all columns that are not embedded
    identifiers: tuple[str, ...] = ()  # integer columns that are not embedded because they identify rows

    def __len__(self) -> int:
        return int(self.values.shape[0])

    def column(self, name: str | None) -> Any:
        """Return the column of a name that is not embedded; None without a name or without a table."""
        return None if name is None or self.extra_columns is None else self.extra_columns.column(name)


@dataclass(frozen=True)
class ReadOptions:
    """What to read from a file, as chosen by the user."""

    columns: tuple[str, ...] | None = None  # None: all vector columns, or else numeric columns except identifiers
    label: str | None = None  # never embedded
    weight: str | None = None  # column of the rows' weights; never embedded
    header: bool | None = None  # whether a csv file has a header; None: detect
    representation: str | None = None  # key in the obsm of an h5ad file; None: X
    matrix: str = "X"  # name in an npz file; without such an array, its only matrix is read

    def kept(self) -> dict[str, str]:
        """Return the columns that the user named and that are not embedded, with what each of them is."""
        named = {"label": self.label, "weight": self.weight}
        return {name: role for role, name in named.items() if name is not None}
