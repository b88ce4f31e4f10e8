"""The files that `embed` reads and writes, checked before any work is done."""

from pathlib import Path
from typing import Any

from pixelsne.choices import STARTS
from pixelsne.commands.plot import PAGES, PICTURES
from pixelsne.components import FEWEST_COMPONENTS
from pixelsne.estimator import PixelSNE
from pixelsne.files.checkpoint import prepared_path
from pixelsne.files.errors import FileError
from pixelsne.files.paths import check_distinct, check_room_on_disk, file_identity
from pixelsne.files.source import Source
from pixelsne.files.write_embedding import WRITERS, check_output
from pixelsne.settings import settings_of

Given = dict[str, Any]


def check_paths(given: Given) -> None:
    """Before any work is done."""
    if Path(given["input_path"]).is_dir():
        raise FileError(
            given["input_path"], "is a folder; give the name of a file, or --cluster local to take all in it"
        )
    reads, writes = paths_read(given), paths_written(given)
    check_distinct(reads, writes)
    check_output(given["output"], (), tuple(WRITERS))
    if given["picture"]:
        check_output(given["picture"], (), PICTURES)
    if given["html"]:
        check_output(given["html"], (), PAGES)
    for name in writes.keys() - {"-o", "--plot", "--html"}:
        check_output(writes[name], ())
    check_checkpoint(given)


def paths_read(given: Given) -> dict[str, Path]:
    """By the option that names them."""
    reads = {"INPUT": Path(given["input_path"])}
    if given["init"] not in {None, *STARTS}:
        reads["--init"] = Path(given["init"])
    kept, resumed = given["checkpoint"], given["resume"]
    if kept and resumed and file_identity(Path(kept)) != file_identity(Path(resumed)):
        reads |= {"--resume": Path(resumed), "--resume (.prepared)": prepared_path(Path(resumed))}
    return reads


def paths_written(given: Given) -> dict[str, Path]:
    """By the option that names them. A run that goes on keeps writing to its checkpoint."""
    options = {"-o": "output", "--plot": "picture", "--html": "html", "--model": "model_path"}
    writes = {option: Path(given[name]) for option, name in options.items() if given[name]}
    if kept := given["checkpoint"] or given["resume"]:
        writes |= {"--checkpoint": Path(kept), "--checkpoint (.prepared)": prepared_path(Path(kept))}
    return writes


def check_checkpoint(given: Given) -> None:
    """Work that was kept is not written over by accident."""
    path, other = given["checkpoint"], given["resume"]
    same = bool(path and other) and file_identity(Path(path)) == file_identity(Path(other))
    if other and not Path(other).exists() and not same:
        raise FileError(other, "no such checkpoint")
    if path and not same and Path(path).exists():
        raise FileError(path, f"exists: go on from it with --resume {path}, or delete it")


def check_disk(given: Given, model: PixelSNE, source: Source) -> None:
    """Whether there is room for what will be written, by the least that each file takes."""
    rows, columns = source.values.shape
    settings = settings_of(model, init="random")
    fewest = FEWEST_COMPONENTS if settings.n_pca == "auto" else settings.n_pca or columns
    points = 4 * rows * min(columns, fewest)
    least = {
        "-o": 8 * rows,
        "--model": 8 * rows + points,
        "--checkpoint": 32 * rows,
        "--checkpoint (.prepared)": points,
    }
    check_room_on_disk({path: least.get(name, 0) for name, path in paths_written(given).items()})
