"""The style of a picture."""

from dataclasses import dataclass
from typing import Any

from pixelsne.choices import DOTS_PER_INCH, WIDTH
from pixelsne.coloring import ColorAs, as_hex, rgb

BACKGROUND = {False: "#ffffff", True: "#121217"}
INK = {False: "#222222", True: "#e8e8e8"}  # color of text and lines

# Color of the points of a map below new points.
QUIET = {False: "#d6d6d6", True: "#45454b"}

MIN_CONTRAST = 5.0  # of text to the background; WCAG demands 4.5
DARK_BELOW = 0.18  # luminance
STEPS = 50
MAX_PIXELS = 8_400  # of the width of a picture, which takes a hundred bytes per pixel: 7 inches at 1,200 dpi


@dataclass(frozen=True)
class PlotStyle:
    """The style of a picture."""

    title: str = ""
    dark: bool = False
    point_size: float | None = None  #: diameter of a dot in points (1/72 inch); None: chosen by the number of dots
    color_as: ColorAs = "auto"
    palette: Any = None  #: colors of categories (a list, or a dict by name), or the name of a Matplotlib colormap
    legend: bool | None = None  #: None: where names on the map do not explain all colors
    density: bool = False  #: density of points as a surface with contours, instead of dots
    font: str | None = None  #: name of an installed font; None: Matplotlib's default
    magnify: float = 1.0  #: factor on the size of text and dots
    width: float = WIDTH  #: of a picture file, in inches
    dpi: float = DOTS_PER_INCH  #: dots per inch of a picture file

    def __post_init__(self) -> None:
        for name in ("magnify", "width", "dpi", "point_size"):
            value = getattr(self, name)
            if value is not None and not 0 < value < float("inf"):
                raise ValueError(f"{name} must be a number above 0, got {value!r}")
        if self.width * self.dpi > MAX_PIXELS:
            raise ValueError(
                f"a picture may be {MAX_PIXELS:,} pixels wide, got width {self.width:g} inches x dpi {self.dpi:g} = "
                f"{self.width * self.dpi:,.0f}; lower one of them"
            )

    @property
    def background(self) -> str:
        return BACKGROUND[self.dark]

    @property
    def ink(self) -> str:
        return INK[self.dark]


def contrast(color: Any, background: str) -> float:
    """Return the contrast of two colors as WCAG defines it, 1 to 21."""
    first, second = (_luminance(rgb(each) if isinstance(each, str) else each) + 0.05 for each in (color, background))
    return max(first, second) / min(first, second)


def readable(color: str, background: str, least: float = MIN_CONTRAST) -> str:
    """Return the color, moved towards black or white until text in it has enough contrast to the background."""
    start = rgb(color)
    end = 1.0 if is_dark(rgb(background)) else 0.0
    for step in range(STEPS + 1):
        mixed = start + (end - start) * step / STEPS
        if contrast(mixed, background) >= least:
            break
    return as_hex(mixed)


def is_dark(color: Any) -> bool:
    """Return whether light text has more contrast to a color than dark text. color: 0 to 1, as Matplotlib has it."""
    return _luminance(color) < DARK_BELOW


def _luminance(color: Any) -> float:
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in color]  # noqa: PLR2004
    return float(0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2])
