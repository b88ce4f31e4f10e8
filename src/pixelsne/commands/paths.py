"""Check the files that `embed` reads and writes, before the run starts."""

from pathlib import Path

from pixelsne.choices import INITS
from pixelsne.commands.options import EmbedFiles
from pixelsne.commands.plot import PAGES, PICTURES
from pixelsne.components import MIN_COMPONENTS
from pixelsne.estimator import PixelSNE
from pixelsne.files.checkpoint import prepared_path
from pixelsne.files.errors import FileError
from pixelsne.files.formats import WRITABLE
from pixelsne.files.paths import check_disk_space, check_distinct, file_identity
from pixelsne.files.source import Source
from pixelsne.files.write_map import check_output
from pixelsne.film_formats import check_film
from pixelsne.settings import PLACEHOLDER_INIT, settings_of


def check_paths(files: EmbedFiles, init: str | None) -> None:
    """Raise FileError for an input or output that cannot be used."""
    if Path(files.input_path).is_dir():
        raise FileError(
            files.input_path,
            "is a folder; give the name of a file, or add --cluster local to embed all its files",
        )
    reads, writes = paths_read(files, init), paths_written(files)
    check_distinct(reads, writes)
    if files.output:
        check_output(files.output, (), tuple(WRITABLE))
    if files.picture:
        check_output(files.picture, (), PICTURES)
    if files.html:
        check_output(files.html, (), PAGES)
    if files.film:
        check_film(files.film)
    for name in writes.keys() - {"-o", "--plot", "--html", "--film"}:
        check_output(writes[name], ())
    check_checkpoint(files)


def paths_read(files: EmbedFiles, init: str | None) -> dict[str, Path]:
    """Return the input files by the option that names them."""
    reads = {"INPUT": Path(files.input_path)}
    if init is not None and init not in INITS:
        reads["--init"] = Path(init)
    checkpoint, resumed = files.checkpoint, files.resume
    if checkpoint and resumed and file_identity(Path(checkpoint)) != file_identity(Path(resumed)):
        reads |= {"--resume": Path(resumed), "--resume (.prepared)": prepared_path(Path(resumed))}
    return reads


def paths_written(files: EmbedFiles) -> dict[str, Path]:
    """Return the output files by the option that names them. A resumed run also writes its checkpoint."""
    names = {"-o": "output", "--plot": "picture", "--html": "html", "--film": "film", "--model": "model_path"}
    writes = {option: Path(path) for option, name in names.items() if (path := getattr(files, name))}
    if checkpoint := files.checkpoint or files.resume:
        writes |= {"--checkpoint": Path(checkpoint), "--checkpoint (.prepared)": prepared_path(Path(checkpoint))}
    return writes


def check_checkpoint(files: EmbedFiles) -> None:
    """Raise FileError if --resume does not exist, or if --checkpoint would overwrite another checkpoint."""
    checkpoint, resumed = files.checkpoint, files.resume
    is_same = checkpoint and resumed and file_identity(Path(checkpoint)) == file_identity(Path(resumed))
    if resumed and not Path(resumed).exists() and not is_same:
        raise FileError(resumed, "no such checkpoint")
    if checkpoint and not is_same and Path(checkpoint).exists():
        raise FileError(checkpoint, f"exists: continue from it with --resume {checkpoint}, or delete it")


def check_disk(files: EmbedFiles, model: PixelSNE, source: Source) -> None:
    """Raise FileError if the disk lacks space for the outputs, by a lower bound on the size of each."""
    rows, columns = source.values.shape
    settings = settings_of(model, **PLACEHOLDER_INIT)
    fewest = MIN_COMPONENTS if settings.n_pca == "auto" else settings.n_pca or columns
    points = 4 * rows * min(columns, fewest)
    lower_bounds = {
        "-o": 8 * rows,
        "--model": 8 * rows + points,
        "--checkpoint": 32 * rows,
        "--checkpoint (.prepared)": points,
    }
    check_disk_space({path: lower_bounds.get(name, 0) for name, path in paths_written(files).items()})
