"""`pixelsne plot`: draw a map."""

from dataclasses import fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from pixelsne.arrays import ScreenPositions
from pixelsne.commands.options import DrawOptions, PlotOptions
from pixelsne.files.column_names import input_name
from pixelsne.files.errors import FileError
from pixelsne.files.maps import POSITION_COLUMNS, Map
from pixelsne.files.read_map import read_map
from pixelsne.files.write_map import check_output, create_file
from pixelsne.map_regions import regions_of
from pixelsne.plot import PlotStyle, save_picture
from pixelsne.region_names import is_text
from pixelsne.regions import Regions

if TYPE_CHECKING:
    from pixelsne.coloring import ColorAs

PICTURES = (".png", ".svg", ".pdf")
PAGES = (".html",)


def plot_style(options: DrawOptions, *, label: bool) -> PlotStyle:
    """Return the style of a picture. A label is colored by class, even if it is numeric; dates stay continuous."""
    color_as: ColorAs = "label" if options.color_as == "auto" and label else options.color_as
    values = {field.name: getattr(options, field.name) for field in fields(options)}
    return PlotStyle(**values | {"color_as": color_as})


def draw(path: str, placed: ScreenPositions, resolution: tuple[int, int], column: Any, **options: Any) -> None:
    """Write a picture of a map. options: those of `save_picture`."""
    with create_file(Path(path)) as file:
        kind = Path(path).suffix.lower().removeprefix(".")
        save_picture(file, placed, resolution, column, kind=kind, **options)


def draw_map(path: str, map_: Map, color: str | None, names: str, style: PlotStyle) -> None:
    """Write a picture of a map, by a column or by region. names: auto, none, or a column that names the regions."""
    column = None if color is None else column_in(map_, color)
    written = map_names(map_, names, by_class=column is not None)
    draw(path, map_.placed, map_.resolution, column, name=color or "", names=written, style=style)


def map_names(map_: Map, names: str, *, by_class: bool) -> Regions | Literal[False] | None:
    """Return regions with names, False for a map without names, or None for the names of its classes."""
    if names == "none":
        return False
    if names == "auto" and by_class and not has_texts(map_.extra_columns):
        return None
    return regions_of(map_, names)


def has_texts(table: Any) -> bool:
    """Return whether a table has a column of texts, from which regions get names."""
    return table is not None and any(is_text(column) for column in table.columns)


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
    if options.density and not options.color:
        color = None
    style = replace(plot_style(options.drawing, label=color == label), density=options.density)
    draw_map(output, map_, color, requested_column(map_, options.names) or "auto", style)
