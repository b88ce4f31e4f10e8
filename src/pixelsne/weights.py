"""Weights: a row of weight w acts on all others like w equal rows, while its own step stays that of one row.

docs/algorithm.md defines what that means for the affinities, the forces and the normalizer. Within a run, weights are
relative to their mean, which changes nothing but the unit of the forces. Merged duplicates are weighted points, too.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pixelsne.affinities import Affinities, Conditional
from pixelsne.arrays import AnyArray
from pixelsne.duplicates import Duplicates

Float64s = NDArray[np.float64]
Float32s = NDArray[np.float32]

# The smallest weight of a point, relative to the mean. It replaces 0: such a row acts on no other noticeably, and still
# gets a position, since the force on a single copy of it stays defined.
MIN_WEIGHT = 1e-6

# Pairs of copies of one heavy row weaken the repulsion relative to the attraction, as exaggeration does, and denser
# maps need a lower rate: it is multiplied by the share of the normalizer that is between points, but at least by this.
# Digits with 5 of 1,797 rows of weight 401: without the factor, KL ended at 2.5; with it, at 2.16.
MIN_RATE_FACTOR = 0.25

NUMBERS_PER_BLOCK = 2_000_000


@dataclass(frozen=True)
class PointWeights:
    """The weights of the points of a descent, in the order of the affinities."""

    values: Float32s  # (n), positive, relative to their mean
    inner_pairs: float  # the part of the normalizer from pairs of copies of one row, in the unit of the values
    step_factors: Float32s  # (n), at most 1: each point's step is multiplied by it

    def rate_factor(self, normalizer: float) -> float:
        """Return the factor of the learning rate at which heavy points are stable."""
        return max(MIN_RATE_FACTOR, 1.0 - self.inner_pairs / normalizer)


def check_weights(weights: Any, n: int) -> Float64s | None:
    """Return the weights of n rows; None if all are 1. Raise an error if they are not valid."""
    if weights is None:
        return None
    given = np.asarray(weights)
    if given.shape != (n,):
        raise ValueError(
            f"weights must be one number for each of the {n} rows of X, got shape {given.shape}; pass an array of "
            f"shape ({n},), or None for equal weights"
        )
    try:
        checked = given.astype(np.float64) if given.dtype.kind in "biufO" else None
    except (TypeError, ValueError):
        checked = None
    if checked is None:
        raise TypeError(f"weights must be numbers, got {given.dtype}: {given[0]!r:.60}; convert them to floats")
    check_values(checked)
    return None if (checked == 1).all() else checked


def check_values(weights: Float64s) -> None:
    if not np.isfinite(weights).all():
        row = int(np.argmin(np.isfinite(weights)))
        raise ValueError(
            f"weights must be finite, got {weights[row]} in row {row}; replace it, for example by 1, or leave the row "
            "out of X"
        )
    if weights.min() < 0:
        row = int(np.argmin(weights))
        raise ValueError(
            f"weights must be 0 or more, got {weights[row]:g} in row {row}; use 0 for a row that acts on no other"
        )
    if weights.max() == 0:
        raise ValueError("weights must not all be 0, since no row would act on any other; pass None for equal weights")


def relative_to_mean(weights: Float64s) -> tuple[Float64s, float]:
    """Return the weights divided by their mean, and the mean. Neither overflows."""
    largest = float(weights.max())
    scaled = weights / largest
    mean = float(scaled.mean())
    return scaled / mean, largest * mean


def are_relative(values: AnyArray) -> bool:
    """Return whether these can be weights relative to their mean, as a run has them."""
    return bool(((values >= MIN_WEIGHT / 2) & (values <= 2 * len(values))).all())


def map_weights(weights: Float64s | None) -> Float32s | None:
    """Return the weights of a map's rows for new points, relative to their mean; None if they are equal."""
    if weights is None or (weights == weights[0]).all():
        return None
    return np.maximum(relative_to_mean(weights)[0], MIN_WEIGHT).astype(np.float32)


def weights_of_points(
    weights: Float64s | None, duplicates: Duplicates | None, largest_count: int
) -> tuple[Float64s, float] | None:
    """Return the weight of each point relative to their mean, and the pairs within points; None without weights.

    A point of merged rows has the sum of their weights, scaled down by largest_count / count if there are more than
    `largest_count`. Pairs between merged rows are not counted: they are spread on the map. Weights with a mean below 1
    are divided by it first, since the number of pairs within a point, w (w - 1), would be negative.
    """
    if weights is not None:
        rows, mean = relative_to_mean(weights)
    elif duplicates is not None:
        rows, mean = np.ones(len(duplicates.group)), 1.0
    else:
        return None
    pairs = rows * (rows - 1.0 / max(1.0, mean))
    if duplicates is not None:
        count_factors = np.minimum(1.0, largest_count / duplicates.counts)
        rows = count_factors * sum_by(duplicates.group, rows, len(duplicates))
        pairs = np.square(count_factors) * sum_by(duplicates.group, pairs, len(duplicates))
    values, unit = relative_to_mean(rows)
    inner_pairs = max(0.0, float(pairs.sum()) / unit**2)
    if inner_pairs == 0 and (values == 1).all():
        return None
    return np.maximum(values, MIN_WEIGHT), inner_pairs


def weigh(conditional: Conditional, weights: Float64s) -> tuple[Conditional, Float32s]:
    """Apply the weights to the conditional affinities, in place; return them and the step factors.

    P, symmetrized from them, still sums to 1. A neighbor of weight w has the affinity of w neighbors: w_j c_ij / D_i
    with D_i the sum of w_j c_ij. Row i counts w_i times. The step factor of a point is 1 / r if weights pull it r times
    as hard as equal weights, so that a step does not overshoot beside a heavy point.
    """
    n, k = conditional.indices.shape
    values = conditional.values
    pulled, pulled_equally = np.ones(n), np.ones(n)  # each point's own kernel sums to 1
    step = max(1, NUMBERS_PER_BLOCK // k)
    for begin in range(0, n, step):
        rows = slice(begin, begin + step)
        indices, kernels = conditional.indices[rows], values[rows].astype(np.float64)
        columns = weights[indices]
        factors = weights[rows] / (kernels * columns).sum(axis=1)
        weighted_kernels = kernels * factors[:, None]
        values[rows] = weighted_kernels * columns
        pulled += sum_by(indices, weighted_kernels, n)
        pulled_equally += sum_by(indices, kernels, n)
    return conditional, step_factors(pulled, pulled_equally)


def weigh_affinities(affinities: Affinities, weights: Float64s) -> tuple[Affinities, Float32s]:
    """Return P of weighted points, from P of single rows, and the step factors."""
    rows = np.repeat(np.arange(len(affinities)), np.diff(affinities.offsets))
    equal = affinities.values.astype(np.float64)
    pulls = equal * weights[affinities.columns]
    joint = pulls * weights[rows]
    total = joint.sum()
    weighted = replace(affinities, values=(joint / total).astype(np.float32))
    pulled, pulled_equally = (sum_by(rows, values, len(affinities)) for values in (pulls / total, equal))
    return weighted, step_factors(pulled, pulled_equally)


def sum_by(indices: AnyArray, values: Float64s, n: int) -> Float64s:
    """Return the sum of the values of each index below n."""
    return np.bincount(indices.ravel(), weights=values.ravel(), minlength=n).astype(np.float64, copy=False)


def step_factors(pulled: Float64s, pulled_equally: Float64s) -> Float32s:
    """Return the step factors. A point without affinities has factor 1."""
    ratios = np.divide(pulled_equally, pulled, out=np.ones_like(pulled), where=pulled > 0)
    return np.minimum(1.0, ratios).astype(np.float32)


def kl_term(affinities: Affinities, weights: Float32s) -> float:
    """Return the part of KL that comes from weights: q_ij is w_i w_j / (1 + d2), normalized."""
    logarithms, offsets, total = np.log(weights.astype(np.float64)), affinities.offsets, 0.0
    step = max(1, NUMBERS_PER_BLOCK * len(weights) // max(1, len(affinities.values)))
    for begin in range(0, len(weights), step):
        end = min(begin + step, len(weights))
        rows = np.repeat(logarithms[begin:end], np.diff(offsets[begin : end + 1]))
        total += float(np.dot(rows, affinities.values[offsets[begin] : offsets[end]]))
    return 2.0 * total
