"""Text files of separated values, gzipped or not."""

import csv
import gzip
import io
import re
import zlib
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv

from pixelsne.files.columns import choose_columns, read_batches
from pixelsne.files.errors import FileError
from pixelsne.files.source import NUMBERED, CheckRoom, Source, Wanted

BLOCK_BYTES = 4_000_000
LONGEST_LINE = 64_000_000
SEPARATORS = ",;\t"

# A column of text of which this share is numbers has text among its numbers.
MOSTLY = 0.5
NUMBER = r"^\s*[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?\s*$"

# What stands for no value.
MISSING = ["", "NA", "N/A", "nan", "NaN", "null", "NULL", "None"]

Names = list[str] | None  # None: the first line has them
Kinds = dict[str, pa.DataType]


class Layout:
    """How the text is cut into fields."""

    def __init__(self, path: Path, wanted: Wanted) -> None:
        line = first_line(path)
        self.separator = "\t" if ".tsv" in path.suffixes else max(SEPARATORS, key=line.count)  # of equals the first
        fields = next(csv.reader(io.StringIO(line), delimiter=self.separator), [])
        header = wanted.header if wanted.header is not None else not any(map(is_written_number, fields))
        self.names: Names = None if header else [NUMBERED.format(place) for place in range(len(fields))]
        self.block_bytes = max(BLOCK_BYTES, 4 * len(line))

    def row_of(self, line: int) -> int:
        """Rows are counted from 1; a header is none."""
        return line - (1 if self.names is None else 0)


def first_line(path: Path) -> str:
    opener: Any = gzip.open if path.suffix.lower() == ".gz" else open
    try:
        with opener(path, "rb") as file:
            line = file.readline(LONGEST_LINE)
    except (EOFError, OSError, zlib.error) as error:
        raise FileError(path, f"is damaged: {error}") from None
    if not line.strip():
        raise FileError(path, "is empty, or begins with an empty line")
    try:
        return str(line.decode("utf-8-sig")).rstrip("\r\n")
    except UnicodeDecodeError:
        raise FileError(path, "is no text in UTF-8") from None


def is_written_number(field: str) -> bool:
    return re.match(NUMBER, field) is not None


def read_csv(path: Path, wanted: Wanted, check_room: CheckRoom) -> Source:
    layout = Layout(path, wanted)
    as_text: set[str] = set()
    while True:
        kinds: Kinds = {}
        try:
            kinds, embedded = find_kinds(path, layout, wanted, as_text)
            return read_batches(
                path, pa.schema(list(kinds.items())), None, open_csv(path, layout, kinds), wanted, check_room
            )
        except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
            name = column_in(error, list(kinds))
            if name is None or name in embedded or name in as_text:
                raise FileError(path, explain(error, layout, name)) from None
            as_text.add(name)  # a column that only travels along may be anything


def find_kinds(path: Path, layout: Layout, wanted: Wanted, as_text: set[str]) -> tuple[Kinds, list[str]]:
    """Columns are what their first block says; of those to embed, whole numbers may be followed by others."""
    reader = open_csv(path, layout, None)
    schema, batch = reader.schema, next(iter(reader), None)
    if batch is None:
        raise FileError(path, "holds no rows")
    asked = [field if field.name not in (wanted.columns or ()) else field.with_type(pa.float64()) for field in schema]
    refuse_text_among_numbers(path, batch, wanted)
    embedded = choose_columns(path, pa.schema(asked), wanted)
    kinds: Kinds = {}
    for field in asked:
        untold = pa.types.is_null(field.type) or field.name in as_text
        kinds[field.name] = pa.float64() if field.name in embedded else pa.string() if untold else field.type
    if len(kinds) < len(schema.names):
        raise FileError(path, "has several columns of one name; give each its own")
    return kinds, embedded


def open_csv(path: Path, layout: Layout, kinds: Kinds | None) -> Any:
    return pa.csv.open_csv(
        path,
        read_options=pa.csv.ReadOptions(block_size=layout.block_bytes, column_names=layout.names, use_threads=False),
        parse_options=pa.csv.ParseOptions(delimiter=layout.separator, newlines_in_values=True),
        convert_options=pa.csv.ConvertOptions(column_types=kinds, null_values=MISSING, strings_can_be_null=False),
    )


def refuse_text_among_numbers(path: Path, batch: Any, wanted: Wanted) -> None:
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
    return f"is no table: {str(error).splitlines()[0]:.200}"
