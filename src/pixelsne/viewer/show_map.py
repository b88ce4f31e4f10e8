"""`show`: a finished map on a page."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from pixelsne.files.maps import Map
from pixelsne.viewer.columns import table_of
from pixelsne.viewer.layout import Page, page_of
from pixelsne.viewer.serving import serve
from pixelsne.viewer.view import View

if TYPE_CHECKING:
    from pixelsne.estimator import PixelSNE


def show(
    map_or_model: "PixelSNE | Map | str | Path",
    *,
    columns: Any = None,
    color: str | None = None,
    title: str | None = None,
    open_browser: bool = True,
    port: int = 0,
) -> View:
    """Serve a finished map: a fitted model, or a map that `pixelsne embed` wrote.

    columns: for a model, a data frame (pandas, polars), a pyarrow table or a dictionary of arrays, one row per point.
    color: column to color by at first. port: TCP port; 0 takes any free one.
    """
    page, map_ = page_to_show(map_or_model, columns, color, title)
    return serve(page, None, lambda: map_, open_browser=open_browser, port=port)


def page_to_show(
    map_or_model: Any, columns: Any = None, color: str | None = None, title: str | None = None
) -> tuple[Page, Map]:
    """Return the page and the map on it."""
    if not isinstance(map_or_model, str | Path | Map):
        map_ = fitted_map(map_or_model, columns)
        return page_of(map_, title or "map", color), map_
    if columns is not None:
        raise ValueError("columns can only be passed with a model; a map already contains its columns")
    if isinstance(map_or_model, Map):
        return page_of(map_or_model, title or "map", color), map_or_model
    from pixelsne.files.read_map import read_map  # noqa: PLC0415 - slow to import

    map_ = read_map(map_or_model)
    return page_of(map_, title or Path(map_or_model).name, color), map_


def fitted_map(model: "PixelSNE", columns: Any) -> Map:
    """Return the map of a fitted model, with columns."""
    if not hasattr(model, "embedding_"):
        raise ValueError("the model is not fitted yet; call fit or viewer.watch, and wait until the run ends")
    return Map(model.embedding_, model.screen_.resolution, table_of(columns, len(model.embedding_)))
