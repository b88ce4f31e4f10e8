"""The legend of categories and the color scale of numbers, to the right of the axes."""

from typing import Any

import numpy as np
from matplotlib.cm import ScalarMappable
from matplotlib.colorbar import Colorbar
from matplotlib.colors import LinearSegmentedColormap, LogNorm, Normalize
from matplotlib.lines import Line2D

from pixelsne.coloring import Bar, Coloring, without_controls
from pixelsne.dates import date_ticks
from pixelsne.palettes import colormap_of
from pixelsne.pictures.style import INK, PlotStyle, is_dark

LONGEST_NAME = 32  # characters
TEXT, MIN_TEXT = 8.0, 4.5  # points
LINE = 1.45  # height of an entry, in sizes of the text
POINTS_PER_INCH = 72
BAR_LEFT, BAR_WIDTH = 0.03, 0.02  # in widths of the axes
BAR_BOTTOM, BAR_HEIGHT = 0.25, 0.5
BAR_BOTTOM_OVER_LEGEND = 0.4

# The part of the density's scale that is used: its ends are too close to the background.
SCALE_FROM, SCALE_TO = 0.12, 0.92


def shortened(name: str) -> str:
    name = " ".join(without_controls(name).split())
    return name if len(name) <= LONGEST_NAME else name[: LONGEST_NAME - 1] + "…"


def ink_beside(axes: Any) -> str:
    """Return the color of text outside of the axes, which the figure's own background decides."""
    return INK[is_dark(axes.figure.get_facecolor())]


def draw_legend(axes: Any, coloring: Coloring, style: PlotStyle) -> None:
    """Draw what the colors mean."""
    if coloring.bar is not None:
        draw_bar(axes, coloring, coloring.bar, style)
    if coloring.legend:
        draw_entries(axes, coloring, style)


def draw_entries(axes: Any, coloring: Coloring, style: PlotStyle) -> None:
    """Draw an entry for each category, in place of an older legend."""
    below_bar = coloring.bar is not None
    size = text_size(axes, len(coloring.legend), style)
    dots = [
        Line2D([], [], marker="o", linestyle="", color=tuple(color), markersize=0.75 * size, markeredgewidth=0)
        for _, color in coloring.legend
    ]
    legend = axes.legend(
        dots,
        [shortened(name) for name, _ in coloring.legend],
        loc="lower left" if below_bar else "center left",
        bbox_to_anchor=(1.0, 0.02 if below_bar else 0.5),
        frameon=False,
        labelcolor=ink_beside(axes),
        title=None if below_bar else shortened(coloring.name) or None,
        prop={"size": size} | ({} if style.font is None else {"family": style.font}),
        title_fontproperties={"size": size, "weight": "bold"} | ({} if style.font is None else {"family": style.font}),
        alignment="left",
        handletextpad=0.1,
        labelspacing=0.35,
        borderaxespad=0.4,
    )
    legend.get_title().set_color(ink_beside(axes))
    for text in (legend.get_title(), *legend.get_texts()):
        text.set_parse_math(parse_math=False)  # a name may contain dollar signs


def text_size(axes: Any, lines: int, style: PlotStyle) -> float:
    """Return the font size in points, smaller if the entries would not fit beside the axes."""
    height = axes.bbox.height * POINTS_PER_INCH / axes.figure.dpi
    return float(np.clip(0.96 * height / ((lines + 1.5) * LINE), MIN_TEXT, TEXT * style.magnify))


def draw_bar(axes: Any, coloring: Coloring, bar: Bar, style: PlotStyle) -> None:
    """Draw a color scale with its ticks."""
    bottom = BAR_BOTTOM_OVER_LEGEND if coloring.legend else BAR_BOTTOM
    inset = axes.inset_axes((1 + BAR_LEFT, bottom, BAR_WIDTH, BAR_HEIGHT))
    norm = (LogNorm if bar.logarithmic else Normalize)(bar.low, bar.high)
    extend: Any = {(False, False): "neither", (True, False): "min", (False, True): "max", (True, True): "both"}[bar.cut]
    drawn: Any = Colorbar(inset, ScalarMappable(norm, colormap_of(bar.scale)), extend=extend)
    if bar.dates:
        ticks, names = date_ticks(bar.low, bar.high)
        drawn.set_ticks(ticks, labels=names)
    ink, size = ink_beside(axes), TEXT * style.magnify
    inset.tick_params(which="both", colors=ink, labelsize=0.9 * size, length=2.5, width=0.5)
    drawn.outline.set_visible(False)
    drawn.dividers.set_visible(False)
    inset.set_ylabel(shortened(coloring.name), color=ink, fontsize=size, family=style.font, parse_math=False)
    for text in inset.get_yticklabels():
        text.set_family(style.font)


def density_scale(*, dark: bool) -> Any:
    """Return the colors of densities, from few to many points: visible on the background from the first."""
    shades = colormap_of("magma" if dark else "magma_r")(np.linspace(SCALE_FROM, SCALE_TO, 256))
    return LinearSegmentedColormap.from_list("density", shades)
