"""Read the points of any supported file. The suffix of its name selects the format."""

import os
from pathlib import Path

from pixelsne.files.errors import FileError, first_line
from pixelsne.files.formats import format_of
from pixelsne.files.paths import check_special
from pixelsne.files.source import CheckMemory, ReadOptions, Source
from pixelsne.memory import check_memory_for_values


def read_points(
    path: str | os.PathLike[str],
    options: ReadOptions | None = None,
    check_memory: CheckMemory = check_memory_for_values,
) -> Source:
    """Return the points of a file. Raise FileError for unusable content, and OSError if the file cannot be opened."""
    path = Path(path)
    if path.is_dir():
        raise FileError(path, "is a folder; give the name of a file")
    format_ = format_of(path)
    check_special(path)
    with path.open("rb"):  # fail early with the operating system's error
        pass
    try:
        return format_.read_points(path, options or ReadOptions(), check_memory)
    except FileError:
        raise
    except Exception as error:  # every message must name the file
        raise FileError(path, f"cannot be read: {first_line(error)}") from error
