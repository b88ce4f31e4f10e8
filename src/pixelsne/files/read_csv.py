"""Text files of separated values, gzipped or not."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv

from pixelsne.files.columns import choose_columns, read_batches
from pixelsne.files.csv_layout import NUMBER, Layout
from pixelsne.files.csv_quotes import check_quotes, check_swallowed_rows
from pixelsne.files.errors import FileError, first_words
from pixelsne.files.identifiers import may_identify
from pixelsne.files.source import CheckRoom, ReadOptions, Source

# A column of text of which this share is numbers has text among its numbers.
MOSTLY = 0.5

# What stands for no value.
MISSING = ["", "NA", "N/A", "nan", "NaN", "null", "NULL", "None"]

Kinds = dict[str, pa.DataType]


def read_csv(path: Path, wanted: ReadOptions, check_room: CheckRoom) -> Source:
    layout = Layout(path, wanted)
    check_quotes(path, layout.separator)
    as_text: set[str] = set()
    as_float: set[str] = set()
    while True:
        kinds: Kinds = {}
        embedded: set[str] = set()
        try:
            kinds, embedded = find_kinds(path, layout, wanted, as_text, as_float)
            batches = plausible_batches(path, layout, kinds, embedded)
            return read_batches(path, pa.schema(list(kinds.items())), None, batches, wanted, check_room)
        except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
            name = column_in(error, list(kinds))
            retry = as_float if name in embedded else as_text  # a column that only travels along may be anything
            if name is None or name in retry or kinds[name] == pa.float64():
                raise FileError(path, explain(error, layout, name)) from None
            retry.add(name)


def find_kinds(
    path: Path, layout: Layout, wanted: ReadOptions, as_text: set[str], as_float: set[str]
) -> tuple[Kinds, set[str]]:
    """Columns are what their first block says; of those to embed, whole numbers may be followed by others.

    Columns that may identify rows are read as integers, until one of them turns out to hold other numbers (as_float).
    """
    reader = open_csv(path, layout, None)
    schema, batch = reader.schema, next(iter(reader), None)
    if batch is None:
        raise FileError(path, "holds no rows")
    named = set(wanted.columns or ())
    asked = [field if field.name not in named else field.with_type(pa.float64()) for field in schema]
    refuse_text_among_numbers(path, batch, wanted)
    embedded = set(choose_columns(path, pa.schema(asked), wanted))
    kinds: Kinds = {}
    for field, column in zip(asked, batch.columns, strict=True):
        untold = pa.types.is_null(field.type) or field.name in as_text
        keyed = wanted.columns is None and field.name not in as_float and may_identify(column)
        is_float = field.name in embedded and not keyed
        kinds[field.name] = pa.float64() if is_float else pa.string() if untold else field.type
    if len(kinds) < len(schema.names):
        raise FileError(path, "has several columns of one name; give each its own")
    return kinds, embedded


def plausible_batches(path: Path, layout: Layout, kinds: Kinds, embedded: set[str]) -> Iterator[Any]:
    numeric, row = [place for place, name in enumerate(kinds) if name in embedded], 0
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


def refuse_text_among_numbers(path: Path, batch: Any, wanted: ReadOptions) -> None:
    """Without this, one typing error would turn a column of numbers into words that travel along."""
    if wanted.columns is not None:
        return
    for name, column in zip(batch.schema.names, batch.columns, strict=True):
        if name == wanted.label or not pa.types.is_string(column.type):
            continue
        numeric = pc.match_substring_regex(column, NUMBER)
        share = pc.mean(pc.cast(numeric, pa.float64())).as_py() or 0.0
        if share > MOSTLY:
            row = pc.index(numeric, value=False).as_py()
            raise FileError(
                path,
                f"column {name!r}, row {row + 1}: {column[row].as_py()!r:.60} is no number; "
                f"mend it, or choose other columns with --columns",
            )


def column_in(error: Exception, names: list[str]) -> str | None:
    """The name of the column that Arrow has trouble with; it counts them from 0."""
    found = re.search(r"In CSV column #(\d+)", str(error))
    return names[int(found[1])] if found is not None and int(found[1]) < len(names) else None


def explain(error: Exception, layout: Layout, name: str | None) -> str:
    value = re.search(r"Row #(\d+).*invalid value '(.*?)'", str(error), re.DOTALL)
    if name is not None and value is not None:
        return f"column {name!r}, row {layout.row_of(int(value[1]))}: {value[2]!r:.60} is no number"
    fields = re.search(r"Row #(\d+): Expected (\d+) columns, got (\d+)", str(error))
    if fields is not None:
        return f"row {layout.row_of(int(fields[1]))}: {fields[3]} fields where other rows have {fields[2]}"
    return f"is no table: {first_words(error)}"
