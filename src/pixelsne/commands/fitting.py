"""What the commands that fit a model share: the estimator, and the input it is fitted to."""

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from pixelsne.choices import INITS, SCALES
from pixelsne.commands.options import FitOptions
from pixelsne.commands.reporter import Reporter
from pixelsne.estimator import PixelSNE
from pixelsne.files.columns import is_number
from pixelsne.files.errors import FileError
from pixelsne.files.read_points import read_points
from pixelsne.files.source import NUMBERED, CheckMemory, ReadOptions, Source
from pixelsne.memory import check_memory
from pixelsne.pipeline import Run
from pixelsne.settings import MIN_ROWS, PLACEHOLDER_INIT, SCALED_METRICS, settings_of, too_few
from pixelsne.unlike_columns import describe_widths
from pixelsne.weights import Float64s

# Options that are passed to the estimator unchanged, if they are set.
PARAMETERS = (
    "resolution", "perplexity", "n_neighbors", "neighbors", "repulsion", "theta", "metric", "aspect",
    "early_exaggeration", "exaggeration", "learning_rate", "max_iter", "tol",
)  # fmt: skip

NAMES_SHOWN = 6


def make_model(options: FitOptions) -> PixelSNE:
    """Return an estimator with the parameters that the user has set."""
    chosen: dict[str, Any] = {name: value for name in PARAMETERS if (value := getattr(options, name)) is not None}
    if options.scale in SCALES:
        chosen["scale"] = options.scale
    if options.n_pca is not None:
        chosen["n_pca"] = options.n_pca or None  # 0: no PCA
    if options.init is not None:
        chosen["init"] = options.init if options.init in INITS else PixelSNE.load(options.init)
    if options.init_scale is not None:
        chosen["init_scale"] = None if options.init_scale == "none" else options.init_scale
    chosen |= {"random_state": options.seed, "n_jobs": options.jobs}
    return PixelSNE.preset(options.preset, **chosen) if options.preset else PixelSNE(**chosen)


def read_input(path: str, reading: ReadOptions, fitting: FitOptions, model: PixelSNE, reporter: Reporter) -> Source:
    """Read the input, and choose the scale of the model."""
    reporter.info(f"reading {path}")
    source = read_points(path, reading, memory_check(model))
    if len(source) < MIN_ROWS:
        raise FileError(source.path, too_few(len(source)))
    reporter.info(summary_of(source))
    if fitting.scale == "auto" and not fitting.preset:
        scale_table(model, source, reporter)
    return source


def weights_of(source: Source, name: str | None) -> Float64s | None:
    """Return the weights of the rows, from the column of that name; None without a name."""
    column = source.column(name)
    if column is None:
        return None
    if not (is_number(column.type) or pa.types.is_boolean(column.type)):
        raise FileError(
            source.path, f"column {name!r} holds {column.type}, not numbers; choose another column with --weight"
        )
    numbers: Float64s = column.cast(pa.float64(), safe=False).to_numpy()  # nulls become NaN
    wrong = ~(np.isfinite(numbers) & (numbers >= 0))
    if wrong.any():
        row = int(wrong.argmax())
        value = "no value" if np.isnan(numbers[row]) else f"{numbers[row]:g}"
        raise FileError(
            source.path,
            f"column {name!r}, row {row + 1}: {value} is not a weight, which must be 0 or more; correct it or remove "
            "the row",
        )
    if not numbers.any():
        raise FileError(source.path, f"column {name!r} holds only zeros; some weights must be above 0; omit --weight")
    return numbers


def scale_table(model: PixelSNE, source: Source, reporter: Reporter) -> None:
    """Scale the columns of a table with column names, if their spreads differ widely."""
    has_names = source.columns and source.columns[0] != NUMBERED.format(0)
    if has_names and model.metric in SCALED_METRICS and (widths := describe_widths(source.values, source.columns)):
        model.set_params(scale="standard")
        reporter.info(
            f"columns are scaled, because their standard deviations differ widely ({widths}); --scale none prevents it"
        )


def summary_of(source: Source) -> str:
    """Return which columns are embedded, and which numeric columns are not."""
    embedded = f"{len(source):,} rows of {source.values.shape[1]:,} numbers{names_of(source.columns)}"
    left_out = ", ".join(source.identifiers)
    if not left_out:
        return embedded
    return f"{embedded}; not embedded, because they are identifiers: {left_out} (choose them with --columns)"


def names_of(columns: Sequence[str]) -> str:
    """Return the first names, as the end of a message."""
    names = ", ".join(columns[:NAMES_SHOWN]) + (", ..." if len(columns) > NAMES_SHOWN else "")
    return f": {names}" if names else ""


def memory_check(model: PixelSNE) -> CheckMemory:
    """Return a check that raises MemoryError for a table that is too large to embed, before it is read."""
    settings = settings_of(model, **PLACEHOLDER_INIT)

    def check(rows: int, columns: int, size: int) -> None:
        if rows < MIN_ROWS:
            return
        with warnings.catch_warnings(action="ignore"):  # the fit warns
            work = Run(np.broadcast_to(np.float32(0), (rows, columns)), settings).workload
        check_memory(work, extra_bytes=size)

    return check
