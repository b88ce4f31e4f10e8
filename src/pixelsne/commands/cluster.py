"""`pixelsne embed --cluster`: from many files to a map in as many, on a Dask cluster."""

import json
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path, PurePath
from typing import Any

import click
from click.core import ParameterSource

from pixelsne.commands.embed import Clock, make_model, wanted_of
from pixelsne.commands.interrupts import Signals, Stopped
from pixelsne.commands.talk import Talk
from pixelsne.files.errors import FileError
from pixelsne.files.model import parameters_to_keep
from pixelsne.settings import STARTS

Given = dict[str, Any]

# What needs the whole map in one place.
ONE_MACHINE = {"picture": "--plot", "html": "--html", "model_path": "--model", "resume": "--resume"}

# What a cluster decides otherwise.
ELSEWHERE = {
    "every": "--every is for one machine: a run on a cluster is kept every 25 iterations",
    "jobs": "--jobs is for one machine: workers have the threads they were started with",
}

SECONDS_TO_CONNECT = 30


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
    with LocalCluster(n_workers=given["workers"], threads_per_worker=1) as cluster, Client(cluster) as client:
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
    if "://" not in given["output"] and Path(given["output"]).exists():
        raise FileError(given["output"], "exists; a map of many files goes into a new folder")


def run(given: Given, signals: Signals) -> int:
    """The exit code."""
    check(given)
    talk, clock = Talk(given["quiet"], given["progress"]), Clock()
    with ExitStack() as stack:
        talk.warnings_as_lines(stack)
        client = stack.enter_context(clients(given))
        try:
            embed(given, client, signals, talk, clock)
        except Stopped as stopped:
            kept = f"; the same command goes on from {given['checkpoint']}" if given["checkpoint"] else ""
            talk.tell(f"stopped, nothing written{kept}")
            return stopped.exit_code
    return 0


def embed(given: Given, client: Any, signals: Signals, talk: Talk, clock: Clock) -> None:
    from pixelsne import distributed  # noqa: PLC0415 - needs the extra
    from pixelsne.distributed.files import expand  # noqa: PLC0415

    model, wanted = make_model(given), wanted_of(given)
    paths = expand(given["input_path"])
    targets = targets_of(given["output"], paths)
    work = distributed.start_files(paths, client, model, wanted, checkpoint=given["checkpoint"])
    talk.say(f"{work.partitions.rows:,} rows in {len(paths)} files, on {work.crew.shards} workers")
    clock.mark("read")
    follow(work, signals, talk)
    clock.mark("fit")
    figures = {"settings": parameters_to_keep(model, {}), "seed": given["seed"]}
    written = work.write(paths, wanted, targets, figures)
    clock.mark("write")
    if work.folder is not None:
        work.folder.remove()
    report(given, work, written, clock, talk)


def targets_of(folder: str, paths: list[str]) -> list[str]:
    """A file of the same name for each, in a folder that workers find, wherever they were started."""
    place = folder.rstrip("/") if "://" in folder else str(Path(folder).absolute())
    targets = [f"{place}/{PurePath(path).stem}.parquet" for path in paths]
    if len(set(targets)) < len(targets):
        numbers = len(str(len(paths)))
        targets = [f"{place}/part-{number:0{numbers}}.parquet" for number in range(len(paths))]
    return targets


def follow(work: Any, signals: Signals, talk: Talk) -> None:
    with signals.patiently(), ExitStack() as stack:
        listeners = talk.listeners(stack)
        for snapshot in stack.enter_context(closing(work.snapshots())):
            for listener in listeners:
                listener(snapshot)
            signals.check()


def report(given: Given, work: Any, rows: int, clock: Clock, talk: Talk) -> None:
    if not given["as_json"]:
        talk.say(f"{work.iteration} iterations, KL {work.kl:.3f}, {clock.total():.1f} s: {given['output']}")
        return
    result = {
        "rows": rows,
        "workers": work.crew.shards,
        "iterations": work.iteration,
        "stopped_by": work.stopped_by,
        "kl_divergence": work.kl,
        "timings": {**work.timings, **clock.seconds, "total": clock.total()},
        "paths": {"map": given["output"]},
    }
    click.echo(json.dumps(result))
