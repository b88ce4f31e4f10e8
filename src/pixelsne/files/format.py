"""Format: the interface of a file format."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from pixelsne.files.maps import POSITION_COLUMNS, Map
from pixelsne.files.source import CheckMemory, ReadOptions, Source

XY = POSITION_COLUMNS[:2]
POSITIONS_OF_TABLE = ReadOptions(columns=XY)


def no_metadata(_path: Path) -> str:
    return "{}"


def needs_no_package(_path: Path) -> None:
    pass


@dataclass(frozen=True)
class Format:
    """A file format: how points are read from it, and how a map is written to it and found in it again."""

    suffixes: tuple[str, ...]  # maps are written under the first one
    read_points: Callable[[Path, ReadOptions, CheckMemory], Source]
    write_map: Callable[[IO[bytes], Map], None] | None = None  # None: maps are not written in this format
    map_options: ReadOptions = POSITIONS_OF_TABLE  # select the positions of a map
    reserved_names: tuple[str, ...] = POSITION_COLUMNS  # of a map; an input column y is stored as input_y
    read_metadata_json: Callable[[Path], str | bytes] = no_metadata  # metadata of a map
    check_installed: Callable[[Path], None] = needs_no_package  # raises FileError if a package is missing
    can_be_gzipped: bool = False
