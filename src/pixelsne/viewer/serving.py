"""What `show`, `watch` and `pixelsne view` share: a server, the files it exports, and the browser."""

import atexit
import html
import io
import shutil
import tempfile
import webbrowser
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pixelsne.files.formats import WRITABLE
from pixelsne.files.maps import Map
from pixelsne.viewer.layout import Page
from pixelsne.viewer.live_run import LiveRun
from pixelsne.viewer.security import Secrets
from pixelsne.viewer.view import View

if TYPE_CHECKING:
    from pixelsne.viewer.server import Server


LOCAL_HOST = "127.0.0.1"


def serve(
    page: Page,
    live: LiveRun | None,
    get_map: Callable[[], Map] | None,
    *,
    open_browser: bool,
    host: str = LOCAL_HOST,
    port: int = 0,
    secrets: Secrets | None = None,
    url: str | None = None,
) -> View:
    """Start a server and its run. get_map: returns the map to export; None if the page exports nothing."""
    write_rows = None if get_map is None else lambda rows, suffix: map_bytes(get_map(), rows, suffix)
    server = make_server(page, live, write_rows, host, port, secrets, url)
    server.start()
    if live is not None:
        live.start()
    if open_browser:
        open_page(server.address)
    return View(server)


def make_server(*arguments: Any, **options: Any) -> "Server":
    """Return a Server. Its imports are slow, and a page in one file needs none of them."""
    from pixelsne.viewer.server import Server  # noqa: PLC0415 - slow to import

    return Server(*arguments, **options)


def map_bytes(map_: Map, rows: Any, suffix: str) -> bytes:
    """Return the content of a file with a map. rows: (m) integers; None for all. suffix: without a dot."""
    if rows is not None:
        extra_columns = None if map_.extra_columns is None else map_.extra_columns.take(rows)
        map_ = Map(map_.placed[rows], map_.resolution, extra_columns, map_.metadata)
    file = io.BytesIO()
    WRITABLE[f".{suffix}"](file, map_)
    return file.getvalue()


def open_page(address: str) -> None:
    """Open the address in a browser, through a file that redirects there and that only this user can read.

    Other users of the machine can see the arguments of a process, so the token must not be among them.
    """
    folder = Path(tempfile.mkdtemp(prefix="pixelsne-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    link = html.escape(address)
    redirect = f'<!doctype html><meta http-equiv="refresh" content="0; url={link}"><a href="{link}">the map</a>'
    (folder / "open.html").write_text(redirect, encoding="utf-8")
    webbrowser.open((folder / "open.html").as_uri())
