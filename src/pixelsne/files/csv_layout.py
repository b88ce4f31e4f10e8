"""Detect the layout of a csv file: its separator, and whether its first line is a header."""

import csv
import gzip
import io
import re
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import islice, pairwise
from pathlib import Path
from typing import IO, Any

from pixelsne.files.errors import FileError
from pixelsne.files.source import NUMBERED, ReadOptions

BLOCK_BYTES = 4_000_000
LONGEST_LINE = 64_000_000
ROWS_PER_BLOCK = 64  # at least, because each batch has a cost per column
SEPARATORS = ",;\t"
NUMBER = r"^\s*[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?\s*$"

# A first line with at least this many consecutive integers is a header, if none of the next rows is like it.
MIN_CONSECUTIVE = 3
ROWS_COMPARED = 100
YEARS = range(1000, 3000)
LONGEST_INTEGER = 12  # digits

Names = list[str] | None  # None: the first line is the header


class Layout:
    """The separator, column names and block size of a csv file."""

    def __init__(self, path: Path, options: ReadOptions) -> None:
        first, second = first_lines(path)
        self.separator = "\t" if ".tsv" in path.suffixes else max(SEPARATORS, key=first.count)  # the first one on a tie
        rows = first_rows(path, self.separator)
        fields = next(rows, [])
        header = options.header if options.header is not None else is_header(fields, rows)
        self.names: Names = None if header else [NUMBERED.format(index) for index in range(len(fields))]
        self.block_bytes = max(BLOCK_BYTES, ROWS_PER_BLOCK * max(len(first), len(second)))

    def row_of(self, line: int) -> int:
        """Return the row of a line. Rows are counted from 1, without the header."""
        return line - (1 if self.names is None else 0)


@contextmanager
def opened(path: Path) -> Iterator[IO[bytes]]:
    """Open a csv file, gzipped or not, for reading bytes. Raise FileError if it cannot be decompressed."""
    opener: Any = gzip.open if path.suffix.lower() == ".gz" else open
    try:
        with opener(path, "rb") as file:
            yield file
    except (EOFError, OSError, zlib.error) as error:
        raise FileError(path, f"is damaged: {error}") from None


def as_text(file: IO[bytes]) -> io.TextIOWrapper:
    """Decode a file as UTF-8 with any line ends. Invalid bytes become surrogates."""
    return io.TextIOWrapper(file, encoding="utf-8-sig", errors="surrogateescape", newline=None)


def first_lines(path: Path) -> tuple[str, str]:
    with opened(path) as file, as_text(file) as text:
        first, second = text.readline(LONGEST_LINE), text.readline(LONGEST_LINE)
    if not first.strip():
        raise FileError(path, "is empty, or begins with an empty line")
    try:
        first.encode()
    except UnicodeEncodeError:
        raise FileError(path, "is not UTF-8 text; convert it to UTF-8") from None
    return first.rstrip("\n"), second


def first_rows(path: Path, separator: str) -> Iterator[list[str]]:
    with opened(path) as file, as_text(file) as text:
        try:
            yield from islice(csv.reader(text, delimiter=separator), 1 + ROWS_COMPARED)
        except csv.Error as error:
            raise FileError(path, f"is not a table: {error}") from None


def is_written_number(field: str) -> bool:
    return re.match(NUMBER, field) is not None


def is_header(first: list[str], following: Iterable[list[str]]) -> bool:
    """Return whether the first line is a header: it has no numbers, or consecutive ones, unlike all other rows.

    Headers of consecutive numbers are years (1990, 1991, ...) or pandas' default column names (0, 1, 2, ...).
    """
    numeric = [index for index, field in enumerate(first) if is_written_number(field)]
    if not numeric:
        return True
    if len(numeric) < MIN_CONSECUTIVE or not are_consecutive([first[index] for index in numeric]):
        return False
    rows = [row for row in following if len(row) == len(first)]
    return bool(rows) and not any(are_consecutive([row[index] for index in numeric]) for row in rows)


def are_consecutive(fields: list[str]) -> bool:
    """Return whether the fields are integers in equal steps, or years in order."""
    stripped = [field.strip() for field in fields]
    if not all(field.isdecimal() and len(field) <= LONGEST_INTEGER for field in stripped):
        return False
    numbers = [int(field) for field in stripped]
    steps = {after - before for before, after in pairwise(numbers)}
    in_order = min(steps) > 0 or max(steps) < 0
    return in_order and (len(steps) == 1 or all(number in YEARS for number in numbers))
