"""Draw a map into Matplotlib axes."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from matplotlib.backends.backend_agg import RendererAgg

from pixelsne.arrays import AnyArray, ScreenPositions
from pixelsne.coloring import Coloring, category_colors, rgb
from pixelsne.pictures.density_layer import draw_classes, draw_surface
from pixelsne.pictures.dots import Dots
from pixelsne.pictures.fonts import check_font, warn_of_missing_glyphs
from pixelsne.pictures.legend import draw_legend
from pixelsne.pictures.name_artist import MapNames
from pixelsne.pictures.names import MapName, all_named, names_of_categories, names_of_regions
from pixelsne.pictures.style import QUIET, PlotStyle
from pixelsne.pictures.view import View, view_of
from pixelsne.regions import Regions


@dataclass(frozen=True)
class Picture:
    """What a picture of a map shows."""

    placed: ScreenPositions  # (n, 2), pixels
    resolution: tuple[int, int]
    coloring: Coloring | None  # None: by region
    regions: Regions | None  # None: without regions
    names: bool  # whether to write names
    behind: AnyArray | None = None  # (m, 2), pixels of a map below

    def view(self) -> View:
        every = self.placed if self.behind is None else np.concatenate([self.behind, self.placed])
        return view_of(every, self.resolution)


def draw_picture(axes: Any, picture: Picture, style: PlotStyle) -> Coloring:
    """Draw a picture with its names and its legend; the axes get its view. Return what the colors mean."""
    check_font(style.font)
    view = picture.view()
    prepare_axes(axes, view, style)
    coloring = draw_points(axes, picture, view, style)
    names = choose_names(picture, coloring, view)
    artist = MapNames(names, style)
    axes.add_artist(artist)
    texts = [style.title, coloring.name, *(name.text for name in names), *(name for name, _ in coloring.legend)]
    warn_of_missing_glyphs(texts, style.font)
    if style.legend is None:
        width, height = (int(side) + 1 for side in axes.figure.bbox.size)
        renderer: Any = RendererAgg(width, height, axes.figure.dpi)  # type: ignore[no-untyped-call]
        written = artist.lay_out(renderer)
        if all_named(coloring, [placed.name for placed in written]):
            return coloring
    if style.legend is not False:
        draw_legend(axes, coloring, style)
    return coloring


def prepare_axes(axes: Any, view: View, style: PlotStyle) -> None:
    """Set the view, with y downward and equal scales, and hide frame and ticks."""
    axes.set(xlim=(view.left, view.right), ylim=(view.bottom, view.top), xticks=[], yticks=[])
    axes.set_autoscale_on(False)
    axes.set_aspect("equal")
    axes.set_facecolor(style.background)
    for side in axes.spines.values():
        side.set_visible(False)


def draw_points(axes: Any, picture: Picture, view: View, style: PlotStyle) -> Coloring:
    """Draw dots or densities; return what their colors mean."""
    coloring = picture.coloring
    if style.density and coloring is None:
        return draw_surface(axes, picture.placed, view, style)
    if style.density and coloring is not None:
        draw_classes(axes, picture.placed, coloring, view, style)
        return coloring
    if picture.behind is not None:
        return draw_over(axes, picture, picture.behind, style)
    if coloring is None:
        colors = quiet_colors(len(picture.placed), style) if picture.regions is None else picture.regions.point_colors()
        coloring = Coloring(colors)
    axes.add_artist(Dots(picture.placed, coloring.colors, style.point_size, style.magnify))
    return coloring


def quiet_colors(n: int, style: PlotStyle) -> AnyArray:
    return np.tile(rgb(QUIET[style.dark]), (n, 1))


def draw_over(axes: Any, picture: Picture, behind: AnyArray, style: PlotStyle) -> Coloring:
    """Draw new points over those of the map; return a coloring whose legend tells them apart."""
    new, coloring = picture.placed, picture.coloring
    quiet = quiet_colors(len(behind), style)
    if coloring is None:
        color = category_colors(1)
        coloring = Coloring(np.repeat(color, len(new), axis=0), ((f"{len(new):,} new points", color[0]),))
    axes.add_artist(Dots(behind, quiet, style.point_size, style.magnify))
    above = Dots(new, coloring.colors, style.point_size, style.magnify)
    above.set_zorder(2)
    axes.add_artist(above)
    legend = (*coloring.legend, (f"{len(behind):,} points of the map", rgb(QUIET[style.dark])))
    return replace(coloring, legend=legend)


def choose_names(picture: Picture, coloring: Coloring, view: View) -> list[MapName]:
    """Return the names of regions if there are any, otherwise those of categories."""
    if not picture.names:
        return []
    if picture.regions is not None and any(region.name.strip() for region in picture.regions.regions):
        return names_of_regions(picture.regions, picture.placed, coloring, colored=picture.coloring is None)
    return [] if picture.behind is not None else names_of_categories(coloring, picture.placed, view)
