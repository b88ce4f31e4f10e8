"""Measure the quality of maps in the same way for all systems.

Local measures: KL with the same P, accuracy and precision over the same rows. Global measures: triplets, class centers.
"""

from typing import Any

import numpy as np
from scipy.spatial import cKDTree

from pixelsne import _core, quality
from pixelsne.affinities import Affinities, joint_affinities
from pixelsne.comparison import Comparison
from pixelsne.descent import kl_divergence
from pixelsne.neighbors import Neighbors, find_neighbors
from pixelsne.repulsion import best_normalizer

EXACT_NEIGHBORS_UP_TO = 100_000
EXACT_NORMALIZER_UP_TO = 200_000  # takes half a minute
SAMPLED_ROWS = 10_000
NEIGHBORHOODS = (5, 10, 30, 100)
COUNTS = {"knn_accuracy": (10,)}  # values of k for measures that are not reported for all NEIGHBORHOODS
ROWS_PER_BLOCK = 100  # of distances to all points


class Judge:
    """Measures the maps of one data set. Computes once what does not depend on the map."""

    def __init__(self, points: np.ndarray, labels: np.ndarray, perplexity: float, threads: int) -> None:
        self.threads = threads
        self.points, self.labels = points, labels
        self.classes = np.unique(labels, return_inverse=True)[1]
        self.exact_neighbors = len(points) <= EXACT_NEIGHBORS_UP_TO
        self.exact_normalizer = len(points) <= EXACT_NORMALIZER_UP_TO
        perplexity = min(perplexity, (len(points) - 1) / 3)
        search = "exact" if self.exact_neighbors else "auto"
        found = find_neighbors(points, max(int(3 * perplexity), *NEIGHBORHOODS), search, 0, threads)
        self.affinities = affinities_of(found, perplexity, threads)
        if self.exact_neighbors:
            self.rows = np.arange(len(points))
            self.truth = found.indices[:, : max(NEIGHBORHOODS)]
        else:
            self.rows = np.sort(np.random.default_rng(0).choice(len(points), SAMPLED_ROWS, replace=False))
            self.truth = nearest_of_rows(points, self.rows, max(NEIGHBORHOODS))

    def judge(self, positions: np.ndarray, *, with_kl: bool = True) -> dict[str, float]:
        """Return all measures of a map (n, 2). KL needs a map in embedding units, as t-SNE libraries return it."""
        positions = np.ascontiguousarray(positions, dtype=np.float32)
        compared = Comparison(self.rows, self.truth, self._nearest_on(positions), positions, self.points, self.classes)
        result = {"KL": self._divergence(positions)} if with_kl else {}
        for name, measure in quality.MEASURES.items():
            counts, title = COUNTS.get(name, NEIGHBORHOODS), measure.title.removeprefix("neighborhood ")
            values = measure(compared, counts)
            if isinstance(values, list):
                result |= {f"{title} {k}": value for k, value in zip(counts, values, strict=True)}
            elif values is not None:
                result[title] = values
        return result

    def notes(self) -> str:
        """Describe how the measures are computed."""
        neighbors = (
            "exact neighbors"
            if self.exact_neighbors
            else "our approximate search, because all pairs would take too long"
        )
        normalizer = (
            "an exact normalizer" if self.exact_normalizer else "the normalizer of the pixel field, within 0.02 %"
        )
        rows = "all" if self.exact_neighbors else f"{len(self.rows):,} random"
        return (
            f"KL uses the same P for all maps (from {neighbors}) and {normalizer}. "
            f"Accuracy and precision are over {rows} rows, compared with exact neighbors. Triplet accuracy is the "
            "share of random triplets whose two distances have the same order as in the data. Center correlation is "
            "the rank correlation of the distances between class centers."
        )

    def _divergence(self, positions: np.ndarray) -> float:
        if self.exact_normalizer:
            return quality.kl_divergence(self.affinities, positions, n_jobs=self.threads)
        parts = self.affinities.offsets, self.affinities.columns, self.affinities.values
        normalizer = best_normalizer(positions, self.threads)
        return kl_divergence(_core.Attraction(*parts), positions, normalizer, self.threads)

    def _nearest_on(self, positions: np.ndarray) -> np.ndarray:
        """Return (rows, k) indices, nearest first, without the point itself, by a k-d tree: exact and fast in 2D."""
        found = cKDTree(positions).query(positions[self.rows], max(NEIGHBORHOODS) + 1, workers=self.threads)[1]
        is_self = found == self.rows[:, None]
        is_self[~is_self.any(axis=1), -1] = True  # more coincident points than neighbors
        return found[~is_self].reshape(len(self.rows), -1)


def affinities_of(found: Neighbors, perplexity: float, threads: int) -> Affinities:
    k = int(3 * perplexity)
    used = Neighbors(np.ascontiguousarray(found.indices[:, :k]), np.ascontiguousarray(found.distances[:, :k]))
    return joint_affinities(used, (float(perplexity),), threads)


def nearest_of_rows(points: np.ndarray, rows: np.ndarray, k: int) -> np.ndarray:
    """Return (rows, k) the nearest of all points for some rows, nearest first, by comparing all pairs."""
    squares = np.einsum("ij,ij->i", points, points)
    nearest = np.empty((len(rows), k), dtype=np.int64)
    for first in range(0, len(rows), ROWS_PER_BLOCK):
        block = rows[first : first + ROWS_PER_BLOCK]
        nearest[first : first + len(block)] = nearest_of_block(points, squares, block, k)
    return nearest


def nearest_of_block(points: np.ndarray, squares: np.ndarray, block: np.ndarray, k: int) -> Any:
    approximate = squares - 2 * (points[block] @ points.T)  # the row's own square does not affect the order
    approximate[np.arange(len(block)), block] = np.inf
    # Rounding may change the order of similar distances, so 2 k candidates are compared again in float64.
    candidates = np.argpartition(approximate, 2 * k, axis=1)[:, : 2 * k]
    differences = points[candidates].astype(np.float64) - points[block].astype(np.float64)[:, None]
    order = np.einsum("ijk,ijk->ij", differences, differences).argsort(axis=1)[:, :k]
    return np.take_along_axis(candidates, order, axis=1)
