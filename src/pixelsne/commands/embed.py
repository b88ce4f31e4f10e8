"""`pixelsne embed`: from a file to a map."""

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
from pixelsne.commands.score import scores
from pixelsne.estimator import PixelSNE
from pixelsne.files.checkpoint import Checkpoint, identity_of, resume
from pixelsne.files.errors import FileError
from pixelsne.files.model import run_metadata
from pixelsne.files.paths import file_identity, target_of
from pixelsne.files.read_points import read_points
from pixelsne.files.source import NUMBERED, CheckMemory, ReadOptions, Source
from pixelsne.files.write_embedding import Map, map_metadata, write_map
from pixelsne.memory import check_memory
from pixelsne.neighborhoods import Neighborhoods, sample_rows
from pixelsne.pipeline import Run
from pixelsne.plot import PlotStyle
from pixelsne.settings import FEWEST_ROWS, SCALED_METRICS, settings_of, too_few
from pixelsne.unlike_columns import describe_widths

Given = dict[str, Any]

# Options that name a file to write, and what is in it.
RESULTS = {"output": "map", "picture": "picture", "html": "page", "model_path": "model"}

# Options that go to the estimator as they are, where they were given.
PARAMETERS = (
    "resolution", "perplexity", "n_neighbors", "neighbors", "repulsion", "theta", "metric", "aspect",
    "early_exaggeration", "exaggeration", "learning_rate", "max_iter", "tol",
)  # fmt: skip

# --json tells how good the map is, by so many rows, which take seconds of minutes.
ROWS_JUDGED = 1000
COUNTS_JUDGED = (10, 30)

NAMES_TOLD = 6


class Clock:
    """Seconds by what was done, beside the fit's own stages."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self._began = self._last = time.perf_counter()

    def mark(self, name: str) -> None:
        now = time.perf_counter()
        self.seconds[name] = now - self._last
        self._last = now

    def total(self) -> float:
        return time.perf_counter() - self._began


def run(given: Given, signals: Signals) -> int:
    """The exit code."""
    reporter = Reporter(given["quiet"], given["progress"])
    work: Run | None = None
    checkpoint: Checkpoint | None = None
    written: list[str] | None = None
    clock = Clock()
    with ExitStack() as stack:
        reporter.warnings_as_lines(stack)
        check_paths(given)
        try:
            model = make_model(given)
            source = read(given, model, reporter)
            check_disk(given, model, source)
            clock.mark("read")
            work = model.start(source.values)
            checkpoint = open_checkpoint(given, work, source, reporter)
            clock.mark("checkpoint")
            follow(work, signals, checkpoint, reporter)
            model.finish(work)
            clock.mark("fit")
            written = []
            for path in write_results(given, model, source):
                written.append(path)
        except Stopped as stopped:
            give_up(stopped, work, checkpoint, written, reporter)
            return stopped.exit_code
    clock.mark("write")
    if checkpoint is not None:
        checkpoint.remove()
    report(given, model, source, clock, reporter)
    return 0


def make_model(given: Given) -> PixelSNE:
    chosen = {name: given[name] for name in PARAMETERS if given[name] is not None}
    if given["scale"] in SCALES:
        chosen["scale"] = given["scale"]
    if given["n_pca"] is not None:
        chosen["n_pca"] = given["n_pca"] or None  # 0: never
    if given["init"] is not None:
        chosen["init"] = given["init"] if given["init"] in STARTS else PixelSNE.load(given["init"])
    fixed = {"random_state": given["seed"], "n_jobs": given["jobs"]}
    return PixelSNE.preset(given["preset"], **chosen, **fixed) if given["preset"] else PixelSNE(**chosen, **fixed)


def read_options(given: Given) -> ReadOptions:
    return ReadOptions(given["columns"], given["label"], given["header"], given["representation"])


def read(given: Given, model: PixelSNE, reporter: Reporter) -> Source:
    reporter.info(f"reading {given['input_path']}")
    source = read_points(given["input_path"], read_options(given), room_for_a_fit(model))
    if len(source) < FEWEST_ROWS:
        raise FileError(source.path, too_few(len(source)))
    if given.get("picture"):
        check_colors(label_of(given, source), given["label"] or "", given["color_as"])
    reporter.info(summary_of(source))
    if given["scale"] == "auto" and not given["preset"]:
        scale_table(model, source, reporter)
    return source


def scale_table(model: PixelSNE, source: Source, reporter: Reporter) -> None:
    """Scale the columns of a table with names, if these are of unlike units."""
    has_names = source.columns and source.columns[0] != NUMBERED.format(0)
    if has_names and model.metric in SCALED_METRICS and (widths := describe_widths(source.values, source.columns)):
        model.set_params(scale="standard")
        reporter.info(
            f"columns are scaled, since they deviate by very different amounts ({widths}); --scale none does not"
        )


def summary_of(source: Source) -> str:
    """Say which columns are embedded, and which are left out although they hold numbers."""
    embedded = f"{len(source):,} rows of {source.values.shape[1]:,} numbers{names_of(source.columns)}"
    left_out = ", ".join(source.identifiers)
    return f"{embedded}; not {left_out}: identifiers (--columns embeds them)" if left_out else embedded


def names_of(columns: Sequence[str]) -> str:
    names = ", ".join(columns[:NAMES_TOLD]) + (", ..." if len(columns) > NAMES_TOLD else "")
    return f": {names}" if names else ""


def room_for_a_fit(model: PixelSNE) -> CheckMemory:
    """Refuses what could be read, but not embedded: before it is read."""

    settings = settings_of(model, init="random")

    def check(rows: int, columns: int, size: int) -> None:
        if rows < FEWEST_ROWS:
            return
        with warnings.catch_warnings(action="ignore"):  # the fit itself will tell
            work = Run(np.broadcast_to(np.float32(0), (rows, columns)), settings).workload
        check_memory(work, beside=size)

    return check


def open_checkpoint(given: Given, work: Run, source: Source, reporter: Reporter) -> Checkpoint | None:
    """Where the work is kept, and the run brought to where one was that was kept before."""
    path = given["checkpoint"] or given["resume"]
    if path is None:
        return None
    identity = identity_of(source.values, work.settings)
    resumed = given["resume"] is not None and Path(given["resume"]).exists()
    if resumed:
        resume(given["resume"], work, identity)
        reporter.info(f"going on from iteration {work.descent.iteration if work.descent else 0}")
    same = resumed and file_identity(Path(path)) == file_identity(Path(given["resume"]))
    return Checkpoint(Path(path), work, identity, given["every"], prepared_exists=same)


def follow(work: Run, signals: Signals, checkpoint: Checkpoint | None, reporter: Reporter) -> None:
    """To the end; Stopped comes between two iterations."""
    with signals.patiently(), ExitStack() as stack:
        listeners = [*([checkpoint.show] if checkpoint else []), *reporter.listeners(stack)]
        for snapshot in stack.enter_context(closing(work.snapshots())):
            for listener in listeners:
                listener(snapshot)
            signals.check()


def give_up(
    stopped: Stopped, work: Run | None, checkpoint: Checkpoint | None, written: list[str] | None, reporter: Reporter
) -> None:
    """written: the results that are complete; None before there are any to write."""
    if written is not None:
        done = f"complete: {', '.join(written)}" if written else "none is half done"
        reporter.warn(f"stopped while results were written, {done}{keep(checkpoint)}")
    elif stopped.hurried:
        reporter.warn("stopped at once, nothing written" + ("" if checkpoint is None else " since the last checkpoint"))
    elif checkpoint is None:
        reporter.warn("stopped, nothing written; --checkpoint FILE keeps the work next time")
    elif told := keep(checkpoint):
        reporter.warn(f"stopped at iteration {work.descent.iteration if work and work.descent else 0}{told}")
    else:
        reporter.warn("stopped before the map began to form: there is nothing to keep yet")


def keep(checkpoint: Checkpoint | None) -> str:
    """Writes a last checkpoint; how to go on from it, or why there is none, or nothing if there is nothing to keep."""
    try:
        return f"; go on with --resume {checkpoint.path}" if checkpoint is not None and checkpoint.write() else ""
    except OSError as error:
        return f"; the checkpoint could not be written: {error.filename}: {error.strerror}"


def map_of(given: Given, model: PixelSNE, source: Source) -> Map:
    metadata = map_metadata(source, read_options(given), model.screen_, seed=given["seed"], **run_metadata(model))
    return Map(model.embedding_, model.screen_.resolution, source.extra_columns, metadata, source.path)


def write_results(given: Given, model: PixelSNE, source: Source) -> Iterator[str]:
    """One after the other; the name of each once it is complete."""
    made = map_of(given, model, source)
    if given["output"]:
        write_map(given["output"], made)  # first: whatever else may fail, the work is not lost
        yield given["output"]
    if given["model_path"]:
        remember_names(model, source)
        target_of(Path(given["model_path"])).parent.mkdir(parents=True, exist_ok=True)
        model.save(given["model_path"])
        yield given["model_path"]
    if given["html"]:
        write_page(given["html"], made, source.path.name, None, PlotStyle(dark=given["dark"]))
        yield given["html"]
    if given["picture"]:
        column, style = label_of(given, source), plot_style(given, label=True)
        draw(given["picture"], model.pixels_, made.resolution, column, given["label"] or "", style)
        yield given["picture"]


def label_of(given: Given, source: Source) -> Any:
    """Its column, or None."""
    return (
        None if given["label"] is None or source.extra_columns is None else source.extra_columns.column(given["label"])
    )


def remember_names(model: PixelSNE, source: Source) -> None:
    """So that `transform` takes the same columns of new rows."""
    if len(source.columns) == model.n_features_in_:
        model.feature_names_in_ = np.array(source.columns, dtype=object)


def report(given: Given, model: PixelSNE, source: Source, clock: Clock, reporter: Reporter) -> None:
    paths = {name: given[option] for option, name in RESULTS.items()}
    if not given["as_json"]:
        written = ", ".join(path for path in paths.values() if path)
        done = f"{model.n_iter_} iterations, KL {model.kl_divergence_:.3f}, {clock.total():.1f} s: {written}"
        is_reduced = model.n_pca_ is not None and model.n_pca_ < source.values.shape[1]
        reporter.info((f"{model.n_pca_} of {source.values.shape[1]:,} dimensions kept, " if is_reduced else "") + done)
        return
    quality = judge(given, model, source)
    clock.mark("quality")
    result = {
        "pixelsne_version": __version__,
        "rows": len(source),
        "columns": int(source.values.shape[1]),
        "seed": given["seed"],
        **run_metadata(model),
        "quality": quality,
        "timings": {**model.timings_, **clock.seconds, "total": clock.total()},
        "paths": paths,
    }
    click.echo(json.dumps(result))


def judge(given: Given, model: PixelSNE, source: Source) -> dict[str, Any] | None:
    """By a sample; `pixelsne score` takes its time. None where rows tell of affinities, not of distances."""
    rows = sample_rows(len(source), ROWS_JUDGED, ROWS_JUDGED, given["seed"])
    counts = tuple(k for k in COUNTS_JUDGED if k < len(source))
    if not counts or model.metric == "affinities":
        return None
    near = Neighborhoods.of(source.values, model.embedding_, rows, max(counts), model)
    return scores(near, counts, label_of(given, source))
