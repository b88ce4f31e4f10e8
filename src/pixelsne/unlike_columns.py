"""Detect tables whose columns have different units, such as ages and incomes.

The column with the largest deviation alone would decide which rows are near.
"""

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from pixelsne.components import sample_rows

MAX_COLUMNS = 100  # wider tables usually hold measurements of one kind: pixels, genes, words
WIDER_BY = 10.0  # ratio of the largest deviation to the median deviation


def differ_widely(deviations: NDArray[np.float64]) -> bool:
    """Return whether columns with these standard deviations seem to have different units.

    Deviations that fall from the first column to the last are those of principal components, which need no scaling.
    Constant columns do not count.
    """
    several = deviations[deviations > 0]
    if len(several) < 2 or len(deviations) > MAX_COLUMNS or (np.diff(several) <= 0).all():  # noqa: PLR2004
        return False
    middle = np.sort(several)[(len(several) - 1) // 2]
    return bool(several.max() > WIDER_BY * middle)


def warn_of_unlike_columns(values: Any, names: Sequence[str]) -> None:
    """Warn if the columns of a table have different units. names: its column names, none for arrays."""
    if widths := describe_widths(values, names):
        warnings.warn(
            f"the standard deviations of the columns of X differ widely ({widths}), so the largest dominate the map; "
            "pass scale='standard' to give all columns the same weight",
            UserWarning,
            stacklevel=5,
        )


def describe_widths(values: Any, names: Sequence[str]) -> str:
    """Return the columns with the largest and smallest deviation, as text; empty unless units seem to differ."""
    if sparse.issparse(values) or len(names) != values.shape[1] or len(names) > MAX_COLUMNS:
        return ""
    rows = values[sample_rows(values.shape[0], values.shape[1])].astype(np.float64)
    with np.errstate(over="ignore", invalid="ignore"):
        deviations = np.nan_to_num(rows.std(axis=0), nan=0.0)
    if not differ_widely(deviations):
        return ""
    widest = int(deviations.argmax())
    narrowest = int(np.where(deviations > 0, deviations, np.inf).argmin())
    return f"{names[widest]!r} by {deviations[widest]:.3g}, {names[narrowest]!r} by {deviations[narrowest]:.3g}"
