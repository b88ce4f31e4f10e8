"""From the columns of a table to a matrix of numbers, batch by batch."""

from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pixelsne.arrays import AnyArray
from pixelsne.files.errors import FileError, NoColumnError
from pixelsne.files.identifiers import IdentifierScan
from pixelsne.files.source import ROW_NUMBERS, CheckRoom, ReadOptions, Source
from pixelsne.memory import GIGABYTE, available

COLUMNS_NAMED = 20  # in an error


def plain(kind: pa.DataType) -> pa.DataType:
    """Tensors and the like are lists with a word on their shape."""
    return kind.storage_type if isinstance(kind, pa.BaseExtensionType) else kind


def is_number(kind: pa.DataType) -> bool:
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind))


def is_vector(kind: pa.DataType) -> bool:
    """A list of numbers in every row, as tools write embeddings."""
    kind = plain(kind)
    lists = (pa.types.is_fixed_size_list, pa.types.is_list, pa.types.is_large_list)
    return any(is_list(kind) for is_list in lists) and is_number(kind.value_type)


def choose_columns(path: Path, schema: pa.Schema, wanted: ReadOptions) -> list[str]:
    """Which columns are embedded: those that were asked for; or all vectors; or else all numbers."""
    asked = (*(wanted.columns or ()), *((wanted.label,) if wanted.label else ()))
    names = Counter(schema.names)
    for name in asked:
        times = names[name]
        if times != 1:
            problem = "no column" if times == 0 else f"{times} columns"
            raise NoColumnError(path, f"has {problem} {name!r}; it has {listed(schema.names)}")
    if wanted.columns is None:
        return default_columns(path, schema, wanted)
    kinds = dict(zip(schema.names, schema.types, strict=True))
    for name in wanted.columns:
        kind = kinds[name]
        if not (is_number(kind) or is_vector(kind) or pa.types.is_boolean(kind)):
            raise FileError(path, f"column {name!r} holds {kind}, which is no number; choose others with --columns")
        if name == wanted.label:
            raise FileError(path, f"column {name!r} is the label, which is not embedded; leave it out of --columns")
    if not wanted.columns or len(set(wanted.columns)) < len(wanted.columns):
        raise FileError(path, f"--columns must name columns, each once; got {listed(wanted.columns) or 'none'}")
    return list(wanted.columns)


def listed(names: Iterable[str]) -> str:
    names = list(names)
    return ", ".join(names[:COLUMNS_NAMED]) + (", ..." if len(names) > COLUMNS_NAMED else "")


def default_columns(path: Path, schema: pa.Schema, wanted: ReadOptions) -> list[str]:
    free = [field for field in schema if field.name != wanted.label and field.name not in ROW_NUMBERS]
    vectors = [field.name for field in free if is_vector(field.type)]
    if not vectors and wanted.label is not None and is_vector(schema.field(wanted.label).type):
        raise FileError(
            path,
            f"column {wanted.label!r} holds the vectors to embed, so it cannot be the label; "
            "name another column as --label, or the columns to embed with --columns",
        )
    chosen = vectors or [field.name for field in free if is_number(field.type)]
    if not chosen:
        kinds = listed(f"{field.name} ({field.type})" for field in schema)
        raise FileError(path, f"has no column of numbers to embed; its columns are {kinds}")
    names = Counter(schema.names)
    twice = next((name for name in chosen if names[name] > 1), None)
    if twice is not None:
        raise FileError(path, f"has several columns {twice!r}; give each a name of its own")
    return chosen


def number_kind(kind: pa.DataType) -> pa.DataType:
    """Return the type of the numbers in a column of numbers or of vectors."""
    kind = plain(kind)
    return kind.value_type if is_vector(kind) else kind


def narrowest(kinds: Iterable[pa.DataType]) -> Any:
    """float32 if that holds all of them exactly, else float64."""
    exact = (pa.float16(), pa.float32(), pa.int8(), pa.uint8(), pa.int16(), pa.uint16(), pa.bool_())
    return np.float32 if all(kind in exact for kind in kinds) else np.float64


def as_block(path: Path, name: str, column: Any, first_row: int, width: int) -> AnyArray:
    """(rows, width) numbers of one column in one batch. Rows are counted from 1 in what is told to users."""
    if isinstance(column.type, pa.BaseExtensionType):
        column = column.storage
    if is_vector(column.type):
        column = flatten(path, name, column, first_row, width)
    if column.null_count:
        row = first_row + int(pc.index(pc.is_null(column), value=True).as_py()) // width + 1
        raise FileError(path, f"column {name!r}, row {row}: no value; fill it in or leave the row out")
    if pa.types.is_decimal(column.type):
        column = column.cast(pa.float64())
    block: AnyArray = column.to_numpy(zero_copy_only=False).reshape(-1, width)
    check_finite(path, name, block, first_row)
    return block


def flatten(path: Path, name: str, column: Any, first_row: int, width: int) -> Any:
    lengths = pc.list_value_length(column)
    wrong = pc.index(pc.fill_null(pc.not_equal(lengths, width), fill_value=True), value=True).as_py()
    if wrong >= 0:
        row, length = first_row + wrong + 1, lengths[wrong].as_py()
        raise FileError(path, f"column {name!r}, row {row}: {length or 'no'} numbers where other rows have {width}")
    return column.flatten()


def check_finite(path: Path, name: str, block: AnyArray, first_row: int) -> None:
    if block.dtype.kind == "f":
        bad = ~np.isfinite(block).all(axis=1)
        if bad.any():
            row = first_row + int(bad.argmax()) + 1
            raise FileError(path, f"column {name!r}, row {row}: NaN or infinity; leave the row out")


def width_of(path: Path, name: str, column: Any) -> int:
    """How many numbers each row has, by the first rows."""
    kind = plain(column.type)
    if not is_vector(kind):
        return 1
    fixed = pa.types.is_fixed_size_list(kind)
    storage = column.storage if isinstance(column.type, pa.BaseExtensionType) else column
    width = int(kind.list_size) if fixed else int(pc.max(pc.list_value_length(storage)).as_py() or 0)
    if width == 0:
        raise FileError(path, f"column {name!r}, row 1: no numbers")
    return width


class TableReader:
    """Collects the values to embed, and the columns beside them, from batches of a table."""

    def __init__(self, path: Path, schema: pa.Schema, wanted: ReadOptions) -> None:
        self.path = path
        self.names = choose_columns(path, schema, wanted)
        self.read = 0  # rows
        self.widths: list[int] = []
        self._places = {name: place for place, name in enumerate(schema.names)}  # by name, Arrow looks through all
        types = schema.types
        self.dtype = narrowest(number_kind(types[self._places[name]]) for name in self.names)
        self._kept = set(range(len(schema.names))) - {self._places[name] for name in self.names}
        self._scan = IdentifierScan(self.names if wanted.columns is None else ())
        self._blocks: list[AnyArray] = []
        self._others: list[Any] = []

    def columns(self, batch: Any) -> dict[str, Any]:
        return {name: batch.column(self._places[name]) for name in self.names}

    def add(self, batch: Any, columns: dict[str, Any]) -> int:
        """Take in a batch; return the bytes of its columns that are not embedded."""
        block = np.empty((batch.num_rows, sum(self.widths)), dtype=self.dtype)
        fill(self.path, block, columns, self.widths, self.read)
        self._scan.add(columns)
        if not self._blocks:
            self._kept |= {self._places[name] for name in self._scan.candidates()}
        self._blocks.append(block)
        self._others.append(batch.select(sorted(self._kept)))
        self.read += batch.num_rows
        return sum(one.nbytes for one in self._others[-1].columns)

    def source(self) -> Source:
        identifiers = self._scan.found()
        embedded = [name for name in self.names if name not in identifiers]
        if not embedded:
            raise FileError(self.path, only_identifiers(identifiers))
        extra_columns = pa.Table.from_batches(self._others).drop_columns(
            [name for name in embedded if self._places[name] in self._kept]
        )
        places = [place for place, name in enumerate(self.names) if name not in identifiers]  # each is one number wide
        values = join(self._blocks, places if identifiers else None)
        return Source(
            self.path, values, tuple(embedded), extra_columns if extra_columns.num_columns else None, tuple(identifiers)
        )


def only_identifiers(names: list[str]) -> str:
    several = len(names) > 1
    return (
        f"has no column of numbers to embed: {listed(names)} identif{'y' if several else 'ies'} the rows; "
        f"embed {'them' if several else 'it'} all the same with --columns {','.join(names)}"
    )


def read_batches(
    path: Path, schema: pa.Schema, rows: int | None, batches: Iterable[Any], wanted: ReadOptions, check_room: CheckRoom
) -> Source:
    """A Source from batches of a table; `rows` if it tells how many it has. The table itself is never in memory."""
    reader, room = TableReader(path, schema, wanted), available()
    for batch in batches:
        if not batch.num_rows:
            continue
        batch.validate(full=True)  # what a damaged file makes of text and lists may lead anywhere
        columns = reader.columns(batch)
        reader.widths = reader.widths or [width_of(path, name, column) for name, column in columns.items()]
        expected = max(rows or 0, reader.read + batch.num_rows)
        check_told(path, expected, reader.read, sum(reader.widths), reader.dtype, check_room)
        if reader.add(batch, columns) * reader.read / batch.num_rows > room:
            raise FileError(path, f"holds more than the {room / GIGABYTE:.1f} GB that are available")
    if reader.read == 0 or (rows is not None and reader.read < rows):
        raise FileError(path, f"holds {reader.read:,} rows where it says {rows:,}" if reader.read else "holds no rows")
    return reader.source()


def check_told(path: Path, rows: int, read: int, columns: int, dtype: Any, check_room: CheckRoom) -> None:
    """Of so many rows, those not read yet will take memory."""
    try:
        check_room(rows, columns, (rows - read) * columns * np.dtype(dtype).itemsize)
    except MemoryError as error:
        raise FileError(path, str(error)) from None


def fill(path: Path, block: AnyArray, columns: dict[str, Any], widths: list[int], row: int) -> None:
    first = 0
    for (name, column), width in zip(columns.items(), widths, strict=True):
        block[:, first : first + width] = as_block(path, name, column, row, width)
        first += width


def join(blocks: list[AnyArray], places: list[int] | None) -> AnyArray:
    """All rows of some columns (None: of all) in one array; blocks are let go of as they are copied."""
    width = blocks[0].shape[1] if places is None else len(places)
    values = np.empty((sum(map(len, blocks)), width), dtype=blocks[0].dtype)
    row = 0
    for block in drain(blocks):
        values[row : row + len(block)] = block if places is None else block[:, places]
        row += len(block)
    return values


def drain(blocks: list[AnyArray]) -> Iterator[AnyArray]:
    blocks.reverse()
    while blocks:
        yield blocks.pop()
