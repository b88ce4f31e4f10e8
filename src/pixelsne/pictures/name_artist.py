"""An artist that writes names on a map. Whenever it is drawn, it finds places for them in the axes as they are then."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.artist import Artist
from matplotlib.patheffects import Stroke
from matplotlib.text import Text

from pixelsne.pictures.name_layout import Box, NameLayout
from pixelsne.pictures.names import MapName
from pixelsne.pictures.style import PlotStyle, readable
from pixelsne.pictures.wrapping import wrap

POINTS_PER_INCH = 72
REFERENCE_WIDTH = 6.5  # inches, of axes in which names have these sizes
SIZES = (10.5, 7.8, 6.3, 5.4)  # points, by level; finer levels have the last
SMALLEST = 5.0  # points
MAX_GROWTH, MIN_GROWTH = 1.35, 0.8  # by the number of points, relative to the level's median
GROWTH_POWER = 0.22
USUAL_LENGTH, LENGTH_POWER, MAX_SHORT = 12, 0.25, 1.7  # shorter names, such as digits, are larger
SHRINKING = (1.0, 0.85, 0.72)  # tried in this order
WIDEST = 1.3  # finer names are at most this much wider than what they name
COARSE_AREA, FINE_AREA = 0.3, 0.2  # share of the axes that names may cover
MARGIN = 2.0  # points, between names and the border of the axes
GAP = 0.35  # between names, in lines of the smallest size
HALO, HALO_POINTS = 0.22, 1.3  # width of the halo: in sizes of the text, and points added
WEIGHTS = ("bold", "normal")  # by level; finer levels have the last


@dataclass(frozen=True)
class PlacedName:
    """A name with its place on the picture."""

    name: MapName
    box: Box  # pixels of the output, without halo
    size: float  # points


def _growth(name: MapName, median: float) -> float:
    """Return a factor on the size of a name, by its number of points and its length."""
    by_count = float(np.clip((name.count / max(median, 1)) ** GROWTH_POWER, MIN_GROWTH, MAX_GROWTH))
    by_length = float(np.clip((USUAL_LENGTH / max(len(name.text), 1)) ** LENGTH_POWER, 1, MAX_SHORT))
    return by_count * by_length


class MapNames(Artist):
    """Names with a halo, the coarsest and largest first, as many as there is space for."""

    def __init__(self, names: Sequence[MapName], style: PlotStyle) -> None:
        super().__init__()
        self.names, self._style = sorted(names, key=lambda name: (name.level, -name.count)), style
        medians = {level: np.median([name.count for name in names if name.level == level]) for level in self._levels()}
        self._growth = [_growth(name, float(medians[name.level])) for name in self.names]
        self.placed: list[PlacedName] = []  # as drawn last
        self.set_in_layout(False)
        self.set_zorder(4)

    @property
    def _plot_axes(self) -> Any:
        """The axes, which Matplotlib sets when the artist is added."""
        return self.axes

    def _levels(self) -> list[int]:
        return sorted({name.level for name in self.names})

    def draw(self, renderer: Any) -> None:
        if not self.get_visible():
            return
        self.placed = self.lay_out(renderer)
        for placed in self.placed:
            text = self._text(placed)
            # Matplotlib writes text with path effects as outlines, so the halo is drawn first, and then the text.
            width = HALO * placed.size + HALO_POINTS * self._style.magnify
            text.set_path_effects([Stroke(linewidth=width, foreground=self._style.background, alpha=0.9)])
            text.draw(renderer)
            text.set_path_effects([])
            text.draw(renderer)

    def lay_out(self, renderer: Any) -> list[PlacedName]:
        """Return names and their places, for the current size of the axes."""
        box = self._plot_axes.bbox
        dpi = renderer.points_to_pixels(POINTS_PER_INCH)
        scale = self._style.magnify * np.sqrt(max(box.width / dpi, 0.1) / REFERENCE_WIDTH)
        area = box.padded(-MARGIN * dpi / POINTS_PER_INCH).extents
        layout = NameLayout(tuple(area), GAP * SMALLEST * dpi / POINTS_PER_INCH)
        anchors = self._plot_axes.transData.transform([name.anchor for name in self.names]) if self.names else []
        pixels_per_unit = abs(
            self._plot_axes.transData.transform([(0, 0), (1, 0)])[1, 0] - self._plot_axes.transData.transform((0, 0))[0]
        )
        levels, placed, covered = self._levels(), [], 0.0
        for name, growth, anchor in zip(self.names, self._growth, anchors, strict=True):
            rank = levels.index(name.level)
            if covered > (COARSE_AREA if rank == 0 else FINE_AREA) * box.width * box.height:
                continue
            widest = box.width if rank == 0 else WIDEST * name.extent * pixels_per_unit
            size = scale * SIZES[min(rank, len(SIZES) - 1)] * growth
            found = self._place(layout, name, tuple(anchor), size, widest, renderer)
            if found is not None:
                placed.append(found)
                covered += (found.box[2] - found.box[0]) * (found.box[3] - found.box[1])
        return placed

    def _place(
        self, layout: NameLayout, name: MapName, anchor: tuple[float, float], size: float, widest: float, renderer: Any
    ) -> PlacedName | None:
        for factor in SHRINKING:
            smaller = max(factor * size, SMALLEST * self._style.magnify)
            extent = self._text(PlacedName(name, (0, 0, 0, 0), smaller)).get_window_extent(renderer)
            if extent.width <= widest:
                box = layout.place(anchor, (extent.width, extent.height))
                if box is not None:
                    return PlacedName(name, box, smaller)
        return None

    def _text(self, placed: PlacedName) -> Text:
        """Return the text of a name, centered in its box."""
        name, style = placed.name, self._style
        left, bottom, right, top = placed.box
        text = Text(
            (left + right) / 2,
            (bottom + top) / 2,
            wrap(name.text),
            fontsize=placed.size,
            fontweight=WEIGHTS[min(name.level, len(WEIGHTS)) - 1],
            color=readable(name.color or style.ink, style.background),
            family=style.font,
            ha="center",
            va="center",
            multialignment="center",
            linespacing=1.05,
            parse_math=False,
            usetex=False,
        )
        text.set_figure(self._plot_axes.figure)
        return text
