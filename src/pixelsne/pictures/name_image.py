"""Write names on an image of a map."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from pixelsne.pictures.name_artist import MapNames
from pixelsne.pictures.names import MapName
from pixelsne.pictures.style import PlotStyle
from pixelsne.raster import Image

IMAGE_DPI = 100


def with_names(image: Image, names: Sequence[MapName], style: PlotStyle) -> Image:
    """Return the image, (height, width, 3), 0 to 1, with names on it, whose anchors are in its pixels."""
    height, width = image.shape[:2]
    figure: Any = Figure((width / IMAGE_DPI, height / IMAGE_DPI), IMAGE_DPI)
    canvas: Any = FigureCanvasAgg(figure)
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set_axis_off()
    axes.imshow(image, extent=(0, width, height, 0), aspect="auto", interpolation="none")
    axes.add_artist(MapNames(names, style))
    canvas.draw()
    drawn: Image = np.asarray(canvas.buffer_rgba())[:, :, :3] / 255.0
    return drawn
