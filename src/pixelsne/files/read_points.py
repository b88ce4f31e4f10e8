"""Any file with points in it, by its name."""

import os
from collections.abc import Callable
from importlib import import_module
from pathlib import Path

from pixelsne.files.errors import FileError, first_words
from pixelsne.files.paths import check_special
from pixelsne.files.source import CheckRoom, ReadOptions, Source
from pixelsne.memory import check_room_for_values

Reader = Callable[[Path, ReadOptions, CheckRoom], Source]

# Where each kind is read. Modules are imported when they are needed: Arrow alone takes longer than a help text may.
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
ZIPPED = (".csv", ".tsv", ".txt")


def kind_of(path: Path) -> str:
    """The suffix that tells the kind: .csv of a.csv.gz. FileError for those nobody here reads."""
    zipped = path.suffix.lower() == ".gz"
    kind = Path(path.stem).suffix.lower() if zipped else path.suffix.lower()
    if kind not in READERS or (zipped and kind not in ZIPPED):
        raise FileError(path, f"is of an unknown kind; known are {', '.join(READERS)}, and .csv.gz, .tsv.gz")
    return kind


def read_points(
    path: str | os.PathLike[str], wanted: ReadOptions | None = None, check_room: CheckRoom = check_room_for_values
) -> Source:
    """FileError for a file that is not what it should be; OSError for one that cannot be opened."""
    path = Path(path)
    if path.is_dir():
        raise FileError(path, "is a folder; give the name of a file")
    module, name = READERS[kind_of(path)].split(".")
    check_special(path)
    with path.open("rb"):  # whoever cannot, learns it from the system, and all that follows is the file's own fault
        pass
    read: Reader = getattr(import_module(f"pixelsne.files.{module}"), name)
    try:
        return read(path, wanted or ReadOptions(), check_room)
    except FileError:
        raise
    except Exception as error:  # an error without a file's name helps nobody
        raise FileError(path, f"cannot be read: {first_words(error)}") from error
