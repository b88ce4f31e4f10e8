"""How the text of a csv is cut into fields, and whether its first line holds the names of the columns."""

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
ROWS_PER_BLOCK = 64  # at least: every batch costs some time for each column
SEPARATORS = ",;\t"
NUMBER = r"^\s*[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?\s*$"

# A first line of so many whole numbers that count up or down is a header, if none of the next rows is like it.
FEWEST_COUNTING = 3
ROWS_COMPARED = 100
YEARS = range(1000, 3000)
LONGEST_COUNT = 12  # digits

Names = list[str] | None  # None: the first line has them


class Layout:
    """Separator, names of columns and block size."""

    def __init__(self, path: Path, wanted: ReadOptions) -> None:
        first, second = first_lines(path)
        self.separator = "\t" if ".tsv" in path.suffixes else max(SEPARATORS, key=first.count)  # of equals the first
        rows = first_rows(path, self.separator)
        fields = next(rows, [])
        header = wanted.header if wanted.header is not None else is_header(fields, rows)
        self.names: Names = None if header else [NUMBERED.format(place) for place in range(len(fields))]
        self.block_bytes = max(BLOCK_BYTES, ROWS_PER_BLOCK * max(len(first), len(second)))

    def row_of(self, line: int) -> int:
        """Rows are counted from 1; a header is none."""
        return line - (1 if self.names is None else 0)


@contextmanager
def opened(path: Path) -> Iterator[IO[bytes]]:
    """The bytes of the text; FileError if they cannot be unpacked."""
    opener: Any = gzip.open if path.suffix.lower() == ".gz" else open
    try:
        with opener(path, "rb") as file:
            yield file
    except (EOFError, OSError, zlib.error) as error:
        raise FileError(path, f"is damaged: {error}") from None


def as_text(file: IO[bytes]) -> io.TextIOWrapper:
    """Lines that end with \\n, \\r\\n or \\r; bytes that are no UTF-8 are kept as surrogates."""
    return io.TextIOWrapper(file, encoding="utf-8-sig", errors="surrogateescape", newline=None)


def first_lines(path: Path) -> tuple[str, str]:
    with opened(path) as file, as_text(file) as text:
        first, second = text.readline(LONGEST_LINE), text.readline(LONGEST_LINE)
    if not first.strip():
        raise FileError(path, "is empty, or begins with an empty line")
    try:
        first.encode()
    except UnicodeEncodeError:
        raise FileError(path, "is no text in UTF-8") from None
    return first.rstrip("\n"), second


def first_rows(path: Path, separator: str) -> Iterator[list[str]]:
    with opened(path) as file, as_text(file) as text:
        try:
            yield from islice(csv.reader(text, delimiter=separator), 1 + ROWS_COMPARED)
        except csv.Error as error:
            raise FileError(path, f"is no table: {error}") from None


def is_written_number(field: str) -> bool:
    return re.match(NUMBER, field) is not None


def is_header(first: list[str], following: Iterable[list[str]]) -> bool:
    """Whether a first line holds names: none of them is a number, or the numbers count up as no other row does.

    Tables by year begin so (1990, 1991, ...), and those whose columns pandas has numbered (0, 1, 2, ...).
    """
    places = [place for place, field in enumerate(first) if is_written_number(field)]
    if not places:
        return True
    if len(places) < FEWEST_COUNTING or not counts([first[place] for place in places]):
        return False
    extra_columns = [row for row in following if len(row) == len(first)]
    return bool(extra_columns) and not any(counts([row[place] for place in places]) for row in extra_columns)


def counts(fields: list[str]) -> bool:
    """Whether these are whole numbers in even steps, or years in order."""
    written = [field.strip() for field in fields]
    if not all(field.isdecimal() and len(field) <= LONGEST_COUNT for field in written):
        return False
    numbers = [int(field) for field in written]
    steps = {after - before for before, after in pairwise(numbers)}
    in_order = min(steps) > 0 or max(steps) < 0
    return in_order and (len(steps) == 1 or all(number in YEARS for number in numbers))
