"""Convert the columns of a table to a matrix of numbers, batch by batch."""

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
from pixelsne.files.source import ROW_NUMBERS, CheckMemory, ReadOptions, Source
from pixelsne.memory import GIGABYTE, available

NAMES_SHOWN = 20  # in an error message


def storage_type(kind: pa.DataType) -> pa.DataType:
    """Return the storage type of an extension type (tensors are stored as lists), or the type itself."""
    return kind.storage_type if isinstance(kind, pa.BaseExtensionType) else kind


def is_number(kind: pa.DataType) -> bool:
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind))


def is_vector(kind: pa.DataType) -> bool:
    """Return whether each row holds a list of numbers, which is how tools write embeddings."""
    kind = storage_type(kind)
    lists = (pa.types.is_fixed_size_list, pa.types.is_list, pa.types.is_large_list)
    return any(is_list(kind) for is_list in lists) and is_number(kind.value_type)


def choose_columns(path: Path, schema: pa.Schema, options: ReadOptions) -> list[str]:
    """Return the names of the columns to embed: the requested ones, or all vector columns, or else all numeric ones."""
    requested = (*(options.columns or ()), *options.kept())
    counts = Counter(schema.names)
    for name in requested:
        count = counts[name]
        if count != 1:
            problem = "no column" if count == 0 else f"{count} columns"
            raise NoColumnError(path, f"has {problem} {name!r}; it has {listed(schema.names)}")
    if options.columns is None:
        return default_columns(path, schema, options)
    kinds = dict(zip(schema.names, schema.types, strict=True))
    for name in options.columns:
        kind = kinds[name]
        if not (is_number(kind) or is_vector(kind) or pa.types.is_boolean(kind)):
            raise FileError(path, f"column {name!r} holds {kind}, not numbers; choose other columns with --columns")
        if role := options.kept().get(name):
            raise FileError(path, f"column {name!r} is the {role}, which is not embedded; leave it out of --columns")
    if not options.columns or len(set(options.columns)) < len(options.columns):
        raise FileError(path, f"--columns must name columns, each once; got {listed(options.columns) or 'none'}")
    return list(options.columns)


def listed(names: Iterable[str]) -> str:
    """Return the names separated by commas, the first 20 of them if there are more."""
    names = list(names)
    return ", ".join(names[:NAMES_SHOWN]) + (", ..." if len(names) > NAMES_SHOWN else "")


def default_columns(path: Path, schema: pa.Schema, options: ReadOptions) -> list[str]:
    """Return the vector columns, or else the numeric ones, without the label, the weight and row numbers."""
    eligible = [field for field in schema if field.name not in {*options.kept(), *ROW_NUMBERS}]
    vectors = [field.name for field in eligible if is_vector(field.type)]
    if not vectors and options.label is not None and is_vector(schema.field(options.label).type):
        raise FileError(
            path,
            f"column {options.label!r} holds the vectors to embed, so it cannot be the label; "
            "name another column as --label, or the columns to embed with --columns",
        )
    chosen = vectors or [field.name for field in eligible if is_number(field.type)]
    if not chosen:
        kinds = listed(f"{field.name} ({field.type})" for field in schema)
        raise FileError(path, f"has no numeric column to embed; its columns are {kinds}")
    counts = Counter(schema.names)
    repeated = next((name for name in chosen if counts[name] > 1), None)
    if repeated is not None:
        raise FileError(path, f"has several columns {repeated!r}; rename them so that each name is unique")
    return chosen


def number_kind(kind: pa.DataType) -> pa.DataType:
    """Return the type of the numbers in a numeric column or a vector column."""
    kind = storage_type(kind)
    return kind.value_type if is_vector(kind) else kind


def narrowest(kinds: Iterable[pa.DataType]) -> Any:
    """Return float32 if it represents all of these types exactly, else float64."""
    exact = (pa.float16(), pa.float32(), pa.int8(), pa.uint8(), pa.int16(), pa.uint16(), pa.bool_())
    return np.float32 if all(kind in exact for kind in kinds) else np.float64


def as_block(path: Path, name: str, column: Any, first_row: int, width: int) -> AnyArray:
    """Return the (rows, width) numbers of one column in a batch. Error messages count rows from 1."""
    if isinstance(column.type, pa.BaseExtensionType):
        column = column.storage
    if is_vector(column.type):
        column = flatten(path, name, column, first_row, width)
    if column.null_count:
        row = first_row + int(pc.index(pc.is_null(column), value=True).as_py()) // width + 1
        raise FileError(path, f"column {name!r}, row {row}: no value; fill it in or remove the row")
    if pa.types.is_decimal(column.type):
        column = column.cast(pa.float64())
    block: AnyArray = column.to_numpy(zero_copy_only=False).reshape(-1, width)
    check_finite(path, name, block, first_row)
    return block


def flatten(path: Path, name: str, column: Any, first_row: int, width: int) -> Any:
    lengths = pc.list_value_length(column)
    index = pc.index(pc.fill_null(pc.not_equal(lengths, width), fill_value=True), value=True).as_py()
    if index >= 0:
        row, length = first_row + index + 1, lengths[index].as_py()
        raise FileError(path, f"column {name!r}, row {row}: {length or 'no'} numbers where other rows have {width}")
    return column.flatten()


def check_finite(path: Path, name: str, block: AnyArray, first_row: int) -> None:
    if block.dtype.kind == "f":
        is_bad = ~np.isfinite(block).all(axis=1)
        if is_bad.any():
            row = first_row + int(is_bad.argmax()) + 1
            raise FileError(path, f"column {name!r}, row {row}: NaN or infinity; remove the row")


def width_of(path: Path, name: str, column: Any) -> int:
    """Return how many numbers each row of a column has, judging by its first batch."""
    kind = storage_type(column.type)
    if not is_vector(kind):
        return 1
    is_fixed = pa.types.is_fixed_size_list(kind)
    storage = column.storage if isinstance(column.type, pa.BaseExtensionType) else column
    width = int(kind.list_size) if is_fixed else int(pc.max(pc.list_value_length(storage)).as_py() or 0)
    if width == 0:
        raise FileError(path, f"column {name!r}, row 1: an empty list; each row must hold the same number of values")
    return width


class TableReader:
    """Collects the values to embed and the extra columns from the batches of a table."""

    def __init__(self, path: Path, schema: pa.Schema, options: ReadOptions) -> None:
        self.path = path
        self.names = choose_columns(path, schema, options)
        self.rows_read = 0
        self.widths: list[int] = []
        self._indices = {name: index for index, name in enumerate(schema.names)}  # Arrow searches names linearly
        types = schema.types
        self.dtype = narrowest(number_kind(types[self._indices[name]]) for name in self.names)
        self._extra_indices = set(range(len(schema.names))) - {self._indices[name] for name in self.names}
        self._scan = IdentifierScan(self.names if options.columns is None else ())
        self._blocks: list[AnyArray] = []
        self._extra_batches: list[Any] = []

    def columns(self, batch: Any) -> dict[str, Any]:
        return {name: batch.column(self._indices[name]) for name in self.names}

    def add(self, batch: Any, columns: dict[str, Any]) -> int:
        """Add a batch. Return the size of its extra columns in bytes."""
        block = np.empty((batch.num_rows, sum(self.widths)), dtype=self.dtype)
        fill(self.path, block, columns, self.widths, self.rows_read)
        self._scan.add(columns)
        if not self._blocks:
            self._extra_indices |= {self._indices[name] for name in self._scan.candidates()}
        self._blocks.append(block)
        self._extra_batches.append(batch.select(sorted(self._extra_indices)))
        self.rows_read += batch.num_rows
        return sum(column.nbytes for column in self._extra_batches[-1].columns)

    def source(self) -> Source:
        """Return the rows of all batches, with identifiers moved to the extra columns."""
        identifiers = self._scan.found()
        embedded = [name for name in self.names if name not in identifiers]
        if not embedded:
            raise FileError(self.path, only_identifiers(identifiers))
        extra_columns = pa.Table.from_batches(self._extra_batches).drop_columns(
            [name for name in embedded if self._indices[name] in self._extra_indices]
        )
        # Where there are identifiers, every column is one number wide.
        indices = [index for index, name in enumerate(self.names) if name not in identifiers]
        values = join(self._blocks, indices if identifiers else None)
        return Source(
            self.path, values, tuple(embedded), extra_columns if extra_columns.num_columns else None, tuple(identifiers)
        )


def only_identifiers(names: list[str]) -> str:
    several = len(names) > 1
    return (
        f"has no numeric column to embed: {listed(names)} identif{'y' if several else 'ies'} the rows; "
        f"to embed {'them' if several else 'it'} anyway, pass --columns {','.join(names)}"
    )


def read_batches(
    path: Path,
    schema: pa.Schema,
    rows: int | None,
    batches: Iterable[Any],
    options: ReadOptions,
    check_memory: CheckMemory,
) -> Source:
    """Return the Source of a table that is read batch by batch and never held in memory as a whole.

    rows: the number of rows, if the file states it.
    """
    reader, memory = TableReader(path, schema, options), available()
    for batch in batches:
        if not batch.num_rows:
            continue
        batch.validate(full=True)  # offsets in a damaged file may point anywhere
        columns = reader.columns(batch)
        reader.widths = reader.widths or [width_of(path, name, column) for name, column in columns.items()]
        expected = max(rows or 0, reader.rows_read + batch.num_rows)
        check_memory_for_rows(path, expected, reader.rows_read, sum(reader.widths), reader.dtype, check_memory)
        if reader.add(batch, columns) * reader.rows_read / batch.num_rows > memory:
            raise FileError(path, f"holds more than the {memory / GIGABYTE:.1f} GB of memory that are available")
    if reader.rows_read == 0:
        raise FileError(path, "holds no rows")
    if rows is not None and reader.rows_read < rows:
        raise FileError(path, f"is damaged: it holds {reader.rows_read:,} of {rows:,} rows")
    return reader.source()


def check_memory_for_rows(path: Path, rows: int, read: int, width: int, dtype: Any, check: CheckMemory) -> None:
    """Raise FileError if there is not enough memory for the rows that are not read yet."""
    try:
        check(rows, width, (rows - read) * width * np.dtype(dtype).itemsize)
    except MemoryError as error:
        raise FileError(path, str(error)) from None


def fill(path: Path, block: AnyArray, columns: dict[str, Any], widths: list[int], row: int) -> None:
    """Copy the columns of a batch into a (rows, sum of widths) block. row: the index of the first row."""
    first = 0
    for (name, column), width in zip(columns.items(), widths, strict=True):
        block[:, first : first + width] = as_block(path, name, column, row, width)
        first += width


def join(blocks: list[AnyArray], indices: list[int] | None) -> AnyArray:
    """Return the columns with these indices (None: all) in one array. Each block is freed once it is copied."""
    width = blocks[0].shape[1] if indices is None else len(indices)
    values = np.empty((sum(map(len, blocks)), width), dtype=blocks[0].dtype)
    row = 0
    for block in drain(blocks):
        values[row : row + len(block)] = block if indices is None else block[:, indices]
        row += len(block)
    return values


def drain(blocks: list[AnyArray]) -> Iterator[AnyArray]:
    """Yield the blocks in order and remove each from the list."""
    blocks.reverse()
    while blocks:
        yield blocks.pop()
