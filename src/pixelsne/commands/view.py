"""`pixelsne view`: show a finished map, or a run in progress, in the browser."""

import threading
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pixelsne.commands.fitting import make_model, read_input
from pixelsne.commands.interrupts import Stopped
from pixelsne.commands.options import DrawOptions, EmbedFiles, ViewOptions
from pixelsne.commands.paths import check_paths
from pixelsne.commands.plot import requested_column
from pixelsne.commands.reporter import Reporter
from pixelsne.commands.results import map_of, write_results
from pixelsne.files.read_map import read_map
from pixelsne.settings import settings_of
from pixelsne.viewer.layout import Page, chosen_color, columns_of, page_of
from pixelsne.viewer.live_run import LiveRun
from pixelsne.viewer.security import Secrets
from pixelsne.viewer.serving import make_server, map_bytes, open_page
from pixelsne.viewer.watch_run import current_map, snapshots_of

if TYPE_CHECKING:
    from pixelsne.viewer.server import Server


def run(options: ViewOptions) -> None:
    reporter = Reporter(options.quiet, progress=True)
    with ExitStack() as stack:
        reporter.warnings_as_lines(stack)
        server = live_server(options, reporter) if options.live else finished_server(options)
        stack.callback(server.close)
        server.start()
        try:
            if server.live is not None:
                server.live.start()
            click.echo(server.address)
            reporter.info("open this address in a browser on this machine; Ctrl-C ends")
            if options.browser:
                open_page(server.address)
            threading.Event().wait()
        except Stopped:
            reporter.info(end_live_run(options, server.live))
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


def finished_server(options: ViewOptions) -> "Server":
    map_ = read_map(options.path)
    page = page_of(map_, Path(options.path).name, requested_column(map_, options.reading.label))
    return serve(options, page, None, lambda: map_)


def serve(options: ViewOptions, page: Page, live: LiveRun | None, current: Any) -> "Server":
    """Return the server. With a fixed --port, its key is kept too, so that an open page can reconnect."""
    keys = Secrets.persistent(options.port) if options.port else Secrets()
    return make_server(
        page,
        live,
        lambda rows, suffix: map_bytes(current(), rows, suffix),
        options.host,
        options.port,
        keys,
        options.url,
    )


def live_server(options: ViewOptions, reporter: Reporter) -> "Server":
    files, reading, fitting = EmbedFiles(options.path, options.output or ""), options.reading, options.fitting
    check_paths(files, fitting.init)
    model = make_model(fitting)
    source = read_input(options.path, reading, fitting, model, reporter)
    settings = settings_of(model, init="random")
    columns = columns_of(source.extra_columns, {reading.label} if reading.label else None)
    color = chosen_color(columns, None, reading.label)
    page = Page(Path(options.path).name, settings.resolution, len(source), columns, b"", color)

    def finish() -> str:
        if options.output:
            map_ = map_of(model, source, reading, fitting.seed)
            list(write_results(files, map_, model, source, reading.label, DrawOptions()))
            reporter.info(f"the map is in {options.output}")
        return str(model.stopped_by_)

    live = LiveRun(
        snapshots_of(model, source.values),
        settings.max_iter,
        finish,
        lambda message: reporter.warn(f"the run failed: {message}"),
    )
    return serve(options, page, live, lambda: current_map(model, live, settings.resolution, source.extra_columns))
