"""Quotes in a csv that would make rows disappear.

A quoted value may hold line ends. So a quote that is never closed turns all rows after it into one value, and a pair of
stray quotes all rows between them.
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
REST = rb'[^"]*+(?:""[^"]*+)*+("|\Z)'  # of a quoted value, with the quote that closes it, if there is one
LINES_COMPARED = 10


def check_quotes(path: Path, separator: str) -> None:
    """FileError, with its line, for a quote that is never closed. Quotes inside of a value are plain characters."""
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
        raise FileError(path, f"line {opened_on}: a quote is opened and never closed; close it, or take it out")


def all_closed(block: bytes, separator: str) -> bool:
    """Whether quotes come in pairs, each opened where a value begins or right after a quote: the quick, usual case."""
    letters = np.frombuffer(block, dtype=np.uint8)
    quotes = np.flatnonzero(letters == ord('"'))
    before = letters[quotes[::2] - 1]
    if len(quotes) and quotes[0] == 0:
        before[0] = ord("\n")
    return len(quotes) % 2 == 0 and bool(np.isin(before, [ord(letter) for letter in f'{separator}\r\n"']).all())


def whole_lines(path: Path, file: IO[bytes]) -> Iterator[bytes]:
    """Blocks that end where a line does."""
    kept = file.read(len(BYTE_ORDER_MARK)).removeprefix(BYTE_ORDER_MARK)
    while part := file.read(BLOCK_BYTES):
        kept += part
        cut = (kept.rfind(b"\n") if b"\n" in part else kept.rfind(b"\r")) + 1
        if cut:
            yield kept[:cut]
        kept = kept[cut:]
        if len(kept) > LONGEST_LINE:
            raise FileError(path, f"has a line of more than {LONGEST_LINE // 1_000_000} MB")
    yield kept


def line_ends(block: bytes) -> int:
    return block.count(b"\n") + block.count(b"\r") - block.count(b"\r\n")


def check_swallowed_rows(path: Path, batch: Any, numeric: list[int], separator: str, first_row: int) -> None:
    """FileError for a text whose own lines look like rows of this table: numbers where the others have numbers.

    numeric: which columns these are.
    """
    for name, column in zip(batch.schema.names, batch.columns, strict=True):
        if not pa.types.is_string(column.type):
            continue
        long = pc.and_(
            pc.greater_equal(pc.count_substring_regex(column, LINE_END), 2),
            pc.greater_equal(pc.count_substring(column, separator), batch.num_columns - 1),
        )
        for row in pc.indices_nonzero(pc.fill_null(long, fill_value=False)).to_pylist():
            inner = re.split(LINE_END, column[row].as_py())[1:-1]
            if all(looks_like_row(line, separator, batch.num_columns, numeric) for line in inner[:LINES_COMPARED]):
                raise FileError(
                    path,
                    f"column {name!r}, row {first_row + row + 1}: a quoted text holds {len(inner):,} lines that look "
                    "like rows of the table; take out the stray quotes around them",
                )


def looks_like_row(line: str, separator: str, columns: int, numeric: list[int]) -> bool:
    try:
        fields = next(csv.reader([line], delimiter=separator), [])
    except csv.Error:
        return False
    return len(fields) == columns and all(is_written_number(fields[place]) for place in numeric)
