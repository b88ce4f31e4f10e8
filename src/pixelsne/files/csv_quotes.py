"""Find stray quotes in a csv file, which would hide rows.

A quoted value may contain line ends. An unclosed quote therefore turns all rows after it into one value, and a pair of
stray quotes does so with all rows between them.
"""

import csv
import re
from collections import deque
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pixelsne.files.csv_layout import BLOCK_BYTES, LONGEST_LINE, is_written_number, opened
from pixelsne.files.errors import FileError

BYTE_ORDER_MARK = b"\xef\xbb\xbf"
LINE_END = r"\r\n|\r|\n"
REST = rb'[^"]*+(?:""[^"]*+)*+("|\Z)'  # rest of a quoted value, with its closing quote, if there is one
LINES_COMPARED = 10


def check_quotes(path: Path, separator: str) -> None:
    """Raise FileError, with the line, for a quote that is never closed. Quotes inside a value do not count."""
    rest = re.compile(REST)
    value = re.compile(rb"(?:\A|(?<=[\r\n" + re.escape(separator.encode()) + rb']))"' + REST)
    line, opened_on = 1, 0  # 0: no quote is open
    with opened(path) as file:
        for block in whole_lines(path, file):
            begin = 0
            if opened_on and (found := rest.match(block)) is not None and found[1]:
                opened_on, begin = 0, found.end()
            if not opened_on and not all_closed(block[begin:], separator):
                for last in deque(value.finditer(block, begin), maxlen=1):
                    opened_on = 0 if last[1] else line + line_ends(block[: last.start()])
            line += line_ends(block)
    if opened_on:
        raise FileError(path, f"line {opened_on}: a quote is opened and never closed; close or remove it")


def all_closed(block: bytes, separator: str) -> bool:
    """Return whether quotes come in pairs, each opened at the start of a value or after a quote: a quick check."""
    characters = np.frombuffer(block, dtype=np.uint8)
    quotes = np.flatnonzero(characters == ord('"'))
    before = characters[quotes[::2] - 1]
    if len(quotes) and quotes[0] == 0:
        before[0] = ord("\n")
    return len(quotes) % 2 == 0 and bool(np.isin(before, [ord(character) for character in f'{separator}\r\n"']).all())


def whole_lines(path: Path, file: IO[bytes]) -> Iterator[bytes]:
    """Yield the file in blocks that end at a line end."""
    pending = file.read(len(BYTE_ORDER_MARK)).removeprefix(BYTE_ORDER_MARK)
    while part := file.read(BLOCK_BYTES):
        pending += part
        cut = (pending.rfind(b"\n") if b"\n" in part else pending.rfind(b"\r")) + 1
        if cut:
            yield pending[:cut]
        pending = pending[cut:]
        if len(pending) > LONGEST_LINE:
            raise FileError(path, f"has a line of more than {LONGEST_LINE // 1_000_000} MB")
    yield pending


def line_ends(block: bytes) -> int:
    return block.count(b"\n") + block.count(b"\r") - block.count(b"\r\n")


def check_swallowed_rows(path: Path, batch: Any, numeric: list[int], separator: str, first_row: int) -> None:
    """Raise FileError for a quoted text whose lines look like rows of the table.

    numeric: the indices of the columns in which such a line must have numbers.
    """
    for name, column in zip(batch.schema.names, batch.columns, strict=True):
        if not pa.types.is_string(column.type):
            continue
        candidates = pc.and_(
            pc.greater_equal(pc.count_substring_regex(column, LINE_END), 2),
            pc.greater_equal(pc.count_substring(column, separator), batch.num_columns - 1),
        )
        for row in pc.indices_nonzero(pc.fill_null(candidates, fill_value=False)).to_pylist():
            inner = re.split(LINE_END, column[row].as_py())[1:-1]
            if all(looks_like_row(line, separator, batch.num_columns, numeric) for line in inner[:LINES_COMPARED]):
                raise FileError(
                    path,
                    f"column {name!r}, row {first_row + row + 1}: a quoted text holds {len(inner):,} lines that look "
                    "like rows of the table; remove the stray quotes around them",
                )


def looks_like_row(line: str, separator: str, columns: int, numeric: list[int]) -> bool:
    try:
        fields = next(csv.reader([line], delimiter=separator), [])
    except csv.Error:
        return False
    return len(fields) == columns and all(is_written_number(fields[index]) for index in numeric)
