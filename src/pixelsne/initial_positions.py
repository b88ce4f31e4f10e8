"""Where the points start."""

import numpy as np

from pixelsne.arrays import AnyArray, Points, Positions
from pixelsne.reduce import principal_components

# Deviation of the start along its longer axis, embedding units: small enough for all forces to be
# nearly linear, so that the map unfolds instead of exploding.
START_DEVIATION = 1e-4


# A start whose deviation exceeds that of its middle by this factor is ruled by outliers. They are brought to
# the border of the others, who would otherwise all start in one spot, and take long to come out of it.
OUTLIER_FACTOR = 3.0
FARTHEST_START = 5.0  # deviations of the middle

MIDDLE = (16, 84)  # percentiles, two deviations apart if a distribution is normal


def without_outliers(centered: AnyArray) -> AnyArray:
    low, high = np.percentile(centered, MIDDLE, axis=0)
    middle = float(np.max(high - low)) / 2
    if middle == 0 or centered.std(axis=0).max() <= OUTLIER_FACTOR * middle:
        return centered
    border = FARTHEST_START * middle
    clipped: AnyArray = np.clip(centered - (low + high) / 2, -border, border)
    clipped -= clipped.mean(axis=0)
    return clipped


def shrink(start: AnyArray, seed: int) -> Positions:
    """Centered, the longer axis scaled to START_DEVIATION; constant axes get noise: zeros never move."""
    centered = start.astype(np.float64) - start.mean(axis=0, dtype=np.float64)
    largest = np.abs(centered).max()
    centered = without_outliers(centered / (largest if largest > 0 else 1.0))
    deviations = centered.std(axis=0)
    scale = deviations.max()
    small = centered * (START_DEVIATION / scale if scale > 0 else 0.0)
    noise = noise_positions(len(start), seed)
    for axis in (0, 1):
        if deviations[axis] <= 1e-9 * deviations.max():
            small[:, axis] = noise[:, axis]
    return np.ascontiguousarray(small, dtype=np.float32)


def noise_positions(n: int, seed: int) -> Positions:
    return np.random.default_rng(seed).normal(0.0, START_DEVIATION, (n, 2)).astype(np.float32)


def initial_positions(points: Points, init: str | AnyArray, seed: int) -> Positions:
    """Stage 4: (n, 2) in embedding units, from "pca", "random" or the user's own array."""
    if not isinstance(init, str):
        return shrink(init, seed)
    if init == "random":
        return noise_positions(len(points), seed)
    components = principal_components(points, min(2, *points.shape), seed)
    if components.shape[1] == 1:
        components = np.column_stack([components, np.zeros(len(components), dtype=np.float32)])
    return shrink(components, seed)
