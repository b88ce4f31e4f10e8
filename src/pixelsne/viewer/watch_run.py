"""`watch`: a fit whose map is on a page while it runs."""

from collections.abc import Callable, Generator
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from pixelsne.descent_loop import Snapshot
from pixelsne.files.maps import Map
from pixelsne.map_regions import regions_of
from pixelsne.regions import Regions
from pixelsne.viewer.columns import table_of
from pixelsne.viewer.layout import Page, choose_color, columns_of
from pixelsne.viewer.live_run import LiveRun
from pixelsne.viewer.security import Secrets
from pixelsne.viewer.serving import serve
from pixelsne.viewer.view import View

if TYPE_CHECKING:
    from pixelsne.estimator import PixelSNE


def watch(
    model: "PixelSNE",
    X: Any,
    *,
    weights: Any = None,
    columns: Any = None,
    color: str | None = None,
    title: str = "map",
    open_browser: bool = True,
    port: int = 0,
    keys: Secrets | None = None,
) -> View:
    """Fit the model while a page shows its map; the page can pause and stop the run, `View.wait` waits for its end.

    weights: as in `PixelSNE.fit`. columns, color, port: as in `show`.
    """
    n = X.shape[0] if hasattr(X, "shape") else len(X)
    page, live, get_map = watched_fit(model, X, table_of(columns, n), title, color=color, weights=weights)
    return serve(page, live, get_map, open_browser=open_browser, port=port, secrets=keys)


def watched_fit(
    model: "PixelSNE",
    X: Any,
    table: Any,
    title: str,
    *,
    color: str | None = None,
    label: str | None = None,
    weights: Any = None,
    on_finish: Callable[[], None] | None = None,
    on_failure: Callable[[str], None] | None = None,
) -> tuple[Page, LiveRun, Callable[[], Map]]:
    """Return the page of a fit, its run, which has not started, and a function that returns the current map.

    table: columns of the points, as pyarrow has them; None without any. label: the column of class labels.
    weights: of the rows.
    """
    from pixelsne.settings import check_resolution  # noqa: PLC0415

    resolution = check_resolution(model.resolution)
    page_columns = columns_of(table, {label} if label else None)
    n = X.shape[0] if hasattr(X, "shape") else len(X)
    page = Page(title, resolution, n, page_columns, b"", choose_color(page_columns, color, label))

    def finish() -> str:
        if on_finish is not None:
            on_finish()
        return str(model.stopped_by_)

    def find_regions() -> Regions:
        return regions_of(Map(model.embedding_, resolution, table))

    live = LiveRun(snapshots_of(model, X, weights=weights), model.max_iter, finish, on_failure, find_regions)
    return page, live, partial(current_map, model, live, resolution, table)


def current_map(model: "PixelSNE", live: LiveRun, resolution: tuple[int, int], extra_columns: Any) -> Map:
    """Return the finished map, or the latest frame of the run; the model may still hold the map of an earlier fit."""
    if live.has_map():
        return Map(model.embedding_, resolution, extra_columns)
    positions = live.positions()
    if positions is None:
        raise ValueError("there is no map yet: the run is still preparing")
    return Map(positions * np.array(resolution, dtype=np.float32), resolution, extra_columns)


def snapshots_of(model: "PixelSNE", X: Any, *, weights: Any = None) -> Generator[Snapshot, None, None]:
    """Yield the snapshots of a fit."""
    yield from model.iter_fit(X, weights=weights)
