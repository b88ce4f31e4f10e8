"""`pixelsne embed --cluster`: from many files to a map in as many, on a Dask cluster."""

import json
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from pathlib import Path, PurePath
from typing import Any

import click
from click.core import ParameterSource

from pixelsne import __version__
from pixelsne.choices import STARTS
from pixelsne.commands.embed import Clock, make_model, names_of, read_options
from pixelsne.commands.interrupts import Signals, Stopped
from pixelsne.commands.reporter import Reporter
from pixelsne.distributed import DistributedRun, start_files
from pixelsne.distributed.checkpoint import has_run
from pixelsne.distributed.files import expand, is_remote, new_folder
from pixelsne.distributed.shared_folder import check_shared_folder
from pixelsne.estimator import PixelSNE
from pixelsne.files.atomic_write import incomplete_folders
from pixelsne.files.errors import FileError
from pixelsne.files.model import serializable_parameters
from pixelsne.files.paths import check_distinct

Given = dict[str, Any]

# What needs the whole map in one place.
ONE_MACHINE = {"picture": "--plot", "html": "--html", "model_path": "--model", "resume": "--resume"}

# What a cluster decides otherwise.
ELSEWHERE = {
    "every": "--every is for one machine: a run on a cluster is kept every 25 iterations",
    "jobs": "--jobs is for one machine: workers have the threads they were started with",
}

SECONDS_TO_CONNECT = 30
LEAVE_INTERRUPTS = "pixelsne.distributed.ignore_interrupts"


@contextmanager
def clients(given: Given) -> Iterator[Any]:
    """Of the cluster at an address, or of one of our own that ends with the run."""
    try:
        from distributed import Client, LocalCluster  # noqa: PLC0415 - an extra
    except ImportError:
        raise click.UsageError("--cluster needs Dask: pip install 'pixelsne[distributed]'") from None
    if given["cluster"] != "local":
        try:
            client = Client(given["cluster"], timeout=SECONDS_TO_CONNECT)
        except (OSError, TimeoutError):
            raise RuntimeError(f"no scheduler answers at {given['cluster']}") from None
        with client:
            yield client
        return
    ours = LocalCluster(n_workers=given["workers"], threads_per_worker=1, preload=[LEAVE_INTERRUPTS])
    with ours as cluster, Client(cluster) as client:
        yield client


def check(given: Given) -> None:
    for name, option in ONE_MACHINE.items():
        if given[name]:
            raise click.UsageError(f"{option} needs the map in one place: leave it out, or leave out --cluster")
    for name, reason in ELSEWHERE.items():
        if click.get_current_context().get_parameter_source(name) is not ParameterSource.DEFAULT:
            raise click.UsageError(f"{reason}; leave it out, or leave out --cluster")
    if given["init"] not in {None, *STARTS}:
        raise click.UsageError(
            f"--init {given['init']} is for one machine: take {' or '.join(STARTS)}, or leave out --cluster"
        )
    local = {"-o": given["output"], "--checkpoint": given["checkpoint"]}
    check_distinct(
        {} if is_remote(given["input_path"]) else {"INPUT": Path(given["input_path"])},
        {option: Path(path) for option, path in local.items() if path and not is_remote(path)},
    )
    if not is_remote(given["output"]) and Path(given["output"]).exists():
        raise FileError(given["output"], "exists; a map of many files goes into a new folder")


def run(given: Given, signals: Signals) -> int:
    """The exit code."""
    check(given)
    reporter, clock, model = Reporter(given["quiet"], given["progress"]), Clock(), make_model(given)
    work: DistributedRun | None = None
    with ExitStack() as stack:
        reporter.warnings_as_lines(stack)
        client = stack.enter_context(clients(given))
        try:
            check_folder(given, client, reporter)
            paths, work = start(given, client, model, reporter)
            clock.mark("read")
            follow(work, signals, reporter)
            clock.mark("fit")
            rows = write(given, work, paths, model)
            clock.mark("write")
        except Stopped as stopped:
            reporter.warn(f"stopped{give_up(given, stopped, work, writing='fit' in clock.seconds)}")
            return stopped.exit_code
        if work.folder is not None:
            work.folder.remove()
        report(given, work, rows, clock, reporter)
    return 0


def check_folder(given: Given, client: Any, reporter: Reporter) -> None:
    """Where the map's folder will be, before hours are spent."""
    if is_remote(given["output"]):
        return
    target = Path(given["output"]).absolute()
    target.parent.mkdir(parents=True, exist_ok=True)
    check_shared_folder(client, target.parent)
    for folder in incomplete_folders(target):
        reporter.warn(
            f"{folder}: parts of a map that was not completed; delete them unless another run is writing there"
        )


def start(given: Given, client: Any, model: PixelSNE, reporter: Reporter) -> tuple[list[str], DistributedRun]:
    """The files of the input, and a run that has not begun."""
    paths = expand(given["input_path"])
    work = start_files(paths, client, model, read_options(given), checkpoint=given["checkpoint"])
    rows = f"{work.partitions.rows:,} rows of {work.partitions.columns:,} numbers{names_of(work.partitions.names)}"
    reporter.info(f"{len(paths)} files on {work.runner.shards} workers, {rows}")
    return paths, work


def write(given: Given, work: DistributedRun, paths: list[str], model: PixelSNE) -> int:
    """The rows written."""
    figures = {"settings": serializable_parameters(model, {}), "seed": given["seed"]}
    with new_folder(given["output"]) as folder:
        return work.write(paths, read_options(given), targets_of(folder, paths), figures)


def give_up(given: Given, stopped: Stopped, work: DistributedRun | None, *, writing: bool) -> str:
    """Keeps what can be kept; tells what is there, and how to go on."""
    output, checkpoint = given["output"], given["checkpoint"]
    if writing and not is_remote(output) and Path(output).exists():
        return f" when the map was complete: {output}"
    kept = False
    if work is not None and not stopped.hurried:
        with suppress(Stopped):  # a second one does not wait
            kept = work.keep()
    when = f" at iteration {work.iteration}" if work is not None and kept else ""
    written = f"{output} may hold parts of the map" if writing and is_remote(output) else "nothing written"
    if not checkpoint:
        return f"{when}, {written}; --checkpoint FOLDER keeps the work next time"
    if not has_run(checkpoint):
        return f" before the map began to form, {written}: there is nothing to keep yet"
    return f"{when}, {written}; the same command goes on from {checkpoint}"


def targets_of(folder: str, paths: list[str]) -> list[str]:
    """A file of the same name for each, in a folder that workers find, wherever they were started."""
    place = folder.rstrip("/") if is_remote(folder) else str(Path(folder).absolute())
    targets = [f"{place}/{PurePath(path).stem}.parquet" for path in paths]
    if len(set(targets)) < len(targets):
        numbers = len(str(len(paths)))
        targets = [f"{place}/part-{number:0{numbers}}.parquet" for number in range(len(paths))]
    return targets


def follow(work: DistributedRun, signals: Signals, reporter: Reporter) -> None:
    with signals.patiently(), ExitStack() as stack:
        listeners = reporter.listeners(stack)
        for snapshot in stack.enter_context(closing(work.snapshots())):
            for listener in listeners:
                listener(snapshot)
            signals.check()


def report(given: Given, work: DistributedRun, rows: int, clock: Clock, reporter: Reporter) -> None:
    if not given["as_json"]:
        reporter.info(f"{work.iteration} iterations, KL {work.kl:.3f}, {clock.total():.1f} s: {given['output']}")
        return
    result = {
        "pixelsne_version": __version__,
        "rows": rows,
        "workers": work.runner.shards,
        "n_pca": work.components,
        "iterations": work.iteration,
        "stopped_by": work.stopped_by,
        "kl_divergence": work.kl,
        "timings": {**work.timings, **clock.seconds, "total": clock.total()},
        "paths": {"map": given["output"]},
    }
    click.echo(json.dumps(result))
