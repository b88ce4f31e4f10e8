"""Compare maps that differ only in their random seed. Do not interpret what changes between them."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from pixelsne.arrays import ScreenPositions
from pixelsne.quality import point_precision
from pixelsne.settings import check_count

Float64s = NDArray[np.float64]


@dataclass(frozen=True)
class SeedReport:
    """The maps of several seeds, compared pair by pair."""

    seeds: tuple[int, ...]
    k: int
    maps: tuple[ScreenPositions, ...]  #: (n, 2) each, pixels
    kl_divergence: Float64s  #: (seeds)
    stability: Float64s  #: (n), the share of a point's k nearest on one map that are among its k nearest on another
    moved: Float64s  #: (n), the median distance in pixels between a point's positions on two maps, after alignment

    def __str__(self) -> str:
        low, middle, high = np.quantile(self.stability, [0.1, 0.5, 0.9])
        lowest, highest = self.kl_divergence.min(), self.kl_divergence.max()
        return (
            f"{len(self.seeds)} maps of {len(self.stability):,} points, seeds {', '.join(map(str, self.seeds))}\n"
            f"KL divergence            {lowest:.4f} to {highest:.4f}\n"
            f"neighbors that stay      {self.stability.mean():.1%} of {self.k} "
            f"(a tenth of the points below {low:.0%}, half below {middle:.0%}, nine tenths below {high:.0%})\n"
            f"positions, maps aligned  {np.median(self.moved):.1f} pixels apart for the median point"
        )


def align_map(placed: ScreenPositions, target: ScreenPositions) -> Float64s:
    """Return the map aligned to another by the best shift, rotation, reflection and scale."""
    centered, goal = (map_.astype(np.float64) - map_.mean(axis=0, dtype=np.float64) for map_ in (placed, target))
    left, sizes, right = np.linalg.svd(centered.T @ goal)
    spread = np.square(centered).sum()
    scale = sizes.sum() / spread if spread > 0 else 1.0
    aligned: Float64s = scale * centered @ left @ right + target.mean(axis=0, dtype=np.float64)
    return aligned


def compare_seeds(model: Any, X: Any, *, seeds: Sequence[int] = (0, 1, 2), k: int = 10) -> SeedReport:
    """Fit a copy of the model for each seed and compare the maps pair by pair.

    `k`: the number of nearest points that are compared between two maps. With init="pca", maps differ little, only by
    the neighbor search. init="random" shows which parts of the arrangement the data do not determine.
    """
    if len(set(seeds)) < 2:  # noqa: PLR2004
        raise ValueError(f"seeds must be at least two different numbers, got {seeds!r}")
    check_count("k", k, 1, (X.shape[0] if hasattr(X, "shape") else len(X)) - 1)
    models = [clone(model).set_params(random_state=int(seed)).fit(X) for seed in seeds]
    maps = tuple(fitted.embedding_ for fitted in models)
    pairs = list(combinations(maps, 2))
    shares = [point_precision(first, second, k, n_jobs=model.n_jobs) for first, second in pairs]
    moves = [np.hypot(*(align_map(second, first) - first).T) for first, second in pairs]
    return SeedReport(
        seeds=tuple(int(seed) for seed in seeds),
        k=k,
        maps=maps,
        kl_divergence=np.array([fitted.kl_divergence_ for fitted in models]),
        stability=np.mean(shares, axis=0),
        moved=np.median(moves, axis=0),
    )
