"""A map in the browser: `show` a finished one, `watch` one that forms.

>>> from pixelsne import viewer
>>> view = viewer.show(model, columns={"label": labels})    # doctest: +SKIP
>>> view.selection                                          # doctest: +SKIP
"""

import atexit
import html
import io
import shutil
import tempfile
import webbrowser
from collections.abc import Callable, Generator, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from pixelsne.descent_loop import Snapshot
from pixelsne.files.formats import WRITABLE
from pixelsne.files.maps import Map
from pixelsne.inputs import with_distinct_names
from pixelsne.viewer.export import standalone, title_of
from pixelsne.viewer.layout import Page, chosen_color, columns_of, page_of
from pixelsne.viewer.live_run import LiveRun
from pixelsne.viewer.security import Secrets

if TYPE_CHECKING:
    from pixelsne.estimator import PixelSNE
    from pixelsne.viewer.server import Server

FRAME_HEIGHT = 560  # pixels, in a notebook


class View:
    """A page that is being shown; `close` ends it."""

    def __init__(self, server: "Server") -> None:
        self._server = server

    @property
    def address(self) -> str:
        """To be opened in a browser on this machine; it holds the key, so keep it to yourself."""
        return self._server.address

    @property
    def selection(self) -> Any:
        """(m) whole numbers: rows that are selected on the page at `address` now.

        Pages shown in a notebook cell cannot tell: open the address.
        """
        return self._server.selection

    def close(self) -> None:
        """Ends the server; pages that are open keep what they show."""
        self._server.close()

    def wait(self) -> None:
        """Until the run on the page is over. RuntimeError if it failed."""
        if self._server.live is None:
            return
        self._server.live.join()
        error = self._server.live.status()["error"]
        if error is not None:
            raise RuntimeError(f"the run failed: {error}")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()

    def _repr_html_(self) -> str:
        """In a notebook, the page itself in a frame that can reach nothing."""
        if self._server.live is not None:
            return link_to(self.address, "The live page")
        return framed(self._server.page, self.address)


def link_to(address: str, words: str) -> str:
    return f'<a href="{html.escape(address)}" target="_blank" rel="noopener noreferrer">{words}</a>'


def framed(page: Page, address: str) -> str:
    content = html.escape(standalone(page))
    return (
        f'<iframe sandbox="allow-scripts allow-downloads" srcdoc="{content}" '
        f'style="width: 100%; height: {FRAME_HEIGHT}px; border: 0"></iframe>'
        f"<p>What is selected in this cell does not reach Python. {link_to(address, 'Open the map in a tab')}: "
        "what is selected there is in <code>view.selection</code>.</p>"
    )


def show(
    map_or_model: "PixelSNE | Map | str | Path",
    *,
    columns: Any = None,
    color: str | None = None,
    title: str | None = None,
    open_browser: bool = True,
    port: int = 0,
) -> View:
    """Serves a finished map: a fitted model, with columns, or a map that `pixelsne embed` wrote.

    columns: a data frame (pandas, polars), a pyarrow table or a dictionary of arrays, one row for each point.
    color: the column to color by first. port: 0 takes any that is free.
    """
    page, one = page_to_show(map_or_model, columns, color, title)
    return serve(page, None, lambda: one, open_browser=open_browser, port=port)


def page_to_show(
    map_or_model: Any, columns: Any = None, color: str | None = None, title: str | None = None
) -> tuple[Page, Map]:
    """The page and the map on it."""
    if not isinstance(map_or_model, str | Path | Map):
        one = map_of(map_or_model, columns)
        return page_of(one, title or "map", color), one
    if columns is not None:
        raise ValueError("columns are for a model; this map has those that are in it")
    if isinstance(map_or_model, Map):
        return page_of(map_or_model, title or "map", color), map_or_model
    from pixelsne.files.read_map import read_map  # noqa: PLC0415 - slow to import

    one = read_map(map_or_model)
    return page_of(one, title or title_of(str(map_or_model)), color), one


def map_of(model: "PixelSNE", columns: Any) -> Map:
    """What is shown and exported."""
    if not hasattr(model, "embedding_"):
        raise ValueError("there is no map yet: fit the model, or watch it; wait for a run, or stop it")
    return Map(model.embedding_, model.screen_.resolution, table_of(columns, len(model.embedding_)))


def table_of(columns: Any, n: int) -> Any:
    """Of pyarrow; None without columns."""
    import pyarrow as pa  # noqa: PLC0415 - slow to import

    by_name = columns_by_name(columns)
    for name, values in by_name.items():
        if len(values) != n:
            raise ValueError(f"columns[{name!r}] has {len(values)} values, the map {n} points")
    return pa.table({name: as_column(values) for name, values in by_name.items()}) if by_name else None


def columns_by_name(columns: Any) -> dict[str, Any]:
    """Of a dictionary, a data frame or a pyarrow table."""
    if columns is None or isinstance(columns, Mapping):
        return {str(name): values for name, values in (columns or {}).items()}
    frame = with_distinct_names(columns)
    if hasattr(frame, "column_names"):
        return dict(zip(frame.column_names, frame.columns, strict=True))
    if hasattr(frame, "columns") and hasattr(frame, "__getitem__"):
        return {str(name): frame[name] for name in frame.columns}
    raise TypeError(
        f"columns must be a dictionary of arrays, a data frame or a pyarrow table, got {type(columns).__name__}"
    )


def as_column(values: Any) -> Any:
    import pyarrow as pa  # noqa: PLC0415 - slow to import

    if hasattr(values, "combine_chunks"):
        return values
    if hasattr(values, "to_arrow"):  # of polars
        return values.to_arrow()
    array = np.asarray(values)
    try:
        return pa.array(array, from_pandas=True)
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError):  # of several types: as words
        return pa.array([None if value is None else str(value) for value in array], pa.string())


def watch(
    model: "PixelSNE",
    X: Any,
    *,
    columns: Any = None,
    color: str | None = None,
    title: str = "map",
    open_browser: bool = True,
    port: int = 0,
    keys: Secrets | None = None,
) -> View:
    """Fits the model while its map forms on a page, where the run can be paused and stopped; `View.wait` waits."""
    from pixelsne.settings import check_resolution  # noqa: PLC0415

    n = X.shape[0] if hasattr(X, "shape") else len(X)
    table, resolution = table_of(columns, n), check_resolution(model.resolution)
    described = columns_of(table)
    page = Page(title, resolution, n, described, b"", chosen_color(described, color))
    live = LiveRun(snapshots_of(model, X), model.max_iter, lambda: str(model.stopped_by_))
    current = partial(current_map, model, live, resolution, table)
    return serve(page, live, current, open_browser=open_browser, port=port, keys=keys)


def current_map(model: "PixelSNE", live: LiveRun, resolution: tuple[int, int], extra_columns: Any) -> Map:
    """The finished one, or what the pages see of the run; `model` may still have a map of an earlier one."""
    if live.has_map():
        return Map(model.embedding_, resolution, extra_columns)
    places = live.places()
    if places is None:
        raise ValueError("there is no map yet: the run is still preparing")
    return Map(places * np.array(resolution, dtype=np.float32), resolution, extra_columns)


def snapshots_of(model: "PixelSNE", X: Any) -> Generator[Snapshot, None, None]:
    yield from model.iter_fit(X)


def serve(
    page: Page,
    live: LiveRun | None,
    current: Callable[[], Map] | None,
    *,
    open_browser: bool,
    port: int,
    keys: Secrets | None = None,
) -> View:
    write = None if current is None else lambda rows, kind: written(current(), rows, kind)
    server = make_server(page, live, write, port=port, keys=keys)
    server.start()
    if live is not None:
        live.start()
    if open_browser:
        open_page(server.address)
    return View(server)


def written(one: Map, rows: Any, kind: str) -> bytes:
    """A map, or some rows of it, as a file."""
    if rows is not None:
        extra_columns = None if one.extra_columns is None else one.extra_columns.take(rows)
        one = Map(one.placed[rows], one.resolution, extra_columns, one.metadata)
    file = io.BytesIO()
    WRITABLE[f".{kind}"](file, one)
    return file.getvalue()


def open_page(address: str) -> None:
    """By a file that only this user can read: other users see with which words a browser was started."""
    folder = Path(tempfile.mkdtemp(prefix="pixelsne-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    link = html.escape(address)
    words = f'<!doctype html><meta http-equiv="refresh" content="0; url={link}"><a href="{link}">the map</a>'
    (folder / "open.html").write_text(words, encoding="utf-8")
    webbrowser.open((folder / "open.html").as_uri())


def make_server(*arguments: Any, **options: Any) -> "Server":
    """A page in a file needs no server."""
    from pixelsne.viewer.server import Server  # noqa: PLC0415 - slow to import

    return Server(*arguments, **options)


__all__ = ["View", "show", "watch"]
