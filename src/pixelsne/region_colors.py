"""Colors of regions: hue follows the place on the map, lightness tells neighbors apart.

Colors are chosen in OKLCH (lightness, chroma and hue of OKLab), where equal distances look equally different.
"""

import numpy as np
from scipy.spatial import cKDTree

from pixelsne.arrays import AnyArray
from pixelsne.region_places import LevelPlaces

# OKLab by B. Ottosson: linear sRGB → cone responses → (their cube roots) → lightness and two color axes.
TO_CONES = np.array(
    [
        [0.4122214708, 0.5363325363, 0.0514459929],
        [0.2119034982, 0.6806995451, 0.1073969566],
        [0.0883024619, 0.2817188376, 0.6299787005],
    ]
)
TO_LAB = np.array(
    [
        [0.2104542553, 0.7936177850, -0.0040720468],
        [1.9779984951, -2.4285922050, 0.4505937099],
        [0.0259040371, 0.7827717662, -0.8086757660],
    ]
)

LIGHTNESS = (0.53, 0.59, 0.65, 0.71, 0.76)  # choices at the first level; all are visible on white and on black
LIGHTEST, DARKEST = 0.77, 0.50
MAX_CHROMA = 0.165
IN_GAMUT = 0.96  # share of the largest chroma that sRGB can show
FIRST_HUE = np.radians(25)  # at the right edge of the map; hues turn against the clock

# Half of the hue follows the angle on the map, half the order of angles, so that all hues are used.
HUE_BY_RANK = 0.5

# A child differs from its parent by at most this much, halved from level to level.
CHILD_LIGHTNESS = (-0.075, -0.035, 0.0, 0.035, 0.075)
CHILD_HUE = np.radians(20)
NEIGHBORS = 6  # regions that a color is compared with
BLUE_YELLOW = 0.5  # weight of hues in comparisons: color-blind people see half of them

MUTED_CHROMA = 0.45
MUTED_LIGHTNESS = 0.66


def from_oklch(lightness: AnyArray, chroma: AnyArray, hue: AnyArray) -> AnyArray:
    """Return (n, 3) linear sRGB, beyond 0 to 1 for colors that a screen cannot show."""
    lab = np.stack([lightness, chroma * np.cos(hue), chroma * np.sin(hue)], axis=-1)
    cones = (lab @ np.linalg.inv(TO_LAB).T) ** 3
    return np.asarray(cones @ np.linalg.inv(TO_CONES).T)


def to_oklab(colors: AnyArray) -> AnyArray:
    """Return (n, 3) OKLab of sRGB colors, 0 to 1."""
    linear = np.where(colors <= 0.04045, colors / 12.92, ((colors + 0.055) / 1.055) ** 2.4)  # noqa: PLR2004 - sRGB
    return np.asarray(np.cbrt(linear @ TO_CONES.T) @ TO_LAB.T)


def to_srgb(lightness: AnyArray, chroma: AnyArray, hue: AnyArray) -> AnyArray:
    """Return (n, 3) sRGB, 0 to 1, with less chroma where a screen cannot show as much."""
    low, high = np.zeros_like(chroma), np.asarray(chroma, dtype=np.float64).copy()
    for _ in range(12):
        middle = (low + high) / 2
        linear = from_oklch(lightness, middle, hue)
        shown = ((linear >= 0) & (linear <= 1)).all(axis=-1)
        low, high = np.where(shown, middle, low), np.where(shown, high, middle)
    linear = np.clip(from_oklch(lightness, np.minimum(IN_GAMUT * high, chroma), hue), 0, 1)
    return np.where(linear <= 0.0031308, 12.92 * linear, 1.055 * linear ** (1 / 2.4) - 0.055)  # noqa: PLR2004 - sRGB


def hexadecimal(color: AnyArray) -> str:
    return "#" + "".join(f"{round(255 * float(channel)):02x}" for channel in color)


def place_hues(centers: AnyArray, middle: AnyArray, weights: AnyArray) -> AnyArray:
    """Return the hue of each place: its direction as seen from the middle of the map."""
    x, y = (centers - middle).T
    angles = np.arctan2(-y, x) % (2 * np.pi)
    order = np.argsort(angles, kind="stable")
    share = np.empty(len(angles))
    share[order] = (np.cumsum(weights[order]) - weights[order] / 2) / weights.sum()
    return np.asarray(FIRST_HUE + (1 - HUE_BY_RANK) * angles + HUE_BY_RANK * 2 * np.pi * share)


def place_colors(placed: AnyArray) -> AnyArray:
    """Return (n, 3) colors of points by their places, for maps without regions."""
    if not len(placed):
        return np.empty((0, 3))
    away = placed - placed.mean(axis=0)
    hue = FIRST_HUE + np.arctan2(-away[:, 1], away[:, 0])
    radius = np.hypot(*away.T)
    lightness = 0.70 - 0.14 * radius / max(float(radius.max()), 1e-6)
    return to_srgb(lightness, np.full(len(placed), 0.8 * MAX_CHROMA), hue)


def mute(colors: AnyArray) -> AnyArray:
    """Return quieter colors of the same hues, for points of no region."""
    lightness, a, b = to_oklab(colors).T
    return to_srgb((lightness + MUTED_LIGHTNESS) / 2, MUTED_CHROMA * np.hypot(a, b), np.arctan2(b, a))


def choose_lightness(centers: AnyArray, hues: AnyArray, choices: AnyArray, reference: AnyArray) -> AnyArray:
    """Return the lightness of each region: that of its choices which differs most from its neighbors' colors.

    choices: (regions, choices). Regions choose in their order. `reference` is the wanted lightness, which breaks ties.
    """
    nearest = cKDTree(centers).query(centers, k=min(NEIGHBORS + 1, len(centers)))[1]
    neighbors = nearest.reshape(len(centers), -1)
    chosen = np.full(len(centers), np.nan)
    for region in range(len(centers)):
        others = [other for other in neighbors[region] if other != region and not np.isnan(chosen[other])]
        options = choices[region]
        turn = np.abs((hues[others] - hues[region] + np.pi) % (2 * np.pi) - np.pi)
        by_hue = BLUE_YELLOW * 2 * MAX_CHROMA * np.sin(turn / 2)
        apart = np.hypot(options[:, None] - chosen[others], by_hue)
        near = 1 / (1 + np.arange(len(others)))  # nearer ones matter more
        cost = (near * np.exp(-apart / 0.05)).sum(axis=1) + 2 * np.abs(options - reference[region])
        chosen[region] = options[np.argmin(cost)]
    return chosen


def color_levels(levels: list[LevelPlaces], parents: list[AnyArray]) -> list[AnyArray]:
    """Return the (regions, 3) sRGB colors of each level, coarsest first."""
    colors = []
    hues = lightness = np.empty(0)
    middle = np.average(levels[0].centers, axis=0, weights=levels[0].counts)
    for level, places in enumerate(levels):
        if level == 0:
            hues = place_hues(places.centers, middle, np.sqrt(places.counts))
            radius = np.hypot(*(places.centers - middle).T)
            wanted = 0.70 - 0.1 * radius / max(float(radius.max()), 1e-6)
            choices = np.tile(LIGHTNESS, (places.number, 1))
        else:
            hues = child_hues(places, levels[level - 1], parents[level], hues, 0.5 ** (level - 1))
            wanted = lightness[parents[level]]
            choices = wanted[:, None] + 0.5 ** (level - 1) * np.array(CHILD_LIGHTNESS)
        lightness = choose_lightness(places.centers, hues, np.clip(choices, DARKEST, LIGHTEST), wanted)
        colors.append(to_srgb(lightness, np.full(places.number, MAX_CHROMA), hues))
    return colors


def child_hues(places: LevelPlaces, above: LevelPlaces, parents: AnyArray, hues: AnyArray, share: float) -> AnyArray:
    """Return the hues of a level: the parent's, turned as the region lies within its parent."""
    offset = places.centers - above.centers[parents]
    size = np.zeros(above.number)
    np.maximum.at(size, parents, np.hypot(*offset.T))
    along = offset[:, 0] / np.maximum(size[parents], 1e-6)  # from left to right within the parent
    return np.asarray(hues[parents] + share * CHILD_HUE * along)
