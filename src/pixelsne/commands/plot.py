"""`pixelsne plot`: draw a map."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from pixelsne.arrays import Pixels
from pixelsne.commands.options import DrawOptions, PlotOptions
from pixelsne.files.column_names import input_name
from pixelsne.files.errors import FileError
from pixelsne.files.maps import POSITION_COLUMNS, Map
from pixelsne.files.read_map import read_map
from pixelsne.files.write_map import check_output, create_file
from pixelsne.plot import PlotStyle, save_picture

if TYPE_CHECKING:
    from pixelsne.coloring import ColorAs

PICTURES = (".png", ".svg", ".pdf")
PAGES = (".html",)


def plot_style(options: DrawOptions, *, label: bool) -> PlotStyle:
    """Return the style of a picture. A label is colored by class, even if it is numeric; dates stay continuous."""
    color_as: ColorAs = "label" if options.color_as == "auto" and label else options.color_as
    return PlotStyle(options.title, options.dark, options.magnify, options.point_size, color_as)


def draw(
    path: str,
    pixels: Pixels,
    resolution: tuple[int, int],
    column: Any,
    name: str,
    style: PlotStyle,
    behind: Pixels | None = None,
) -> None:
    """Write a picture of a map. behind: pixels to draw in gray below the points."""
    with create_file(Path(path)) as file:
        kind = Path(path).suffix.lower().removeprefix(".")
        save_picture(file, pixels, resolution, column, name=name, style=style, kind=kind, behind=behind)


def write_page(path: str, map_: Map, title: str, color: str | None, *, dark: bool = False) -> None:
    """Write the page that `view` serves to one file."""
    from pixelsne.viewer.export import standalone  # noqa: PLC0415 - pictures do not need it
    from pixelsne.viewer.layout import page_of  # noqa: PLC0415

    with create_file(Path(path)) as file:
        file.write(standalone(page_of(map_, title, color, dark=dark)).encode())


def columns_in(map_: Map) -> list[str]:
    """Return the columns of the input, and those of the regions unless the input has some of the same name."""
    known = [] if map_.extra_columns is None else list(map_.extra_columns.column_names)
    return [*known, *(name for name in map_.region_columns if name not in known)]


def column_in(map_: Map, name: str) -> Any:
    """Return a column of the input, or the names of the regions of a level, as a column of pyarrow."""
    if map_.extra_columns is not None and name in map_.extra_columns.column_names:
        return map_.extra_columns.column(name)
    import pyarrow as pa  # noqa: PLC0415 - slow to import

    return pa.chunked_array([map_.region_columns[name]])


def requested_column(map_: Map, name: str | None) -> str | None:
    """Return the input's name of a requested column, which may be its name in the map file: `input_y` for `y`."""
    return input_name(name, POSITION_COLUMNS) if name is not None and name not in columns_in(map_) else name


def run(options: PlotOptions) -> None:
    path, output = Path(options.map_path), options.output
    check_output(output, (path,), PICTURES + PAGES)
    map_ = read_map(path)
    label = map_.metadata.get("label")
    known = columns_in(map_)
    color = requested_column(map_, options.color) or (None if options.density else label)
    if color is not None and color not in known:
        raise FileError(path, f"has no column {color!r} to color by; it has {', '.join(known) or 'none'}")
    if Path(output).suffix.lower() in PAGES:
        title = options.drawing.title or path.name
        write_page(output, map_, title, color if options.color else None, dark=options.drawing.dark)
        return
    column = None if color is None else column_in(map_, color)
    draw(output, map_.pixels, map_.resolution, column, color or "", plot_style(options.drawing, label=color == label))
