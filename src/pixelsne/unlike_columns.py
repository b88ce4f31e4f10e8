"""Tables of unlike columns, such as ages and incomes: the widest column alone would decide which rows are near."""

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from pixelsne.components import sample_rows

MOST_COLUMNS = 100  # wider tables are measurements of one kind, as a rule: pixels, genes, words
WIDER_BY = 10.0  # how much the widest column deviates more than half of them do


def differ_widely(deviations: NDArray[np.float64]) -> bool:
    """Return whether columns with these standard deviations are of different units.

    Deviations that fall from the first column to the last are those of principal components, which are as they should
    be. Columns of equal values tell nothing.
    """
    several = deviations[deviations > 0]
    if len(several) < 2 or len(deviations) > MOST_COLUMNS or (np.diff(several) <= 0).all():  # noqa: PLR2004
        return False
    middle = np.sort(several)[(len(several) - 1) // 2]
    return bool(several.max() > WIDER_BY * middle)


def warn_of_unlike_columns(values: Any, names: Sequence[str]) -> None:
    """Warn about a table with these column names; arrays have none."""
    if widths := describe_widths(values, names):
        warnings.warn(
            f"the columns of X deviate by very different amounts ({widths}), so the widest decide about the map; "
            "scale='standard' lets all count alike",
            UserWarning,
            stacklevel=5,
        )


def describe_widths(values: Any, names: Sequence[str]) -> str:
    """Return a text on the widest and narrowest columns of a table of different units; else an empty string."""
    if sparse.issparse(values) or len(names) != values.shape[1] or len(names) > MOST_COLUMNS:
        return ""
    rows = values[sample_rows(values.shape[0], values.shape[1])].astype(np.float64)
    with np.errstate(over="ignore", invalid="ignore"):
        deviations = np.nan_to_num(rows.std(axis=0), nan=0.0)
    if not differ_widely(deviations):
        return ""
    widest = int(deviations.argmax())
    narrowest = int(np.where(deviations > 0, deviations, np.inf).argmin())
    return f"{names[widest]!r} by {deviations[widest]:.3g}, {names[narrowest]!r} by {deviations[narrowest]:.3g}"
