"""Write a map to a file that other tools can open. The suffix of its name selects the format."""

import os
from pathlib import Path
from typing import Any

from pixelsne.files.atomic_write import atomic_write
from pixelsne.files.errors import FileError
from pixelsne.files.formats import FORMATS, WRITABLE
from pixelsne.files.maps import Map
from pixelsne.files.paths import check_distinct, check_writable, target_of


def check_output(path: str | os.PathLike[str], inputs: tuple[Path, ...], kinds: tuple[str, ...] = ()) -> Path:
    """Check that an output file can be written, before the run starts: its suffix, its folder, and that it is no input.

    kinds: the allowed suffixes; any suffix is allowed if there are none.
    """
    path = Path(path)
    if path.is_dir():
        raise FileError(path, "is a folder; give the name of a file")
    if kinds and path.suffix.lower() not in kinds:
        raise FileError(path, f"is of a kind that is not written here; known are {', '.join(kinds)}")
    if path.suffix.lower() in FORMATS:
        FORMATS[path.suffix.lower()].check_installed(path)
    check_distinct({str(source): source for source in inputs}, {"the output": path})
    check_writable(path)
    return path


def write_map(path: str | os.PathLike[str], map_: Map) -> None:
    with create_file(Path(path)) as file:
        WRITABLE[Path(path).suffix.lower()](file, map_)


def create_file(path: Path) -> Any:
    """Return `atomic_write(path)`, after creating missing parent folders."""
    target_of(path).parent.mkdir(parents=True, exist_ok=True)
    return atomic_write(path)
