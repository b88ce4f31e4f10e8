"""The csv and tsv formats. Files may be gzipped."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv

from pixelsne.coloring import as_strings
from pixelsne.files.columns import choose_columns, read_batches
from pixelsne.files.csv_layout import NUMBER, Layout
from pixelsne.files.csv_quotes import check_quotes, check_swallowed_rows
from pixelsne.files.errors import FileError, first_line
from pixelsne.files.format import Format
from pixelsne.files.identifiers import may_identify
from pixelsne.files.maps import Map, to_table
from pixelsne.files.source import CheckMemory, ReadOptions, Source

# A text column with more than this share of numbers is a numeric column with errors.
MIN_NUMERIC_SHARE = 0.5

# Fields that mean a missing value.
MISSING = ["", "NA", "N/A", "nan", "NaN", "null", "NULL", "None"]

Kinds = dict[str, pa.DataType]


def read_csv(path: Path, options: ReadOptions, check_memory: CheckMemory) -> Source:
    """Read a csv file with the types that Arrow infers from its first block.

    If a later block does not fit, read it again with the offending column as text, or as floats if it is embedded.
    """
    layout = Layout(path, options)
    check_quotes(path, layout.separator)
    as_text: set[str] = set()
    as_float: set[str] = set()
    while True:
        kinds: Kinds = {}
        embedded: set[str] = set()
        try:
            kinds, embedded = find_kinds(path, layout, options, as_text, as_float)
            batches = checked_batches(path, layout, kinds, embedded)
            return read_batches(path, pa.schema(list(kinds.items())), None, batches, options, check_memory)
        except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
            name = column_in(error, list(kinds))
            retry = as_float if name in embedded else as_text  # extra columns may hold anything
            if name is None or name in retry or kinds[name] == pa.float64():
                raise FileError(path, explain(error, layout, name)) from None
            retry.add(name)


def find_kinds(
    path: Path, layout: Layout, options: ReadOptions, as_text: set[str], as_float: set[str]
) -> tuple[Kinds, set[str]]:
    """Return the type of each column, by the first block, and the names of the columns to embed.

    Columns to embed are read as floats, because fractions may follow after the first block. Columns that may identify
    rows are read as integers, until one of them turns out to hold other numbers (as_float).
    """
    reader = open_csv(path, layout, None)
    schema, batch = reader.schema, next(iter(reader), None)
    if batch is None:
        raise FileError(path, "holds no rows")
    requested = {*(options.columns or ()), *((options.weight,) if options.weight else ())}
    fields = [field if field.name not in requested else field.with_type(pa.float64()) for field in schema]
    check_numeric_columns(path, batch, options)
    embedded = set(choose_columns(path, pa.schema(fields), options))
    kinds: Kinds = {}
    for field, column in zip(fields, batch.columns, strict=True):
        is_text = pa.types.is_null(field.type) or field.name in as_text
        is_key = options.columns is None and field.name not in as_float and may_identify(column)
        is_float = field.name in embedded and not is_key
        kinds[field.name] = pa.float64() if is_float else pa.string() if is_text else field.type
    if len(kinds) < len(schema.names):
        raise FileError(path, "has several columns of one name; rename them so that each name is unique")
    return kinds, embedded


def checked_batches(path: Path, layout: Layout, kinds: Kinds, embedded: set[str]) -> Iterator[Any]:
    numeric, row = [index for index, name in enumerate(kinds) if name in embedded], 0
    for batch in open_csv(path, layout, kinds):
        check_swallowed_rows(path, batch, numeric, layout.separator, row)
        yield batch
        row += batch.num_rows


def open_csv(path: Path, layout: Layout, kinds: Kinds | None) -> Any:
    return pa.csv.open_csv(
        path,
        read_options=pa.csv.ReadOptions(block_size=layout.block_bytes, column_names=layout.names, use_threads=False),
        parse_options=pa.csv.ParseOptions(delimiter=layout.separator, newlines_in_values=True),
        convert_options=pa.csv.ConvertOptions(column_types=kinds, null_values=MISSING, strings_can_be_null=False),
    )


def check_numeric_columns(path: Path, batch: Any, options: ReadOptions) -> None:
    """Raise FileError for a numeric column with a typo, which would otherwise become a text column."""
    if options.columns is not None:
        return
    for name, column in zip(batch.schema.names, batch.columns, strict=True):
        if name == options.label or not pa.types.is_string(column.type):
            continue
        numeric = pc.match_substring_regex(column, NUMBER)
        share = pc.mean(pc.cast(numeric, pa.float64())).as_py() or 0.0
        if share > MIN_NUMERIC_SHARE:
            row = pc.index(numeric, value=False).as_py()
            raise FileError(
                path,
                f"column {name!r}, row {row + 1}: {column[row].as_py()!r:.60} is not a number; "
                "correct it, or choose other columns with --columns",
            )


def column_in(error: Exception, names: list[str]) -> str | None:
    """Return the name of the column that an error of Arrow refers to; Arrow counts them from 0."""
    found = re.search(r"In CSV column #(\d+)", str(error))
    return names[int(found[1])] if found is not None and int(found[1]) < len(names) else None


def explain(error: Exception, layout: Layout, name: str | None) -> str:
    """Return an error of Arrow in the terms of this package: columns by name, and rows without the header."""
    value = re.search(r"Row #(\d+).*invalid value '(.*?)'", str(error), re.DOTALL)
    if name is not None and value is not None:
        return f"column {name!r}, row {layout.row_of(int(value[1]))}: {value[2]!r:.60} is not a number"
    fields = re.search(r"Row #(\d+): Expected (\d+) columns, got (\d+)", str(error))
    if fields is not None:
        return f"row {layout.row_of(int(fields[1]))}: {fields[3]} fields where other rows have {fields[2]}"
    return f"is not a table: {first_line(error)}"


def write_csv(file: IO[bytes], map_: Map, separator: str = ",") -> None:
    table, columns = to_table(map_), {}
    for name, column in zip(table.column_names, table.columns, strict=True):
        kind = column.type
        if not (pa.types.is_nested(kind) or isinstance(kind, pa.BaseExtensionType)):  # csv cannot hold lists
            columns[name] = as_writable_column(column.cast(kind.value_type) if pa.types.is_dictionary(kind) else column)
    pa.csv.write_csv(pa.table(columns), file, pa.csv.WriteOptions(delimiter=separator))


def as_writable_column(column: Any) -> Any:
    """Return the column, or its values as strings if Arrow cannot write its dates as text."""
    if not pa.types.is_temporal(column.type):
        return column
    try:
        column.cast(pa.string())  # as write_csv does
    except pa.ArrowException:
        return pa.array(as_strings(column), pa.string())
    return column


def write_tsv(file: IO[bytes], map_: Map) -> None:
    write_csv(file, map_, "\t")


CSV = Format((".csv", ".txt"), read_csv, write_csv, can_be_gzipped=True)
TSV = Format((".tsv",), read_csv, write_tsv, can_be_gzipped=True)
