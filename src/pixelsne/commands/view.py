"""`pixelsne view`: a map in the browser, finished or on its way."""

import threading
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pixelsne.commands.embed import Given, make_model, read, write_results
from pixelsne.commands.interrupts import Stopped
from pixelsne.commands.paths import check_paths
from pixelsne.commands.plot import asked_column
from pixelsne.commands.reporter import Reporter
from pixelsne.files.read_map import read_map
from pixelsne.settings import settings_of
from pixelsne.viewer import current_map, make_server, open_page, snapshots_of, written
from pixelsne.viewer.layout import Page, chosen_color, columns_of, page_of
from pixelsne.viewer.live_run import LiveRun
from pixelsne.viewer.security import Secrets

if TYPE_CHECKING:
    from pixelsne.viewer.server import Server


def run(given: Given) -> None:
    reporter = Reporter(given["quiet"], progress=True)
    with ExitStack() as stack:
        reporter.warnings_as_lines(stack)
        server = live_server(given, reporter) if given["live"] else finished_server(given)
        stack.callback(server.close)
        server.start()
        try:
            if server.live is not None:
                server.live.start()
            click.echo(server.address)
            reporter.info("open this address in a browser on this machine; Ctrl-C ends")
            if given["browser"]:
                open_page(server.address)
            threading.Event().wait()
        except Stopped:
            reporter.info(end_live_run(given, server.live))
            raise


def end_live_run(given: Given, live: LiveRun | None) -> str:
    """Stop the run, keeping its map so far; return what to say about it."""
    if live is None or live.status()["state"] not in {"running", "paused"}:
        return "closed"
    if not live.end():
        failed = live.status()["state"] == "failed"  # which has been said
        return "closed" if failed else "stopped before the map began to form, nothing written"
    stopped = f"stopped at iteration {live.status()['iteration']}"
    return stopped if given["output"] else f"{stopped}, nothing written; -o MAP keeps the map next time"


def finished_server(given: Given) -> "Server":
    one = read_map(given["path"])
    page = page_of(one, Path(given["path"]).name, asked_column(one, given["label"]))
    return serve(given, page, None, lambda: one)


def serve(given: Given, page: Page, live: LiveRun | None, current: Any) -> "Server":
    """With one port, one key: a page that was open before finds its server again."""
    keys = Secrets.kept(given["port"]) if given["port"] else Secrets()
    return make_server(
        page, live, lambda rows, kind: written(current(), rows, kind), given["host"], given["port"], keys, given["url"]
    )


def live_server(given: Given, reporter: Reporter) -> "Server":
    given = given | {"input_path": given["path"], "output": given["output"] or ""}
    if given["output"]:
        check_paths(given)
    model = make_model(given)
    source = read(given, model, reporter)
    settings = settings_of(model, init="random")
    columns = columns_of(source.extra_columns, {given["label"]})
    color = chosen_color(columns, None, given["label"])
    page = Page(Path(given["path"]).name, settings.resolution, len(source), columns, b"", color)

    def finish() -> str:
        if given["output"]:
            list(write_results(given, model, source))
            reporter.info(f"the map is in {given['output']}")
        return str(model.stopped_by_)

    live = LiveRun(
        snapshots_of(model, source.values),
        settings.max_iter,
        finish,
        lambda words: reporter.warn(f"the run failed: {words}"),
    )
    return serve(given, page, live, lambda: current_map(model, live, settings.resolution, source.extra_columns))
