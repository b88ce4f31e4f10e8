"""Read the points of any supported file. The suffix of its name selects the reader."""

import os
from collections.abc import Callable
from importlib import import_module
from pathlib import Path

from pixelsne.files.errors import FileError, first_line
from pixelsne.files.paths import check_special
from pixelsne.files.source import CheckMemory, ReadOptions, Source
from pixelsne.memory import check_room_for_values

Reader = Callable[[Path, ReadOptions, CheckMemory], Source]

# Reader of each kind. Its module is imported on use: importing Arrow alone would delay every help text.
READERS = {
    ".csv": "read_csv.read_csv",
    ".tsv": "read_csv.read_csv",
    ".txt": "read_csv.read_csv",
    ".parquet": "read_arrow.read_parquet",
    ".pq": "read_arrow.read_parquet",
    ".feather": "read_arrow.read_feather",
    ".arrow": "read_arrow.read_feather",
    ".npy": "read_arrays.read_npy",
    ".npz": "read_arrays.read_npz",
    ".h5ad": "read_h5ad.read_h5ad",
}
GZIPPABLE = (".csv", ".tsv", ".txt")


def kind_of(path: Path) -> str:
    """Return the suffix that selects the reader: .csv for a.csv.gz. Raise FileError for an unknown suffix."""
    gzipped = path.suffix.lower() == ".gz"
    kind = Path(path.stem).suffix.lower() if gzipped else path.suffix.lower()
    if kind not in READERS or (gzipped and kind not in GZIPPABLE):
        raise FileError(path, f"is of an unknown kind; known are {', '.join(READERS)}, and .csv.gz, .tsv.gz")
    return kind


def read_points(
    path: str | os.PathLike[str], options: ReadOptions | None = None, check_memory: CheckMemory = check_room_for_values
) -> Source:
    """Return the points of a file. Raise FileError for unusable content, and OSError if the file cannot be opened."""
    path = Path(path)
    if path.is_dir():
        raise FileError(path, "is a folder; give the name of a file")
    module, name = READERS[kind_of(path)].split(".")
    check_special(path)
    with path.open("rb"):  # fail early with the operating system's error
        pass
    read: Reader = getattr(import_module(f"pixelsne.files.{module}"), name)
    try:
        return read(path, options or ReadOptions(), check_memory)
    except FileError:
        raise
    except Exception as error:  # every message must name the file
        raise FileError(path, f"cannot be read: {first_line(error)}") from error
