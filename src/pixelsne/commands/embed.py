"""`pixelsne embed`: compute the map of a file."""

import json
import time
from contextlib import ExitStack, closing
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pixelsne import __version__
from pixelsne.coloring import check_colors
from pixelsne.commands.fitting import make_model, read_input, weights_of
from pixelsne.commands.interrupts import Signals, Stopped
from pixelsne.commands.options import EmbedOptions
from pixelsne.commands.paths import check_disk, check_paths
from pixelsne.commands.reporter import Reporter
from pixelsne.commands.results import check_names, make_recorder, map_of, write_film, write_results
from pixelsne.commands.score import classes_of, scores
from pixelsne.comparison import Comparison, sample_rows
from pixelsne.estimator import PixelSNE
from pixelsne.files.checkpoint import Checkpoint, identity_of, resume
from pixelsne.files.maps import Map
from pixelsne.files.model import run_metadata
from pixelsne.files.paths import file_identity
from pixelsne.files.source import Source
from pixelsne.film import Recorder
from pixelsne.pipeline import Run

if TYPE_CHECKING:
    from collections.abc import Callable

    from pixelsne.descent_loop import Snapshot
    from pixelsne.distributed import DistributedRun

# Options that name an output file, and the content of that file.
RESULTS = {"output": "map", "picture": "picture", "html": "page", "model_path": "model", "film": "film"}

# --json reports the quality of the map, measured on this many rows: seconds, where a fit takes minutes.
QUALITY_ROWS = 1000
QUALITY_NEIGHBORS = (10, 30)


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


def run(options: EmbedOptions, signals: Signals) -> int:
    """Compute the map and write all results. Return the exit code."""
    files, reporter = options.files, options.reporter
    fit: Run | None = None
    checkpoint: Checkpoint | None = None
    written: list[str] | None = None
    clock = Clock()
    with ExitStack() as stack:
        reporter.warnings_as_lines(stack)
        check_paths(files, options.fitting.init)
        try:
            model = make_model(options.fitting)
            source = read_checked(options, model)
            clock.mark("read")
            fit = model.make_run(source.values, weights=weights_of(source, options.reading.weight))
            checkpoint = open_checkpoint(options, fit, source)
            clock.mark("checkpoint")
            recorder = make_recorder(files, fit)
            run_fit(fit, signals, checkpoint, reporter, recorder)
            model.set_results(fit)
            clock.mark("fit")
            written = []
            map_ = map_of(model, source, options.reading, options.fitting.seed, reporter, options.names)
            clock.mark("regions")
            write_all(options, map_, model, source, recorder, written)
        except Stopped as stopped:
            report_stop(stopped, fit, checkpoint, written, reporter)
            return stopped.exit_code
    clock.mark("write")
    if checkpoint is not None:
        checkpoint.remove()
    report(options, model, source, clock)
    return 0


def read_checked(options: EmbedOptions, model: PixelSNE) -> Source:
    """Read the input, and check that its label can be drawn, that regions can be named, and that results fit."""
    source = read_input(options.files.input_path, options.reading, options.fitting, model, options.reporter)
    check_names(source, options.names)
    if options.files.picture or options.files.film:
        label = options.reading.label
        check_colors(source.column(label), label or "", options.drawing.color_as)
    check_disk(options.files, model, source)
    return source


def write_all(
    options: EmbedOptions, map_: Map, model: PixelSNE, source: Source, recorder: Recorder | None, written: list[str]
) -> None:
    """Write all results. Add the path of each to `written` once it is complete."""
    results = write_results(options.files, map_, model, source, options.reading.label, options.drawing)
    for path in chain(results, write_film(recorder, map_, model, options)):
        written.append(path)  # noqa: PERF402 - a Stopped between two files must leave the complete ones in the list


def open_checkpoint(options: EmbedOptions, fit: Run, source: Source) -> Checkpoint | None:
    """Return the checkpoint to write, if any, and resume the run from an existing one."""
    resumed = options.files.resume
    path = options.files.checkpoint or resumed
    if path is None:
        return None
    identity = identity_of(source.values, fit.settings, fixed=fit.fixed, weights=fit.weights)
    is_same = False
    if resumed is not None and Path(resumed).exists():
        resume(resumed, fit, identity)
        options.reporter.info(f"resuming from iteration {fit.descent.iteration if fit.descent else 0}")
        is_same = file_identity(Path(path)) == file_identity(Path(resumed))
    return Checkpoint(Path(path), fit, identity, options.every, prepared_exists=is_same)


def run_fit(
    fit: "Run | DistributedRun",
    signals: Signals,
    checkpoint: Checkpoint | None,
    reporter: Reporter,
    recorder: Recorder | None = None,
) -> None:
    """Run to the end, or raise Stopped after an iteration."""
    with signals.deferred(), ExitStack() as stack:
        recorders: list[Callable[[Snapshot], object]] = [] if recorder is None else [recorder]
        due = [checkpoint.write_if_due] if checkpoint else []
        listeners = [*recorders, *due, *reporter.listeners(stack)]
        for snapshot in stack.enter_context(closing(fit.snapshots())):
            for listener in listeners:
                listener(snapshot)
            signals.check()


def report_stop(
    stopped: Stopped, fit: Run | None, checkpoint: Checkpoint | None, written: list[str] | None, reporter: Reporter
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
        reporter.warn(f"stopped at iteration {fit.descent.iteration if fit and fit.descent else 0}{resume_hint}")
    else:
        reporter.warn("stopped before the map began to form: there is nothing to resume")


def write_last_checkpoint(checkpoint: Checkpoint | None) -> str:
    """Write a last checkpoint. Return how to resume from it, or why it failed, or "" if there is nothing to write."""
    try:
        return f"; continue with --resume {checkpoint.path}" if checkpoint is not None and checkpoint.write() else ""
    except OSError as error:
        return f"; the checkpoint could not be written: {error.filename}: {error.strerror}"


def report(options: EmbedOptions, model: PixelSNE, source: Source, clock: Clock) -> None:
    """Print the result, as JSON if requested."""
    paths = {name: getattr(options.files, option) for option, name in RESULTS.items()}
    if not options.as_json:
        written = ", ".join(path for path in paths.values() if path)
        done = f"{model.n_iter_} iterations, KL {model.kl_divergence_:.3f}, {clock.total():.1f} s: {written}"
        is_reduced = model.n_pca_ is not None and model.n_pca_ < source.values.shape[1]
        kept = f"{model.n_pca_} of {source.values.shape[1]:,} dimensions kept, " if is_reduced else ""
        options.reporter.info(kept + done)
        return
    quality = measure_quality(options, model, source)
    clock.mark("quality")
    result = {
        "pixelsne_version": __version__,
        "rows": len(source),
        "columns": int(source.values.shape[1]),
        "seed": options.fitting.seed,
        **run_metadata(model),
        "quality": quality,
        "timings": {**model.timings_, **clock.seconds, "total": clock.total()},
        "paths": paths,
    }
    click.echo(json.dumps(result))


def measure_quality(options: EmbedOptions, model: PixelSNE, source: Source) -> dict[str, Any] | None:
    """Return the quality of the map on a sample of rows, or None for affinities, which have no distances."""
    rows = sample_rows(len(source), QUALITY_ROWS, QUALITY_ROWS, options.fitting.seed)
    counts = tuple(k for k in QUALITY_NEIGHBORS if k < len(source))
    if not counts or model.metric == "affinities":
        return None
    classes = classes_of(source.column(options.reading.label))
    return scores(Comparison.of(source.values, model.embedding_, rows, max(counts), model, classes), counts)
