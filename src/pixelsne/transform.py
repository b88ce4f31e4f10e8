"""Place new rows on a finished map."""

from typing import Any

from pixelsne import _core
from pixelsne.affinities import calibrate
from pixelsne.arrays import Positions
from pixelsne.fitted_map import FittedMap


def place_rows(values: Any, fitted_map: FittedMap, threads: int, token: _core.ProgressToken) -> Positions:
    """Return (m, 2) positions of new rows in embedding units, at which attraction and the repulsion of the map balance.

    Points of the map attract and repel by their weights, as they do in a fit.
    A row that equals a fitted row gets the position of that row, or of the first one if several are equal.
    """
    neighborhood = fitted_map.neighborhood
    neighbors = fitted_map.space.neighbors_of(values, neighborhood.n_neighbors, threads, token)
    conditional = calibrate(neighbors, neighborhood.perplexity, threads, token)
    indices, kernels, weights = conditional.indices, conditional.values, fitted_map.weights
    if weights is not None:
        kernels = kernels * weights[indices]
        kernels /= kernels.sum(axis=1, keepdims=True)
    positions = _core.place_new_points(fitted_map.positions, indices, kernels, token, threads, weights)
    matches = fitted_map.space.matching_points(values, neighbors)
    positions[matches >= 0] = fitted_map.positions[matches[matches >= 0]]
    return positions
