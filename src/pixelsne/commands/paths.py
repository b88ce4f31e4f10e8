"""Check the files that `embed` reads and writes, before the run starts."""

from pathlib import Path
from typing import Any

from pixelsne.choices import STARTS
from pixelsne.commands.plot import PAGES, PICTURES
from pixelsne.components import FEWEST_COMPONENTS
from pixelsne.estimator import PixelSNE
from pixelsne.files.checkpoint import prepared_path
from pixelsne.files.errors import FileError
from pixelsne.files.formats import WRITABLE
from pixelsne.files.paths import check_distinct, check_room_on_disk, file_identity
from pixelsne.files.source import Source
from pixelsne.files.write_map import check_output
from pixelsne.settings import settings_of

Options = dict[str, Any]


def check_paths(options: Options) -> None:
    """Raise FileError for an input or output that cannot be used."""
    if Path(options["input_path"]).is_dir():
        raise FileError(
            options["input_path"],
            "is a folder; give the name of a file, or add --cluster local to embed all its files",
        )
    reads, writes = paths_read(options), paths_written(options)
    check_distinct(reads, writes)
    check_output(options["output"], (), tuple(WRITABLE))
    if options["picture"]:
        check_output(options["picture"], (), PICTURES)
    if options["html"]:
        check_output(options["html"], (), PAGES)
    for name in writes.keys() - {"-o", "--plot", "--html"}:
        check_output(writes[name], ())
    check_checkpoint(options)


def paths_read(options: Options) -> dict[str, Path]:
    """Return the input files by the option that names them."""
    reads = {"INPUT": Path(options["input_path"])}
    if options["init"] not in {None, *STARTS}:
        reads["--init"] = Path(options["init"])
    checkpoint, resumed = options["checkpoint"], options["resume"]
    if checkpoint and resumed and file_identity(Path(checkpoint)) != file_identity(Path(resumed)):
        reads |= {"--resume": Path(resumed), "--resume (.prepared)": prepared_path(Path(resumed))}
    return reads


def paths_written(options: Options) -> dict[str, Path]:
    """Return the output files by the option that names them. A resumed run also writes its checkpoint."""
    names = {"-o": "output", "--plot": "picture", "--html": "html", "--model": "model_path"}
    writes = {option: Path(options[name]) for option, name in names.items() if options[name]}
    if checkpoint := options["checkpoint"] or options["resume"]:
        writes |= {"--checkpoint": Path(checkpoint), "--checkpoint (.prepared)": prepared_path(Path(checkpoint))}
    return writes


def check_checkpoint(options: Options) -> None:
    """Raise FileError if --resume does not exist, or if --checkpoint would overwrite another checkpoint."""
    checkpoint, resumed = options["checkpoint"], options["resume"]
    is_same = bool(checkpoint and resumed) and file_identity(Path(checkpoint)) == file_identity(Path(resumed))
    if resumed and not Path(resumed).exists() and not is_same:
        raise FileError(resumed, "no such checkpoint")
    if checkpoint and not is_same and Path(checkpoint).exists():
        raise FileError(checkpoint, f"exists: continue from it with --resume {checkpoint}, or delete it")


def check_disk(options: Options, model: PixelSNE, source: Source) -> None:
    """Raise FileError if the disk lacks space for the outputs, by a lower bound on the size of each."""
    rows, columns = source.values.shape
    settings = settings_of(model, init="random")
    fewest = FEWEST_COMPONENTS if settings.n_pca == "auto" else settings.n_pca or columns
    points = 4 * rows * min(columns, fewest)
    lower_bounds = {
        "-o": 8 * rows,
        "--model": 8 * rows + points,
        "--checkpoint": 32 * rows,
        "--checkpoint (.prepared)": points,
    }
    check_room_on_disk({path: lower_bounds.get(name, 0) for name, path in paths_written(options).items()})
