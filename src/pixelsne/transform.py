"""New points on a finished map."""

from typing import Any

from pixelsne import _core
from pixelsne.affinities import calibrate
from pixelsne.arrays import Positions
from pixelsne.embedding import Embedding


def place_rows(values: Any, embedding: Embedding, threads: int, token: _core.ProgressToken) -> Positions:
    """Return (m, 2) positions in embedding units: each new row where attraction and the map's field balance.

    A row that the map has already goes to its place; of several, to that of the first.
    """
    neighbors = embedding.space.neighbors_of(values, embedding.neighbor_count, threads, token)
    conditional = calibrate(neighbors, embedding.perplexity, threads, token)
    settled = _core.place_new_points(embedding.positions, conditional.indices, conditional.values, token, threads)
    matching_points = embedding.space.matching_points(values, neighbors)
    settled[matching_points >= 0] = embedding.positions[matching_points[matching_points >= 0]]
    return settled
