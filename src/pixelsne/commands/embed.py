"""`pixelsne embed`: compute the map of a file."""

import json
import time
import warnings
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

import click
import numpy as np

from pixelsne import __version__
from pixelsne.choices import SCALES, STARTS
from pixelsne.coloring import check_colors
from pixelsne.commands.interrupts import Signals, Stopped
from pixelsne.commands.paths import check_disk, check_paths
from pixelsne.commands.plot import draw, plot_style, write_page
from pixelsne.commands.reporter import Reporter
from pixelsne.commands.score import classes_of, scores
from pixelsne.comparison import Comparison, sample_rows
from pixelsne.estimator import PixelSNE
from pixelsne.files.checkpoint import Checkpoint, identity_of, resume
from pixelsne.files.errors import FileError
from pixelsne.files.maps import Map, map_metadata
from pixelsne.files.model import run_metadata
from pixelsne.files.paths import file_identity, target_of
from pixelsne.files.read_points import read_points
from pixelsne.files.source import NUMBERED, CheckMemory, ReadOptions, Source
from pixelsne.files.write_map import write_map
from pixelsne.memory import check_memory
from pixelsne.pipeline import Run
from pixelsne.plot import PlotStyle
from pixelsne.settings import FEWEST_ROWS, SCALED_METRICS, settings_of, too_few
from pixelsne.unlike_columns import describe_widths

Options = dict[str, Any]

# Options that name an output file, and the content of that file.
RESULTS = {"output": "map", "picture": "picture", "html": "page", "model_path": "model"}

# Options that are passed to the estimator unchanged, if they are set.
PARAMETERS = (
    "resolution", "perplexity", "n_neighbors", "neighbors", "repulsion", "theta", "metric", "aspect",
    "early_exaggeration", "exaggeration", "learning_rate", "max_iter", "tol",
)  # fmt: skip

# --json reports the quality of the map, measured on this many rows: seconds, where a fit takes minutes.
QUALITY_ROWS = 1000
QUALITY_NEIGHBORS = (10, 30)

NAMES_SHOWN = 6


class Clock:
    """Measures the seconds of each step of the command."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self._began = self._last = time.perf_counter()

    def mark(self, name: str) -> None:
        """Record the time since the last mark as the duration of a step."""
        now = time.perf_counter()
        self.seconds[name] = now - self._last
        self._last = now

    def total(self) -> float:
        return time.perf_counter() - self._began


def run(options: Options, signals: Signals) -> int:
    """Compute the map and write all results. Return the exit code."""
    reporter = Reporter(options["quiet"], options["progress"])
    work: Run | None = None
    checkpoint: Checkpoint | None = None
    written: list[str] | None = None
    clock = Clock()
    with ExitStack() as stack:
        reporter.warnings_as_lines(stack)
        check_paths(options)
        try:
            model = make_model(options)
            source = read(options, model, reporter)
            check_disk(options, model, source)
            clock.mark("read")
            work = model.start(source.values)
            checkpoint = open_checkpoint(options, work, source, reporter)
            clock.mark("checkpoint")
            follow(work, signals, checkpoint, reporter)
            model.finish(work)
            clock.mark("fit")
            written = []
            for path in write_results(options, model, source):
                written.append(path)
        except Stopped as stopped:
            report_stop(stopped, work, checkpoint, written, reporter)
            return stopped.exit_code
    clock.mark("write")
    if checkpoint is not None:
        checkpoint.remove()
    report(options, model, source, clock, reporter)
    return 0


def make_model(options: Options) -> PixelSNE:
    chosen = {name: options[name] for name in PARAMETERS if options[name] is not None}
    if options["scale"] in SCALES:
        chosen["scale"] = options["scale"]
    if options["n_pca"] is not None:
        chosen["n_pca"] = options["n_pca"] or None  # 0: no PCA
    if options["init"] is not None:
        chosen["init"] = options["init"] if options["init"] in STARTS else PixelSNE.load(options["init"])
    fixed = {"random_state": options["seed"], "n_jobs": options["jobs"]}
    return PixelSNE.preset(options["preset"], **chosen, **fixed) if options["preset"] else PixelSNE(**chosen, **fixed)


def read_options(options: Options) -> ReadOptions:
    return ReadOptions(options["columns"], options["label"], options["header"], options["representation"])


def read(options: Options, model: PixelSNE, reporter: Reporter) -> Source:
    """Read the input, and choose the scale of the model."""
    reporter.info(f"reading {options['input_path']}")
    source = read_points(options["input_path"], read_options(options), memory_check(model))
    if len(source) < FEWEST_ROWS:
        raise FileError(source.path, too_few(len(source)))
    if options.get("picture"):
        check_colors(label_of(options, source), options["label"] or "", options["color_as"])
    reporter.info(summary_of(source))
    if options["scale"] == "auto" and not options["preset"]:
        scale_table(model, source, reporter)
    return source


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
    return f"{embedded}; not {left_out}: identifiers (--columns embeds them)" if left_out else embedded


def names_of(columns: Sequence[str]) -> str:
    """Return the first names, as the end of a message."""
    names = ", ".join(columns[:NAMES_SHOWN]) + (", ..." if len(columns) > NAMES_SHOWN else "")
    return f": {names}" if names else ""


def memory_check(model: PixelSNE) -> CheckMemory:
    """Return a check that raises MemoryError for a table that is too large to embed, before it is read."""
    settings = settings_of(model, init="random")

    def check(rows: int, columns: int, size: int) -> None:
        if rows < FEWEST_ROWS:
            return
        with warnings.catch_warnings(action="ignore"):  # the fit warns
            work = Run(np.broadcast_to(np.float32(0), (rows, columns)), settings).workload
        check_memory(work, beside=size)

    return check


def open_checkpoint(options: Options, work: Run, source: Source, reporter: Reporter) -> Checkpoint | None:
    """Return the checkpoint to write, if any, and resume the run from an existing one."""
    path = options["checkpoint"] or options["resume"]
    if path is None:
        return None
    identity = identity_of(source.values, work.settings)
    is_resumed = options["resume"] is not None and Path(options["resume"]).exists()
    if is_resumed:
        resume(options["resume"], work, identity)
        reporter.info(f"resuming from iteration {work.descent.iteration if work.descent else 0}")
    is_same = is_resumed and file_identity(Path(path)) == file_identity(Path(options["resume"]))
    return Checkpoint(Path(path), work, identity, options["every"], prepared_exists=is_same)


def follow(work: Run, signals: Signals, checkpoint: Checkpoint | None, reporter: Reporter) -> None:
    """Run to the end, or raise Stopped after an iteration."""
    with signals.deferred(), ExitStack() as stack:
        listeners = [*([checkpoint.show] if checkpoint else []), *reporter.listeners(stack)]
        for snapshot in stack.enter_context(closing(work.snapshots())):
            for listener in listeners:
                listener(snapshot)
            signals.check()


def report_stop(
    stopped: Stopped, work: Run | None, checkpoint: Checkpoint | None, written: list[str] | None, reporter: Reporter
) -> None:
    """Report why the run stopped, and write a last checkpoint.

    written: the output files that are complete; None before the results are written.
    """
    if written is not None:
        done = f"complete: {', '.join(written)}" if written else "none is complete"
        reporter.warn(f"stopped while results were written, {done}{write_last_checkpoint(checkpoint)}")
    elif stopped.forced:
        reporter.warn("stopped at once, nothing written" + ("" if checkpoint is None else " since the last checkpoint"))
    elif checkpoint is None:
        reporter.warn("stopped, nothing written; pass --checkpoint FILE to be able to resume")
    elif resume_hint := write_last_checkpoint(checkpoint):
        reporter.warn(f"stopped at iteration {work.descent.iteration if work and work.descent else 0}{resume_hint}")
    else:
        reporter.warn("stopped before the map began to form: there is nothing to resume")


def write_last_checkpoint(checkpoint: Checkpoint | None) -> str:
    """Write a last checkpoint. Return how to resume from it, or why it failed, or "" if there is nothing to write."""
    try:
        return f"; continue with --resume {checkpoint.path}" if checkpoint is not None and checkpoint.write() else ""
    except OSError as error:
        return f"; the checkpoint could not be written: {error.filename}: {error.strerror}"


def map_of(options: Options, model: PixelSNE, source: Source) -> Map:
    metadata = map_metadata(source, read_options(options), model.screen_, seed=options["seed"], **run_metadata(model))
    return Map(model.embedding_, model.screen_.resolution, source.extra_columns, metadata, source.path)


def write_results(options: Options, model: PixelSNE, source: Source) -> Iterator[str]:
    """Write all results; yield the path of each once it is complete."""
    map_ = map_of(options, model, source)
    if options["output"]:
        write_map(options["output"], map_)  # first, so that later failures do not lose the map
        yield options["output"]
    if options["model_path"]:
        store_column_names(model, source)
        target_of(Path(options["model_path"])).parent.mkdir(parents=True, exist_ok=True)
        model.save(options["model_path"])
        yield options["model_path"]
    if options["html"]:
        write_page(options["html"], map_, source.path.name, None, PlotStyle(dark=options["dark"]))
        yield options["html"]
    if options["picture"]:
        column, style = label_of(options, source), plot_style(options, label=True)
        draw(options["picture"], model.pixels_, map_.resolution, column, options["label"] or "", style)
        yield options["picture"]


def label_of(options: Options, source: Source) -> Any:
    """Return the column of the label, or None if there is no label."""
    return (
        None
        if options["label"] is None or source.extra_columns is None
        else source.extra_columns.column(options["label"])
    )


def store_column_names(model: PixelSNE, source: Source) -> None:
    """Store the column names in the model, so that `transform` reads the same columns."""
    if len(source.columns) == model.n_features_in_:
        model.feature_names_in_ = np.array(source.columns, dtype=object)


def report(options: Options, model: PixelSNE, source: Source, clock: Clock, reporter: Reporter) -> None:
    """Print the result, as JSON if requested."""
    paths = {name: options[option] for option, name in RESULTS.items()}
    if not options["as_json"]:
        written = ", ".join(path for path in paths.values() if path)
        done = f"{model.n_iter_} iterations, KL {model.kl_divergence_:.3f}, {clock.total():.1f} s: {written}"
        is_reduced = model.n_pca_ is not None and model.n_pca_ < source.values.shape[1]
        reporter.info((f"{model.n_pca_} of {source.values.shape[1]:,} dimensions kept, " if is_reduced else "") + done)
        return
    quality = measure_quality(options, model, source)
    clock.mark("quality")
    result = {
        "pixelsne_version": __version__,
        "rows": len(source),
        "columns": int(source.values.shape[1]),
        "seed": options["seed"],
        **run_metadata(model),
        "quality": quality,
        "timings": {**model.timings_, **clock.seconds, "total": clock.total()},
        "paths": paths,
    }
    click.echo(json.dumps(result))


def measure_quality(options: Options, model: PixelSNE, source: Source) -> dict[str, Any] | None:
    """Return the quality of the map on a sample of rows, or None for affinities, which have no distances."""
    rows = sample_rows(len(source), QUALITY_ROWS, QUALITY_ROWS, options["seed"])
    counts = tuple(k for k in QUALITY_NEIGHBORS if k < len(source))
    if not counts or model.metric == "affinities":
        return None
    classes = classes_of(label_of(options, source))
    return scores(Comparison.of(source.values, model.embedding_, rows, max(counts), model, classes), counts)
