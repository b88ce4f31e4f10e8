"""An artist that draws points as round dots, at the resolution of the output."""

from typing import Any

import numpy as np
from matplotlib.artist import Artist, allow_rasterization
from matplotlib.collections import PathCollection
from matplotlib.path import Path
from matplotlib.transforms import Affine2D, Bbox

from pixelsne.arrays import AnyArray
from pixelsne.raster import Raster, automatic_size

MAX_VECTORS = 20_000  # points drawn as circles in PDF and SVG; more are an image
IMAGE_DPI = 300  # of that image, at least
CSS_DPI = 96  # `automatic_size` is in pixels of CSS

# Dots of crowded maps are smaller than on a screen, as small as the output's resolution allows.
CROWDED_SPACING, FINER_POWER, FINEST = 2.2, 0.7, 2.4
POINTS_PER_INCH = 72


class Dots(Artist):
    """Round, anti-aliased dots, none of which hides another.

    points: (n, 2), data coordinates. colors: (n, 3), 0 to 1. diameter: points (1/72 inch), or None for a diameter by
    the number of points, times `magnify`.
    """

    def __init__(self, points: AnyArray, colors: AnyArray, diameter: float | None = None, magnify: float = 1.0) -> None:
        super().__init__()
        self.points, self.colors = points, colors
        self._diameter, self._magnify = diameter, magnify
        self._drawn: tuple[Any, AnyArray] | None = None  # the last image, and what it depends on
        self.set_in_layout(False)
        self.set_zorder(1)

    def size(self, unit: float, dpi: float) -> tuple[float, float]:
        """Return diameter and opacity of a dot. unit: lengths per inch of the result. dpi: resolution of the output."""
        box, dots = self._plot_axes.bbox, max(int(self._inside().sum()), 1)
        area = box.width * box.height * (CSS_DPI / self._plot_axes.figure.dpi) ** 2
        finer = np.clip((CROWDED_SPACING / np.sqrt(area / dots)) ** FINER_POWER, 1, max(1, min(FINEST, dpi / CSS_DPI)))
        diameter, opacity = automatic_size(dots, area * finer**2)
        if self._diameter is None:
            return float(diameter / finer * self._magnify * unit / CSS_DPI), opacity
        return self._diameter * self._magnify * unit / POINTS_PER_INCH, opacity

    def _inside(self) -> AnyArray:
        (left, right), (bottom, top) = (
            sorted(limits) for limits in (self._plot_axes.get_xlim(), self._plot_axes.get_ylim())
        )
        x, y = self.points.T
        inside: AnyArray = (x >= left) & (x <= right) & (y >= bottom) & (y <= top)
        return inside

    @property
    def _plot_axes(self) -> Any:
        """The axes, which Matplotlib sets when the artist is added."""
        return self.axes

    @allow_rasterization  # type: ignore[untyped-decorator]
    def draw(self, renderer: Any) -> None:
        if not self.get_visible() or len(self.points) == 0:
            return
        if not renderer.option_scale_image():
            self._draw_image(renderer, 1.0)
        elif len(self.points) <= MAX_VECTORS:
            self._draw_circles(renderer)
        else:
            self._draw_image(renderer, max(IMAGE_DPI, getattr(renderer, "dpi", 0)) / POINTS_PER_INCH)

    def _draw_image(self, renderer: Any, scale: float) -> None:
        """Draw an image with `scale` pixels per unit of the renderer."""
        box = self._shown_box()
        sides = np.ceil(np.array([box.width, box.height]) * scale).astype(int)
        if min(sides) < 1:
            return
        gc = renderer.new_gc()
        image = self._image(box, sides, scale)
        if renderer.option_scale_image():
            renderer.draw_image(gc, box.x0, box.y0, image, Affine2D().scale(*(sides / scale)))
        else:
            renderer.draw_image(gc, box.x0, box.y0, image)
        gc.restore()

    def _shown_box(self) -> Bbox:
        """Return the part of the axes that is in the figure, from whole pixels."""
        box, figure = self._plot_axes.bbox, self._plot_axes.figure.bbox
        left, bottom = np.floor([max(box.x0, figure.x0), max(box.y0, figure.y0)])
        right, top = np.ceil([min(box.x1, figure.x1), min(box.y1, figure.y1)])
        return Bbox.from_extents(left, bottom, max(left, right), max(bottom, top))

    def _image(self, box: Bbox, sides: AnyArray, scale: float) -> AnyArray:
        """Return (height, width, 4) bytes, the lowest row first."""
        transform: Any = self._plot_axes.transData.frozen()
        key = (tuple(box.extents), tuple(sides), transform.transform([(0, 0), (1, 1)]).tobytes())
        if self._drawn is not None and self._drawn[0] == key:
            return self._drawn[1]
        dpi = scale * self._plot_axes.figure.dpi
        diameter, opacity = self.size(dpi, dpi)
        points = (transform.transform(self.points) - [box.x0, box.y0]) * scale
        raster = Raster(int(sides[0]), int(sides[1]), (0.0, 0.0, 0.0))
        layer = raster.draw_layer(points, self.colors, diameter, opacity)
        image: AnyArray = np.rint(255 * layer).astype(np.uint8)
        self._drawn = (key, image)
        return image

    def _draw_circles(self, renderer: Any) -> None:
        diameter, opacity = self.size(POINTS_PER_INCH, IMAGE_DPI)
        inside = np.flatnonzero(self._inside())
        order = np.random.default_rng(0).permutation(inside)  # no class is on top of another
        circles: Any = PathCollection(
            (Path.unit_circle(),),
            sizes=[diameter**2 / 4],  # of a circle with radius 1
            offsets=self.points[order],
            offset_transform=self._plot_axes.transData,
            facecolors=np.column_stack([self.colors[order], np.full(len(order), opacity)]),
            linewidths=0,
        )
        circles.set_figure(self._plot_axes.figure)
        circles.axes = self._plot_axes
        circles.set_clip_path(self._plot_axes.patch)
        circles.draw(renderer)
