"""Draw the density of points as a smooth surface with contours, of all points or of each class."""

from typing import Any

import numpy as np
from matplotlib.colors import to_rgba

from pixelsne.arrays import AnyArray
from pixelsne.coloring import Bar, Coloring
from pixelsne.pictures.legend import density_scale
from pixelsne.pictures.style import PlotStyle
from pixelsne.pictures.view import View
from pixelsne.raster import contour_levels, default_bandwidth, density

CELLS = 640  # of the density's lattice, along the longer side of the view
FAINT_BELOW = 0.6  # of the lowest contour: there, the surface fades into the background
STEEPNESS = 0.5  # power of the density that the colors show
LINE = 0.5  # points
SHARES_OF_CLASS = (0.95, 0.8, 0.6, 0.4, 0.2)  # of its points within each contour
FILL = 0.13  # opacity of a class between two contours


def _lattice(view: View) -> tuple[float, tuple[int, int]]:
    """Return the cells per pixel of the map, and the size of the lattice."""
    scale = CELLS / max(view.width, view.height)
    return scale, (max(int(np.ceil(view.width * scale)), 2), max(int(np.ceil(view.height * scale)), 2))


def draw_surface(axes: Any, placed: AnyArray, view: View, style: PlotStyle) -> Coloring:
    """Draw the density of all points; return what the colors mean."""
    scale, size = _lattice(view)
    surface = density((placed - [view.left, view.top]) * scale, *size)
    levels = contour_levels(surface)
    peak = float(surface.max()) or 1.0
    colors = density_scale(dark=style.dark)
    shades = colors((surface / peak) ** STEEPNESS)
    lowest = float(levels[0]) if len(levels) else peak
    shades[:, :, 3] = np.clip((surface / lowest - FAINT_BELOW) / (1 - FAINT_BELOW), 0, 1)
    extent = (view.left, view.left + size[0] / scale, view.top + size[1] / scale, view.top)
    axes.imshow(shades, extent=extent, interpolation="bilinear", aspect="auto", zorder=1)
    if len(levels) > 1:
        _draw_lines(axes, surface, levels, extent, style.background, style.magnify, opacity=0.5)
    per_pixel = peak * scale**2
    return Coloring(np.empty((0, 3)), bar=_bar(per_pixel, colors), name="points per pixel of the map")


def _bar(peak: float, colors: Any) -> Bar:
    places = np.linspace(0, 1, 256) ** STEEPNESS
    from matplotlib.colors import ListedColormap  # noqa: PLC0415

    return Bar(0.0, peak, ListedColormap(colors(places)))


def draw_classes(axes: Any, placed: AnyArray, coloring: Coloring, view: View, style: PlotStyle) -> None:
    """Draw the density of each class of a coloring in its color."""
    if coloring.codes is None:
        raise ValueError(
            f"{coloring.name or 'color'} holds numbers, but density is drawn by class; use color_as='categories'"
        )
    scale, size = _lattice(view)
    cells = (placed - [view.left, view.top]) * scale
    bandwidth = default_bandwidth(len(cells), *size)
    extent = (view.left, view.left + size[0] / scale, view.top + size[1] / scale, view.top)
    for code, (_, color) in enumerate(coloring.legend[: coloring.codes.max(initial=-1) + 1]):
        surface = density(cells[coloring.codes == code], *size, bandwidth)
        levels = contour_levels(surface, SHARES_OF_CLASS)
        if len(levels) > 1:
            bounds = [*levels, max(float(surface.max()), levels[-1]) * 1.001]
            fills = [(*color, min(1.0, FILL * (1 + rank))) for rank in range(len(levels))]
            x, y = _centers(surface.shape, extent)
            axes.contourf(x, y, surface, bounds, colors=fills, zorder=1, antialiased=True)
            _draw_lines(axes, surface, levels, extent, tuple(color), style.magnify, opacity=0.9)


def _draw_lines(
    axes: Any, surface: AnyArray, levels: AnyArray, extent: Any, color: Any, magnify: float, *, opacity: float
) -> None:
    x, y = _centers(surface.shape, extent)
    lines = {"linewidths": LINE * magnify, "linestyles": "solid", "zorder": 2}
    axes.contour(x, y, surface, levels, colors=[to_rgba(color, opacity)], **lines)


def _centers(shape: tuple[int, ...], extent: tuple[float, float, float, float]) -> tuple[AnyArray, AnyArray]:
    """Return the coordinates of the middles of cells."""
    left, right, bottom, top = extent
    return (
        left + (np.arange(shape[1]) + 0.5) * (right - left) / shape[1],
        top + (np.arange(shape[0]) + 0.5) * (bottom - top) / shape[0],
    )
