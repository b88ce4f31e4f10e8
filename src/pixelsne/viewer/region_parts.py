"""The regions of a map as they are sent to the page.

manifest    a list of regions, in the order of `Regions.regions`; x and y are quantized like positions
region1 …   (n) codes, as those of categories: index among the regions of the level; their number for none
regioncolors    (n, 3) uint8: the color of each point by region, the same as in pictures
"""

from typing import Any

import numpy as np

from pixelsne.regions import Regions
from pixelsne.viewer.column_types import code_bytes

QUANTIZATION_LEVELS = 65_536  # of a coordinate: 16 bits for the width or height of the map


def region_metadata(regions: Regions, resolution: tuple[int, int]) -> list[dict[str, Any]]:
    """Return the regions' entries in the manifest."""
    scale = QUANTIZATION_LEVELS / np.array(resolution)
    centers = np.array([region.center for region in regions.regions]).reshape(-1, 2)
    quantized = np.clip(centers * scale, 0, QUANTIZATION_LEVELS - 1).astype(int)
    return [
        {
            "level": region.level,
            "name": region.name,
            "x": x,
            "y": y,
            "count": region.count,
            "parent": region.parent,
            "color": region.color,
        }
        for region, (x, y) in zip(regions.regions, quantized.tolist(), strict=True)
    ]


def region_parts(regions: Regions) -> dict[str, bytes]:
    """Return the parts of regions by name; none if there are no regions."""
    if not regions.regions:
        return {}
    levels = np.array([region.level for region in regions.regions])
    parts = {}
    for level, indices in enumerate(regions.indices, start=1):
        first, count = int(np.searchsorted(levels, level)), int((levels == level).sum())
        parts[f"region{level}"] = code_bytes(np.where(indices < 0, -1, indices - first), count)
    return parts | {"regioncolors": np.rint(255 * regions.point_colors()).astype(np.uint8).tobytes()}
