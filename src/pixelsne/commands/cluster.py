"""`pixelsne embed --cluster`: compute the map of many files on a Dask cluster, in one output file per input file."""

import json
from contextlib import ExitStack, suppress
from importlib.util import find_spec
from pathlib import Path, PurePath
from typing import Any

import click
from click.core import ParameterSource

from pixelsne import __version__
from pixelsne.choices import INITS
from pixelsne.commands.embed import Clock, run_fit
from pixelsne.commands.fitting import make_model, names_of
from pixelsne.commands.interrupts import Signals, Stopped
from pixelsne.commands.options import EmbedOptions
from pixelsne.commands.reporter import Reporter
from pixelsne.distributed import DistributedRun, start_files
from pixelsne.distributed.checkpoint import has_run
from pixelsne.distributed.files import expand, is_remote, new_folder
from pixelsne.distributed.shared_folder import check_shared_folder
from pixelsne.distributed.task_runner import connect
from pixelsne.estimator import PixelSNE
from pixelsne.files.atomic_write import incomplete_folders
from pixelsne.files.errors import FileError
from pixelsne.files.model import serializable_parameters
from pixelsne.files.paths import check_distinct

# Options that need the whole map on one machine.
ONE_MACHINE_OPTIONS = {"picture": "--plot", "html": "--html", "model_path": "--model", "resume": "--resume"}

# Options that a cluster does not use, and why.
UNUSED_OPTIONS = {
    "every": "--every is for one machine: a cluster writes a checkpoint every 25 iterations",
    "names": "--names is for one machine: `plot` and `view` name the regions of the finished map",
    "jobs": "--jobs is for one machine: workers use the threads they were started with",
}


def check(options: EmbedOptions) -> None:
    """Raise UsageError or FileError for options and paths that a cluster cannot use."""
    if find_spec("distributed") is None:
        raise click.UsageError("--cluster needs Dask: pip install 'pixelsne[distributed]'")
    for name, option in ONE_MACHINE_OPTIONS.items():
        if getattr(options.files, name):
            raise click.UsageError(f"{option} needs the map on one machine: omit it, or omit --cluster")
    if options.reading.weight:
        raise click.UsageError("--weight is for one machine: omit it, or omit --cluster")
    for name, reason in UNUSED_OPTIONS.items():
        if click.get_current_context().get_parameter_source(name) is not ParameterSource.DEFAULT:
            raise click.UsageError(f"{reason}; omit it, or omit --cluster")
    if options.fitting.init not in {None, *INITS}:
        raise click.UsageError(
            f"--init {options.fitting.init} is for one machine: pass {' or '.join(INITS)}, or omit --cluster"
        )
    local = {"-o": options.files.output, "--checkpoint": options.files.checkpoint}
    check_distinct(
        {} if is_remote(options.files.input_path) else {"INPUT": Path(options.files.input_path)},
        {option: Path(path) for option, path in local.items() if path and not is_remote(path)},
    )
    if not is_remote(options.files.output) and Path(options.files.output).exists():
        raise FileError(options.files.output, "exists; with --cluster, the output must be a new folder")


def run(options: EmbedOptions, signals: Signals) -> int:
    """Compute and write the map. Return the exit code."""
    check(options)
    reporter, clock, model = options.reporter, Clock(), make_model(options.fitting)
    fit: DistributedRun | None = None
    with ExitStack() as stack:
        reporter.warnings_as_lines(stack)
        client = stack.enter_context(connect(options.cluster or "local", options.workers))
        try:
            check_folder(options, client, reporter)
            paths, fit = start(options, client, model, reporter)
            clock.mark("read")
            run_fit(fit, signals, None, reporter)
            clock.mark("fit")
            rows = write(options, fit, paths, model)
            clock.mark("write")
        except Stopped as stopped:
            reporter.warn(f"stopped{stop_message(options, stopped, fit, writing='fit' in clock.seconds)}")
            return stopped.exit_code
        if fit.folder is not None:
            fit.folder.remove()
        report(options, fit, rows, clock, reporter)
    return 0


def check_folder(options: EmbedOptions, client: Any, reporter: Reporter) -> None:
    """Check that all workers share the folder of the output, before the run starts."""
    if is_remote(options.files.output):
        return
    target = Path(options.files.output).absolute()
    target.parent.mkdir(parents=True, exist_ok=True)
    check_shared_folder(client, target.parent)
    for folder in incomplete_folders(target):
        reporter.warn(
            f"{folder}: parts of a map that was not completed; delete them unless another run is writing there"
        )


def start(options: EmbedOptions, client: Any, model: PixelSNE, reporter: Reporter) -> tuple[list[str], DistributedRun]:
    """Return the input files and a run that has not started."""
    paths = expand(options.files.input_path)
    fit = start_files(paths, client, model, options.reading, checkpoint=options.files.checkpoint)
    rows = f"{fit.partitions.rows:,} rows of {fit.partitions.columns:,} numbers{names_of(fit.partitions.names)}"
    reporter.info(f"{len(paths)} files on {fit.runner.shards} workers, {rows}")
    return paths, fit


def write(options: EmbedOptions, fit: DistributedRun, paths: list[str], model: PixelSNE) -> int:
    """Write the map. Return the number of rows."""
    metadata = {"settings": serializable_parameters(model, {}), "seed": options.fitting.seed}
    with new_folder(options.files.output) as folder:
        return fit.write(paths, options.reading, targets_of(folder, paths), metadata)


def stop_message(options: EmbedOptions, stopped: Stopped, fit: DistributedRun | None, *, writing: bool) -> str:
    """Write a last checkpoint, if possible. Return what was written and how to continue, as the end of a message."""
    output, checkpoint = options.files.output, options.files.checkpoint
    if writing and not is_remote(output) and Path(output).exists():
        return f" when the map was complete: {output}"
    saved = False
    if fit is not None and not stopped.forced:
        with suppress(Stopped):  # a second signal stops at once
            saved = fit.write_checkpoint()
    when = f" at iteration {fit.iteration}" if fit is not None and saved else ""
    written = f"{output} may hold parts of the map" if writing and is_remote(output) else "nothing written"
    if not checkpoint:
        return f"{when}, {written}; pass --checkpoint FOLDER to be able to resume"
    if not has_run(checkpoint):
        return f" before the map began to form, {written}: there is nothing to resume"
    return f"{when}, {written}; run the same command again to continue from {checkpoint}"


def targets_of(folder: str, paths: list[str]) -> list[str]:
    """Return an absolute output path for each input file, because workers may have other working directories."""
    parent = folder.rstrip("/") if is_remote(folder) else str(Path(folder).absolute())
    targets = [f"{parent}/{PurePath(path.removesuffix('.gz')).stem}.parquet" for path in paths]
    if len(set(targets)) < len(targets):
        digits = len(str(len(paths)))
        targets = [f"{parent}/part-{number:0{digits}}.parquet" for number in range(len(paths))]
    return targets


def report(options: EmbedOptions, fit: DistributedRun, rows: int, clock: Clock, reporter: Reporter) -> None:
    if not options.as_json:
        reporter.info(f"{fit.iteration} iterations, KL {fit.kl:.3f}, {clock.total():.1f} s: {options.files.output}")
        return
    result = {
        "pixelsne_version": __version__,
        "rows": rows,
        "workers": fit.runner.shards,
        "n_pca": fit.n_components,
        "iterations": fit.iteration,
        "stopped_by": fit.stopped_by,
        "kl_divergence": fit.kl,
        "timings": {**fit.timings, **clock.seconds, "total": clock.total()},
        "paths": {"map": options.files.output},
    }
    click.echo(json.dumps(result))
