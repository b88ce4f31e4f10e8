"""The screen: the mapping from positions in embedding units to pixels."""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from pixelsne.arrays import Pixels, Positions, ScreenPositions

Aspect = Literal["fill", "equal"]

# The largest coordinate must stay below r, so the span is stretched by this factor. The paper adds a constant instead,
# which would be whole pixels while the map spans a thousandth of a unit.
STRETCH = 1e-6

# Replaces a span of zero: points in one position are all in the first pixel.
MIN_SPAN = 1e-30


@dataclass(frozen=True)
class Screen:
    """The mapping from positions to pixels: z = (y - origin) / unit_per_pixel on each axis, 0 <= z < resolution.

    `unit_per_pixel` is the root of the paper's beta (Eq. beta_scaling): its running product of
    (gamma / r)^2 telescopes to (span / r)^2, so beta is derived from the positions in every iteration
    and cannot drift.
    """

    origin: tuple[float, float]  #: embedding units, of the top left corner
    unit_per_pixel: tuple[float, float]
    resolution: tuple[int, int]  #: width, height

    @classmethod
    def around(cls, bounds: tuple[float, float, float, float], resolution: tuple[int, int], aspect: Aspect) -> "Screen":
        """Return the screen that shows all positions within bounds (low x, low y, high x, high y)."""
        (low_x, low_y), (high_x, high_y) = bounds[:2], bounds[2:]
        width, height = resolution
        unit_x = max(high_x - low_x, MIN_SPAN) * (1 + STRETCH) / width
        unit_y = max(high_y - low_y, MIN_SPAN) * (1 + STRETCH) / height
        if aspect == "equal":
            unit_x = unit_y = max(unit_x, unit_y)
            low_x = (low_x + high_x - unit_x * width) / 2
            low_y = (low_y + high_y - unit_y * height) / 2
        return cls((low_x, low_y), (unit_x, unit_y), resolution)

    def to_pixels(self, positions: Positions) -> ScreenPositions:
        """Return pixels with fractions; positions outside of the screen are moved to its border."""
        exact = (positions.astype(np.float64) - self.origin) / self.unit_per_pixel
        sides = np.array(self.resolution, dtype=np.float32)
        return np.clip(exact.astype(np.float32), np.float32(0), np.nextafter(sides, np.float32(0)))

    def to_integer_pixels(self, positions: Positions) -> Pixels:
        """Return the pixel of each position."""
        return self.to_pixels(positions).astype(np.int32)
