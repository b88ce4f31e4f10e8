"""Colors that users choose: a list, a color for each category, or a colormap of Matplotlib."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

LARGEST = 256  # categories that get colors of a colormap


def palette_size(palette: Any, default: int) -> int:
    """Return the number of categories that can have a color each."""
    if palette is None:
        return default
    if isinstance(palette, Sequence) and not isinstance(palette, str):
        if not palette:
            raise ValueError("palette must have at least one color, got an empty list")
        return len(palette)
    return LARGEST


def palette_colors(palette: Any, names: Sequence[str], missing: str) -> NDArray[np.float64]:
    """Return (len(names), 3) colors of categories. missing: the color of categories that a dict lacks."""
    if isinstance(palette, Mapping):
        by_name = {str(name): color for name, color in palette.items()}
        colors = [as_rgb(by_name.get(name, missing)) for name in names]
    elif isinstance(palette, Sequence) and not isinstance(palette, str):
        colors = [as_rgb(color) for color in palette[: len(names)]]
    else:
        colormap = colormap_of(palette)
        is_list = colormap.N <= LARGEST // 2  # as "tab10": distinct colors, in order
        places = np.arange(len(names)) % colormap.N if is_list else np.linspace(0, 1, max(len(names), 1))[: len(names)]
        colors = [tuple(colormap(place)[:3]) for place in places]
    return np.array(colors, dtype=np.float64).reshape(-1, 3)


def as_rgb(color: Any) -> tuple[float, ...]:
    """Return a color that Matplotlib understands as three numbers from 0 to 1."""
    from matplotlib.colors import to_rgb  # noqa: PLC0415 - slow to import

    try:
        return to_rgb(color)
    except ValueError:
        raise ValueError(f"palette has {color!r}, which is no color; give names as 'red', or '#d1382c'") from None


def colormap_of(scale: Any) -> Any:
    """Return a colormap by name, or from a list of colors."""
    from matplotlib import colormaps  # noqa: PLC0415 - slow to import
    from matplotlib.colors import Colormap, LinearSegmentedColormap  # noqa: PLC0415

    if isinstance(scale, Colormap):
        return scale
    if isinstance(scale, str):
        if scale not in colormaps:
            raise ValueError(f"palette {scale!r} is no colormap of Matplotlib; give a list of colors, or e.g. 'plasma'")
        return colormaps[scale]
    if isinstance(scale, Mapping):
        raise TypeError("palette is a dict of categories, but the colors show numbers; give the name of a colormap")
    return LinearSegmentedColormap.from_list("palette", [as_rgb(color) for color in scale])
