"""Static pictures of a map, in Matplotlib axes or as files."""

import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any

import numpy as np

from pixelsne import __version__
from pixelsne.arrays import Pixels, ScreenPositions
from pixelsne.coloring import Coloring, choose_coloring
from pixelsne.pictures.style import PlotStyle
from pixelsne.regions import Regions, find_regions
from pixelsne.settings import check_resolution

__all__ = ["PlotStyle", "plot_map", "save_picture"]

# Text stays text: TrueType in PDF, text elements in SVG. The salt makes files of equal pictures equal.
FILE_SETTINGS: Any = {"pdf.fonttype": 42, "ps.fonttype": 42, "svg.fonttype": "none", "svg.hashsalt": "pixelsne"}
SOFTWARE_KEY = {"png": "Software", "svg": "Creator", "pdf": "Creator"}  # keys in a picture's metadata
NAMES = "names"  # column
DATE_KEY = {"svg": "Date", "pdf": "CreationDate"}


def plot_map(
    placed: Pixels | ScreenPositions,
    resolution: int | tuple[int, int],
    ax: Any = None,
    *,
    color: Any = None,
    name: str = "",
    names: Any = None,
    style: PlotStyle | None = None,
    behind: Any = None,
) -> Any:
    """Draw a map into Matplotlib axes, new ones by default, and return them.

    The arguments are those of `save_picture`.
    """
    from pixelsne.pictures.draw import draw_picture  # noqa: PLC0415 - Matplotlib is slow to import
    from pixelsne.pictures.figure import new_axes  # noqa: PLC0415

    style = style or PlotStyle()
    picture = make_picture(placed, resolution, color, name, names, style, behind)
    axes = new_axes(picture.view(), style) if ax is None else ax
    draw_picture(axes, picture, style)
    return axes


def save_picture(
    file: Path | str | IO[bytes],
    placed: Pixels | ScreenPositions,
    resolution: int | tuple[int, int],
    color: Any = None,
    *,
    name: str = "",
    names: Any = None,
    style: PlotStyle | None = None,
    kind: str | None = None,
    behind: Any = None,
) -> None:
    """Write a picture of a map to a file.

    placed: `embedding_` or `pixels_` of a model. resolution: that of the model.
    color: one value for each point: an array, or a column of a pyarrow table, called `name`. None: by region.
    names: names to write on the map. None: those of regions or categories, if there are any; False: none; `Regions`
    with names; or one text for each point, or a dict of names, from which regions get their names.
    kind: "png", "svg" or "pdf"; needed if the file's name has no such suffix.
    behind: pixels of a map on which new points were placed; it is drawn in gray below the new points, which have one
    color if `color` is None.
    """
    from matplotlib import rc_context  # noqa: PLC0415 - slow to import

    from pixelsne.pictures.figure import figure_of  # noqa: PLC0415

    style = style or PlotStyle()
    picture = make_picture(placed, resolution, color, name, names, style, behind)
    file_kind = kind or Path(str(file)).suffix.lower().removeprefix(".")
    metadata: dict[str, Any] = {SOFTWARE_KEY[file_kind]: f"pixelsne {__version__}"} if file_kind in SOFTWARE_KEY else {}
    if file_kind in DATE_KEY:
        metadata[DATE_KEY[file_kind]] = None
    with rc_context(FILE_SETTINGS), warnings.catch_warnings():
        warnings.filterwarnings("ignore", r"Glyph \d+ .* missing from")  # one warning has named all of them
        figure = figure_of(picture, style)
        figure.savefig(file, format=kind, facecolor=style.background, dpi=style.dpi, metadata=metadata)


def make_picture(placed: Any, resolution: Any, color: Any, name: str, names: Any, style: PlotStyle, behind: Any) -> Any:
    """Return the picture of these arguments; raise ValueError if they do not fit together."""
    from pixelsne.pictures.draw import Picture  # noqa: PLC0415 - Matplotlib is slow to import

    resolution = check_resolution(resolution)
    placed = check_placed(placed, resolution)
    behind = None if behind is None else check_placed(behind, resolution)
    coloring = None if color is None else check_coloring(color, len(placed), name, style)
    regions = regions_for(placed, resolution, names, style, needs_colors=coloring is None and behind is None)
    return Picture(placed, resolution, coloring, regions, names is not False, behind)


def check_placed(placed: Any, resolution: tuple[int, int]) -> ScreenPositions:
    """Return (n, 2) positions in pixels; those of integer pixels are moved to the middle of the pixel."""
    positions = np.asarray(placed)
    if positions.ndim != 2 or positions.shape[1] != 2 or positions.dtype.kind not in "iuf":  # noqa: PLR2004
        raise ValueError(f"placed must be an array (n, 2) of numbers, as model.embedding_, got {placed!r:.60}")
    if not ((positions >= 0) & (positions < np.array(resolution))).all():
        width, height = resolution
        raise ValueError(
            f"points must lie on the screen of {width} x {height}; give model.embedding_ and the model's resolution"
        )
    middle = np.float32(0.5 if positions.dtype.kind in "iu" else 0)
    moved: ScreenPositions = positions.astype(np.float32) + middle
    return moved


def check_coloring(color: Any, n: int, name: str, style: PlotStyle) -> Coloring:
    name = name or str(getattr(color, "name", None) or "")
    color = color if hasattr(color, "combine_chunks") else np.asarray(color)
    if getattr(color, "ndim", 1) != 1:
        raise ValueError(f"color must be an array with one value for each of the {n} points, got {color!r:.60}")
    if len(color) != n:
        raise ValueError(f"color must have one value for each of the {n} points, got {len(color)}")
    return choose_coloring(color, name, style.color_as, style.palette)


def regions_for(
    placed: ScreenPositions, resolution: tuple[int, int], names: Any, style: PlotStyle, *, needs_colors: bool
) -> Regions | None:
    """Return the regions that give points their colors or the map its names; None if neither is wanted."""
    check_names(names, len(placed))
    if isinstance(names, Regions):
        return names
    if names is None or names is False:
        return find_regions(placed, resolution) if needs_colors and not style.density else None
    from pixelsne.region_names import name_regions  # noqa: PLC0415 - only for maps with names

    regions = find_regions(placed, resolution)
    if isinstance(names, Mapping):
        return name_regions(regions, None, names)
    return name_regions(regions, as_table(names), NAMES)


def check_names(names: Any, n: int) -> None:
    """Raise ValueError unless names can be written on a map of n points."""
    if isinstance(names, Regions):
        if any(len(indices) != n for indices in names.indices):
            raise ValueError(f"names holds regions of another map: this one has {n} points")
    elif names is None or names is False or isinstance(names, Mapping):
        return
    elif isinstance(names, str) or not hasattr(names, "__len__") or len(names) != n:
        given = f"{names!r:.40}" if isinstance(names, str) or not hasattr(names, "__len__") else f"{len(names)} values"
        raise ValueError(
            f"names must be one value for each of the {n} points, Regions, a dict, False or None, got {given}; for "
            "names from a table, pass model.regions(table)"
        )


def as_table(values: Any) -> Any:
    """Return a pyarrow table with the values as its only column, called NAMES."""
    import pyarrow as pa  # noqa: PLC0415 - slow to import

    is_column = hasattr(values, "combine_chunks")
    return pa.table({NAMES: values if is_column else pa.array(np.asarray(values), from_pandas=True)})
