"""`pixelsne plot`: from a map to a picture."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from pixelsne.arrays import Pixels
from pixelsne.files.column_names import input_name
from pixelsne.files.errors import FileError
from pixelsne.files.read_map import read_map
from pixelsne.files.write_embedding import POSITION_COLUMNS, Map, check_output, create_file
from pixelsne.plot import PlotStyle, save_picture

if TYPE_CHECKING:
    from pixelsne.coloring import ColorAs

PICTURES = (".png", ".svg", ".pdf")
PAGES = (".html",)


def plot_style(given: dict[str, Any], *, label: bool) -> PlotStyle:
    """A label names classes, whatever it looks like; dates remain a scale."""
    color_as: ColorAs = given["color_as"] if given["color_as"] != "auto" or not label else "label"
    return PlotStyle(given["title"], given["dark"], given["magnify"], given["point_size"], color_as)


def draw(
    path: str,
    pixels: Pixels,
    resolution: tuple[int, int],
    column: Any,
    name: str,
    style: PlotStyle,
    behind: Pixels | None = None,
) -> None:
    with create_file(Path(path)) as file:
        kind = Path(path).suffix.lower().removeprefix(".")
        save_picture(file, pixels, resolution, column, name=name, style=style, kind=kind, behind=behind)


def write_page(path: str, one: Map, title: str, color: str | None, style: PlotStyle) -> None:
    """The page that `view` serves, in one file."""
    from pixelsne.viewer.export import standalone  # noqa: PLC0415 - not for those who draw
    from pixelsne.viewer.layout import page_of  # noqa: PLC0415

    with create_file(Path(path)) as file:
        file.write(standalone(page_of(one, title, color, dark=style.dark)).encode())


def columns_in(one: Map) -> list[str]:
    return [] if one.extra_columns is None else list(one.extra_columns.column_names)


def asked_column(one: Map, name: str | None) -> str | None:
    """Return the column of the input that is meant, also by its name in the map's file: `input_y` for `y`."""
    return input_name(name, POSITION_COLUMNS) if name is not None and name not in columns_in(one) else name


def run(given: dict[str, Any]) -> None:
    path = Path(given["map_path"])
    check_output(given["output"], (path,), PICTURES + PAGES)
    one = read_map(path)
    label = one.metadata.get("label")
    known = columns_in(one)
    color = asked_column(one, given["color"]) or (None if given["density"] else label)
    if color is not None and color not in known:
        raise FileError(path, f"has no column {color!r} to color by; it has {', '.join(known) or 'none'}")
    if Path(given["output"]).suffix.lower() in PAGES:
        write_page(
            given["output"],
            one,
            given["title"] or path.name,
            color if given["color"] else None,
            PlotStyle(dark=given["dark"]),
        )
        return
    column = None if color is None else one.extra_columns.column(color)
    draw(given["output"], one.pixels, one.resolution, column, color or "", plot_style(given, label=color == label))
