"""Static pictures: the map as it lights up the pixels of the screen, with a legend."""

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pixelsne.arrays import Pixels

Image = NDArray[np.float64]  # (height, width, 3), 0 to 1

# Ten colors that stay apart for color-blind readers, too (after Okabe and Ito, with two more).
PALETTE = (
    "#0072b2",
    "#e69f00",
    "#009e73",
    "#d55e00",
    "#cc79a7",
    "#56b4e9",
    "#b5a900",
    "#7f3c8d",
    "#4d4d4d",
    "#8c510a",
)

# A dot grows until all dots together would cover about this share of the screen.
COVERED_SHARE = 0.05
LARGEST_RADIUS = 5
MARGIN = 2 * LARGEST_RADIUS


def dot_radius(n: int, resolution: tuple[int, int]) -> int:
    """Whole pixels around a point's own that its dot covers."""
    room = COVERED_SHARE * resolution[0] * resolution[1] / max(n, 1)
    return int(np.clip(np.sqrt(room / np.pi), 0, LARGEST_RADIUS))


def disc(radius: int) -> list[tuple[int, int]]:
    around = range(-radius, radius + 1)
    return [(dx, dy) for dx in around for dy in around if dx * dx + dy * dy <= radius * radius + radius / 2]


def paint(pixels: Pixels, colors: NDArray[np.float64], resolution: tuple[int, int]) -> Image:
    """The mean color of all dots that cover a pixel, white where there are none.

    pixels: (n, 2); colors: (n, 3). A mean hides no class behind another that happens to be drawn later.
    Around the screen there is a margin, so that no dot at its border is cut.
    """
    width, height = resolution[0] + 2 * MARGIN, resolution[1] + 2 * MARGIN
    sums = np.zeros((height * width, 3))
    counts = np.zeros(height * width)
    for dx, dy in disc(dot_radius(len(pixels), resolution)):
        flat = (pixels[:, 1] + dy + MARGIN) * width + pixels[:, 0] + dx + MARGIN
        counts += np.bincount(flat, minlength=counts.size)
        for channel in range(3):
            sums[:, channel] += np.bincount(flat, weights=colors[:, channel], minlength=counts.size)
    image = np.ones((height * width, 3))
    covered = counts > 0
    image[covered] = sums[covered] / counts[covered, None]
    return image.reshape(height, width, 3)


def save_picture(
    path: Path | str, pixels: Pixels, resolution: tuple[int, int], labels: ArrayLike, title: str = ""
) -> None:
    """Writes a picture of the map, one pixel of the map to a pixel of the picture, colored by label."""
    from matplotlib.colors import to_rgb  # noqa: PLC0415 - slow to import
    from matplotlib.figure import Figure  # noqa: PLC0415

    names, classes = np.unique(np.asarray(labels), return_inverse=True)
    palette = np.array([to_rgb(PALETTE[place % len(PALETTE)]) for place in range(len(names))])
    image = paint(pixels, palette[classes], resolution)
    dots_per_inch, legend, head = 100, 110, 50
    width, height = image.shape[1] + legend, image.shape[0] + head
    figure = Figure(figsize=(width / dots_per_inch, height / dots_per_inch), dpi=dots_per_inch)
    axes: Any = figure.add_axes((0, 0, image.shape[1] / width, image.shape[0] / height))
    axes.imshow(image, interpolation="none", aspect="auto")
    axes.set_axis_off()
    handles = [axes.plot([], [], "o", color=palette[place], markersize=9)[0] for place in range(len(names))]
    figure.legend(handles, [str(name) for name in names], loc="center right", frameon=False, fontsize=13)
    figure.text(0.012, 1 - head / 2 / height, title, va="center", fontsize=14)
    figure.savefig(path)
