"""Rows that stay at their initial positions while the others move around them."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pixelsne.settings import Settings


def check_fixed(value: Any, n: int, settings: Settings) -> NDArray[np.bool_] | None:
    """Return a mask of the fixed rows, (n); None if no row is fixed."""
    if value is None:
        return None
    mask = np.asarray(value)
    if mask.dtype != np.bool_ or mask.ndim != 1:
        raise ValueError(
            f"fixed must be a boolean mask with one value per row, got {mask.dtype} of shape {mask.shape}; "
            f"from row numbers, make one with np.isin(np.arange({n}), rows)"
        )
    if len(mask) != n:
        raise ValueError(f"fixed must have one value for each of the {n} rows of X, got {len(mask)}")
    if settings.init_scale is not None:
        raise ValueError(
            f"fixed holds rows where init puts them, but init_scale={settings.init_scale:g} rescales init; pass "
            "init_scale=None, and as init an array of positions in embedding units or a fitted model"
        )
    if mask.all():
        raise ValueError(f"fixed holds all {n} rows, so none could move; leave at least one of them False")
    return mask.copy() if mask.any() else None
