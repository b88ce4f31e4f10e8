"""Figures around a map: as high as the map and its title need, with space for the legend."""

from typing import Any

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.transforms import ScaledTranslation

from pixelsne.coloring import without_controls
from pixelsne.pictures.draw import Picture, draw_picture
from pixelsne.pictures.legend import draw_entries
from pixelsne.pictures.style import PlotStyle
from pixelsne.pictures.view import View

TITLE, MIN_TITLE = 11.0, 5.0  # points
TITLE_SPACE = 0.09  # inches, left of and above the title
SIDE_SPACE = 0.06  # inches, right of the legend
NARROWEST_MAP = 0.3  # share of the figure's width
SMALLER_WIDTH = 5.5  # inches, of figures that are shown rather than written
LAYOUT_DPI = 100


def figure_of(picture: Picture, style: PlotStyle) -> Any:
    """Return a figure of the style's width with a picture."""
    view = picture.view()
    ratio = view.height / view.width
    figure: Any = Figure((style.width, style.width * ratio), LAYOUT_DPI, facecolor=style.background)
    FigureCanvasAgg(figure)
    axes = figure.add_axes((0, 0, 1, 1))
    coloring = draw_picture(axes, picture, style)
    title_height = draw_title(figure, style)
    side = side_width(axes)
    for _ in range(3):  # the color scale gets narrower with the axes
        width = max(style.width - side, NARROWEST_MAP * style.width)
        height = width * ratio
        figure.set_size_inches(style.width, height + title_height)
        axes.set_position((0, 0, width / style.width, height / (height + title_height)))
        if axes.get_legend() is not None:
            draw_entries(axes, coloring, style)  # smaller if the axes are not high enough
        side = side_width(axes)
    return figure


def side_width(axes: Any) -> float:
    """Return how far the legend reaches beyond the right side of the axes, in inches."""
    renderer = axes.figure.canvas.get_renderer()
    axes.apply_aspect()
    beside = [artist for artist in (axes.get_legend(), *axes.child_axes) if artist is not None]
    rights = [box.x1 for artist in beside if (box := artist.get_tightbbox(renderer)) is not None]
    if not rights:
        return 0.0
    return float((max(rights) - axes.bbox.x1) / axes.figure.dpi) + SIDE_SPACE


def draw_title(figure: Any, style: PlotStyle) -> float:
    """Write the title at the top left, smaller if it is too long; return its height in inches."""
    if not style.title:
        return 0.0
    size, left = TITLE * style.magnify, TITLE_SPACE * style.magnify
    corner = figure.transFigure + ScaledTranslation(left, -left, figure.dpi_scale_trans)
    title = without_controls(style.title)
    text = figure.text(0, 1, title, transform=corner, va="top", fontsize=size, fontweight="bold", color=style.ink)
    text.set_parse_math(parse_math=False)
    text.set_family(style.font)
    extent = text.get_window_extent(figure.canvas.get_renderer())
    space = (style.width - 2 * left) * figure.dpi
    if extent.width > space:
        text.set_fontsize(max(size * space / extent.width, MIN_TITLE))
    return float(extent.height / figure.dpi) + left


def new_axes(view: View, style: PlotStyle) -> Any:
    """Return axes in a new figure of pyplot, which notebooks show."""
    from matplotlib import pyplot as plt  # noqa: PLC0415 - only for figures that are shown

    size = (SMALLER_WIDTH + 1, SMALLER_WIDTH * view.height / view.width)
    figure = plt.figure(figsize=size, facecolor=style.background, layout="constrained")
    return figure.add_subplot()
