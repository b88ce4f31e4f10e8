"""`pixelsne view`: show a finished map, or a run in progress, in the browser."""

import threading
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

import click

from pixelsne.commands.fitting import make_model, read_input, weights_of
from pixelsne.commands.interrupts import Stopped
from pixelsne.commands.options import DrawOptions, EmbedFiles, ViewOptions
from pixelsne.commands.paths import check_paths
from pixelsne.commands.plot import requested_column
from pixelsne.commands.reporter import Reporter
from pixelsne.commands.results import map_of, write_results
from pixelsne.files.maps import Map
from pixelsne.files.read_map import read_map
from pixelsne.viewer.layout import Page, page_of
from pixelsne.viewer.live_run import LiveRun
from pixelsne.viewer.security import Secrets
from pixelsne.viewer.serving import open_page, serve
from pixelsne.viewer.watch_run import watched_fit


def run(options: ViewOptions) -> None:
    reporter = Reporter(options.quiet, progress=True)
    with ExitStack() as stack:
        reporter.warnings_as_lines(stack)
        page, live, current = live_page(options, reporter) if options.live else finished_page(options)
        # With a fixed --port, the secrets are kept, so that an open page can reconnect.
        secrets = Secrets.persistent(options.port) if options.port else Secrets()
        try:
            view = serve(
                page,
                live,
                current,
                open_browser=False,
                host=options.host,
                port=options.port,
                secrets=secrets,
                url=options.url,
            )
            stack.enter_context(view)
            click.echo(view.address)
            reporter.info("open this address in a browser on this machine; Ctrl-C ends")
            if options.browser:
                open_page(view.address)
            threading.Event().wait()
        except Stopped:
            reporter.info(end_live_run(options, live))
            raise


def end_live_run(options: ViewOptions, live: LiveRun | None) -> str:
    """Stop the run and finish its map as it is. Return a message about it."""
    if live is None or live.status()["state"] not in {"running", "paused"}:
        return "closed"
    if not live.stop_and_wait():
        failed = live.status()["state"] == "failed"  # already reported
        return "closed" if failed else "stopped before the map began to form, nothing written"
    stopped = f"stopped at iteration {live.status()['iteration']}"
    return stopped if options.output else f"{stopped}, nothing written; pass -o MAP to write the map"


def finished_page(options: ViewOptions) -> tuple[Page, None, Callable[[], Map]]:
    map_ = read_map(options.path)
    page = page_of(map_, Path(options.path).name, requested_column(map_, options.reading.label))
    return page, None, lambda: map_


def live_page(options: ViewOptions, reporter: Reporter) -> tuple[Page, LiveRun, Callable[[], Map]]:
    """Read the input and return the page of its fit, which writes its map at the end."""
    files, reading, fitting = EmbedFiles(options.path, options.output or ""), options.reading, options.fitting
    check_paths(files, fitting.init)
    model = make_model(fitting)
    source = read_input(options.path, reading, fitting, model, reporter)

    def write() -> None:
        if options.output:
            map_ = map_of(model, source, reading, fitting.seed, reporter)
            list(write_results(files, map_, model, source, reading.label, DrawOptions()))
            reporter.info(f"the map is in {options.output}")

    return watched_fit(
        model,
        source.values,
        source.extra_columns,
        Path(options.path).name,
        label=reading.label,
        weights=weights_of(source, reading.weight),
        on_finish=write,
        on_failure=lambda message: reporter.warn(f"the run failed: {message}"),
    )
