"""Draw static pictures of a map: each point colors its pixel of the screen, and a legend explains the colors."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from pixelsne import __version__
from pixelsne.arrays import AnyArray, Pixels, ScreenPositions
from pixelsne.coloring import Bar, ColorAs, Coloring, Colors, category_colors, choose_coloring, rgb
from pixelsne.dates import date_ticks
from pixelsne.settings import check_resolution

Image = NDArray[np.float64]  # (height, width, 3), 0 to 1

# A dot grows until all dots together would cover about this share of the screen.
COVERED_SHARE = 0.05
LARGEST_RADIUS = 5
MARGIN = 2 * LARGEST_RADIUS

# In dense maps, pixels with fewer points are fainter. The opacity of a pixel with one point falls with the count at
# which a pixel has its full color, down to FAINTEST.
FAINTEST = 0.35
FAINTER_BY = 0.27  # opacity lost per e-fold of that count
FULL_AT = 0.99  # quantile of the counts of all pixels with points

# The part of the density scale that is used: its ends are too close to the background.
DENSITY_SCALE = {False: "magma_r", True: "magma"}
SCALE_FROM, SCALE_TO = 0.15, 0.92

# Color of the points of a map below new points, on a light and on a dark background.
QUIET = {False: "#d6d6d6", True: "#45454b"}

# Larger maps are reduced by an integer factor.
LARGEST_SIDE_DRAWN = 8192

DOTS_PER_INCH = 100
SOFTWARE_KEY = {"png": "Software", "svg": "Creator", "pdf": "Creator"}  # keys in a picture's metadata
HEAD = 46  # height of the title in pixels
HAIR = 1e-6  # of a pixel
LONGEST_NAME = 28  # characters in the legend
SMALLEST_TEXT, LARGEST_TEXT = 6.0, 12.0  # points
WIDTH_OF_NUMBERS, WIDTH_OF_DATES = 130, 190  # width of a color scale in pixels


@dataclass(frozen=True)
class PlotStyle:
    """The style of a picture."""

    title: str = ""
    dark: bool = False
    scale: int = 1  #: side of a map pixel in picture pixels
    point_size: int | None = None  #: diameter in map pixels; None: chosen by the number of points
    color_as: ColorAs = "auto"

    @property
    def background(self) -> tuple[float, float, float]:
        return (0.07, 0.07, 0.09) if self.dark else (1.0, 1.0, 1.0)

    @property
    def ink(self) -> str:
        return "#e8e8e8" if self.dark else "#222222"


def dot_radius(n: int, resolution: tuple[int, int]) -> int:
    """Return the radius of a dot in pixels, beyond the point's own pixel."""
    area = COVERED_SHARE * resolution[0] * resolution[1] / max(n, 1)
    return int(np.clip(np.sqrt(area / np.pi), 0, LARGEST_RADIUS))


def disc(radius: int) -> list[tuple[int, int]]:
    around = range(-radius, radius + 1)
    return [(dx, dy) for dx in around for dy in around if dx * dx + dy * dy <= radius * radius + radius / 2]


class Canvas:
    """The number of dots on each pixel. A margin around the screen keeps dots at its border whole."""

    def __init__(self, pixels: Pixels, resolution: tuple[int, int], style: PlotStyle, least_radius: int = 0) -> None:
        shrink = -(-max(resolution) // LARGEST_SIDE_DRAWN)
        width, height = (-(-side // shrink) for side in resolution)
        self.radius = max(least_radius, dot_radius(len(pixels), (width, height)))
        if style.point_size is not None:
            self.radius = min(style.point_size // 2, LARGEST_RADIUS)
        self.style = style
        self.shape = (height + 2 * MARGIN, width + 2 * MARGIN)
        self._indices = (pixels[:, 1] // shrink + MARGIN) * self.shape[1] + pixels[:, 0] // shrink + MARGIN
        self.counts = self._sum(None)

    def _sum(self, weights: AnyArray | None) -> AnyArray:
        total = np.zeros(self.shape[0] * self.shape[1])
        for dx, dy in disc(self.radius):
            total += np.bincount(self._indices + dy * self.shape[1] + dx, weights, minlength=total.size)
        return total.reshape(self.shape)

    def paint(self, colors: Colors, background: Image | None = None) -> Image:
        """Paint each pixel in the mean color of its dots, so that no class hides another.

        background: an image to draw on instead of the empty screen.
        """
        background = np.array(self.style.background) if background is None else background
        mean = np.stack([self._sum(channel) for channel in colors.T], axis=2) / np.maximum(self.counts, 1)[:, :, None]
        opacity = np.where(self.counts > 0, 1.0, 0.0)
        if self.radius == 0:
            faintest = np.clip(1 - FAINTER_BY * np.log(self.most() / 2), FAINTEST, 1)
            opacity *= faintest + (1 - faintest) * logarithmic_fraction(self.counts, self.most())
        image: Image = background + opacity[:, :, None] * (mean - background)
        return image

    def paint_density(self) -> tuple[Image, Bar | None]:
        """Paint the number of points per pixel, for maps without colors."""
        from matplotlib import colormaps  # noqa: PLC0415 - slow to import

        scale = colormaps[DENSITY_SCALE[self.style.dark]]
        most = self.most()
        fractions = logarithmic_fraction(self.counts, most)
        shades = scale(SCALE_FROM + (SCALE_TO - SCALE_FROM) * fractions)[:, :, :3]
        image: Image = np.where(self.counts[:, :, None] > 0, shades, np.array(self.style.background))
        if most <= 1:
            return image, None
        return image, Bar(1.0, most, scale.name, logarithmic=True, cut=(False, bool(self.counts.max() > most)))

    def most(self) -> float:
        """Return the count at which a pixel has its full color."""
        covered = self.counts[self.counts > 0]
        return float(np.quantile(covered, FULL_AT)) if covered.size else 1.0


def logarithmic_fraction(counts: AnyArray, most: float) -> AnyArray:
    """Return 0 for one point on a pixel, 1 for `most` points, and a logarithmic scale in between."""
    if most <= 1:
        return np.ones_like(counts)
    fractions: AnyArray = np.clip(np.log(np.maximum(counts, 1)) / np.log(most), 0, 1)
    return fractions


def check_pixels(pixels: Any, resolution: tuple[int, int]) -> Pixels:
    """Return (n, 2) pixel indices; raise ValueError if some are outside of the screen."""
    indices = np.asarray(pixels)
    if indices.ndim != 2 or indices.shape[1] != 2 or indices.dtype.kind not in "iuf":  # noqa: PLR2004
        raise ValueError(f"pixels must be an array (n, 2) of numbers, as model.pixels_, got {pixels!r:.60}")
    if not ((indices >= 0) & (indices < np.array(resolution))).all():
        width, height = resolution
        raise ValueError(
            f"pixels must lie on the screen of {width} x {height}; give model.pixels_ and the model's resolution"
        )
    return indices.astype(np.int32)


def save_picture(
    file: Path | str | IO[bytes],
    pixels: Pixels | ScreenPositions,
    resolution: int | tuple[int, int],
    labels: Any = None,
    *,
    name: str = "",
    style: PlotStyle | None = None,
    kind: str | None = None,
    behind: Pixels | None = None,
) -> None:
    """Write a picture of the map to a file.

    `pixels` are the `pixels_` or `embedding_` of a model, and `resolution` is that of the model. `labels` color the
    points: an array, or a column of a pyarrow table called `name`. Without labels, the color is the density of points.
    `kind` is "png", "svg" or "pdf"; it is needed if the file's name has no such suffix. `behind` holds the pixels of a
    map on which new points were placed; it is drawn in gray below the new points, which have one color without labels.
    """
    style, resolution = style or PlotStyle(), check_resolution(resolution)
    pixels = check_pixels(pixels, resolution)
    if labels is not None:
        labels = labels if hasattr(labels, "combine_chunks") else np.asarray(labels)
        if len(labels) != len(pixels):
            raise ValueError(f"labels must be one for each of the {len(pixels)} points, got {len(labels)}")
    if behind is not None:
        image, coloring = paint_over(check_pixels(behind, resolution), pixels, resolution, labels, name, style)
    elif labels is None:
        image, bar = Canvas(pixels, resolution, style).paint_density()
        coloring = Coloring(np.empty((0, 3)), bar=bar, name="points on a pixel")
    else:
        coloring = choose_coloring(labels, name, style.color_as)
        image = Canvas(pixels, resolution, style).paint(coloring.colors)
    frame(file, image, coloring, style, kind)


def paint_over(
    old: Pixels, new: Pixels, resolution: tuple[int, int], labels: Any, name: str, style: PlotStyle
) -> tuple[Image, Coloring]:
    """Return an image of the new points over the old ones, in dots of at least their size, and colors with a legend."""
    below = Canvas(old, resolution, style)
    quiet = rgb(QUIET[style.dark])
    image = below.paint(np.tile(quiet, (len(old), 1)))
    if labels is None:
        color = category_colors(1)
        coloring = Coloring(np.repeat(color, len(new), axis=0), ((f"{len(new):,} new points", color[0]),))
    else:
        coloring = choose_coloring(labels, name, style.color_as)
    canvas = Canvas(new, resolution, style, least_radius=below.radius)
    legend = (*coloring.legend, (f"{len(old):,} points of the map", quiet))
    return canvas.paint(coloring.colors, image), replace(coloring, legend=legend)


def frame(file: Any, image: Image, coloring: Coloring, style: PlotStyle, kind: str | None) -> None:
    """Write the image with its title above and its legend to the right."""
    from matplotlib.figure import Figure  # noqa: PLC0415 - slow to import

    shown = np.rint(255 * image).astype(np.uint8).repeat(style.scale, axis=0).repeat(style.scale, axis=1)
    head = HEAD if style.title else 0
    text = text_size(shown.shape[0], len(coloring.legend))
    side = side_width(coloring, text)
    width, height = shown.shape[1] + side, shown.shape[0] + head
    figure: Any = Figure((width / DOTS_PER_INCH, height / DOTS_PER_INCH), DOTS_PER_INCH, facecolor=style.background)
    # Subtract a hair, because older versions of Matplotlib round up and stretch the image by a pixel.
    axes = figure.add_axes((0, 0, (shown.shape[1] - HAIR) / width, (shown.shape[0] - HAIR) / height))
    axes.imshow(shown, interpolation="none", aspect="auto")
    axes.set_axis_off()
    if style.title:
        left = MARGIN * style.scale / width
        written = figure.text(left, 1 - head / 2 / height, style.title, va="center", fontsize=14, color=style.ink)
        written.set_parse_math(parse_math=False)
    if coloring.bar is not None:
        draw_bar(figure, coloring, coloring.bar, style, (width - side) / width, width)
    if coloring.legend:
        draw_legend(figure, coloring, style, text, (width - side) / width, shown.shape[0] / height)
    file_kind = kind or Path(str(file)).suffix.lower().removeprefix(".")
    metadata = {SOFTWARE_KEY[file_kind]: f"pixelsne {__version__}"} if file_kind in SOFTWARE_KEY else None
    figure.savefig(file, format=kind, facecolor=style.background, dpi=DOTS_PER_INCH, metadata=metadata)


def text_size(height: int, lines: int) -> float:
    """Return the font size in points, smaller for many legend entries."""
    return float(np.clip(0.38 * height / max(lines + 1, 1), SMALLEST_TEXT, LARGEST_TEXT))


def side_width(coloring: Coloring, text: float) -> int:
    """Return the width of the legend in pixels."""
    bar = 0 if coloring.bar is None else WIDTH_OF_DATES if coloring.bar.dates else WIDTH_OF_NUMBERS
    if not coloring.legend:
        return bar
    title = () if bar else (coloring.name,)
    longest = max(len(name[:LONGEST_NAME]) for name in (*title, *(name for name, _ in coloring.legend)))
    return max(bar, int(text * (3.0 + 0.95 * longest)) + 24)


def draw_legend(figure: Any, coloring: Coloring, style: PlotStyle, text: float, left: float, top: float) -> None:
    from matplotlib.lines import Line2D  # noqa: PLC0415 - slow to import

    dots = [
        Line2D([], [], marker="o", linestyle="", color=color, markersize=0.75 * text) for _, color in coloring.legend
    ]
    names = [name if len(name) <= LONGEST_NAME else name[: LONGEST_NAME - 1] + "…" for name, _ in coloring.legend]
    below_bar = coloring.bar is not None
    legend = figure.legend(
        dots,
        names,
        loc="lower left" if below_bar else "center left",
        bbox_to_anchor=(left, 0.02 if below_bar else top / 2),
        frameon=False,
        fontsize=text,
        labelcolor=style.ink,
        title=None if below_bar else coloring.name or None,
        title_fontsize=text,
        alignment="left",
        handletextpad=0.2,
    )
    legend.get_title().set_color(style.ink)
    for written in legend.get_texts():
        written.set_parse_math(parse_math=False)  # a label may contain dollar signs


def draw_bar(figure: Any, coloring: Coloring, bar: Bar, style: PlotStyle, left: float, width: int) -> None:
    from matplotlib import colormaps  # noqa: PLC0415 - slow to import
    from matplotlib.cm import ScalarMappable  # noqa: PLC0415
    from matplotlib.colors import ListedColormap, LogNorm, Normalize  # noqa: PLC0415

    axes = figure.add_axes((left + 14 / width, 0.2, 16 / width, 0.6))
    norm: Any = (LogNorm if bar.logarithmic else Normalize)(bar.low, bar.high)
    ends = (SCALE_FROM, SCALE_TO) if bar.logarithmic else (0.0, 1.0)
    scale = ListedColormap(colormaps[bar.scale](np.linspace(*ends, 256)))
    extend = {(False, False): "neither", (True, False): "min", (False, True): "max", (True, True): "both"}[bar.cut]
    drawn = figure.colorbar(ScalarMappable(norm, scale), cax=axes, extend=extend)
    if bar.dates:
        ticks, names = date_ticks(bar.low, bar.high)
        drawn.set_ticks(ticks, labels=names)
    drawn.ax.tick_params(which="both", colors=style.ink, labelsize=10)
    drawn.outline.set_visible(False)
    label = drawn.ax.set_ylabel(coloring.name[:LONGEST_NAME], color=style.ink, fontsize=11)
    label.set_parse_math(parse_math=False)
