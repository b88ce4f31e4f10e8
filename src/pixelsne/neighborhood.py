"""The number of neighbors of each point, and the perplexity of its kernel.

Users set `n_neighbors`, and the perplexity is a share of it; or they set `perplexity`, and there are three times as
many neighbors, as in scikit-learn and openTSNE; or they set both.
"""

from dataclasses import dataclass
from typing import Any

from scipy import sparse

from pixelsne.graphs import median_neighbors
from pixelsne.settings import Settings

DEFAULT_NEIGHBORS = 30

# The perplexity for a number of neighbors (benchmarks/fewer_edges.py).
PERPLEXITY_PER_NEIGHBOR = 0.6

NEIGHBORS_PER_PERPLEXITY = 3


@dataclass(frozen=True)
class Neighborhood:
    """The neighborhood that a run uses, and a warning if it is not what the user asked for."""

    n_neighbors: int
    perplexity: tuple[float, ...]  # kernels of several perplexities are averaged
    warning: str = ""


def choose_neighborhood(settings: Settings, n: int, unit_name: str = "points") -> Neighborhood:
    """Return the neighborhood of each of n points. unit_name: what the points are called in the warning."""
    if settings.perplexity is None:
        return from_neighbors(settings, n, unit_name)
    return from_perplexity(settings, settings.perplexity, n, unit_name)


def largest_perplexity(n_neighbors: int) -> float:
    """Return the largest perplexity for points with at most this many neighbors."""
    return max(1.0, n_neighbors / NEIGHBORS_PER_PERPLEXITY)


def default_perplexity(n_neighbors: int, n: int) -> tuple[float]:
    """Return the perplexity for this many neighbors among n points."""
    return (max(1.0, min(PERPLEXITY_PER_NEIGHBOR * n_neighbors, largest_perplexity(n - 1))),)


def from_neighbors(settings: Settings, n: int, unit_name: str) -> Neighborhood:
    if settings.n_neighbors == "all":
        return Neighborhood(n - 1, default_perplexity(min(DEFAULT_NEIGHBORS, n - 1), n))
    count = min(settings.n_neighbors or DEFAULT_NEIGHBORS, n - 1)
    return Neighborhood(count, default_perplexity(count, n), warning_about_count(settings, n, unit_name))


def warning_about_count(settings: Settings, n: int, unit_name: str) -> str:
    if not isinstance(settings.n_neighbors, int) or settings.n_neighbors < n:
        return ""
    return f"n_neighbors={settings.n_neighbors} is too large for {n} {unit_name}; using {n - 1}"


def from_perplexity(settings: Settings, perplexity: tuple[float, ...], n: int, unit_name: str) -> Neighborhood:
    largest = largest_perplexity(n - 1)
    warning = warning_about_count(settings, n, unit_name)
    if max(perplexity) > largest:
        warning = f"perplexity={format_perplexity(perplexity)} is too large for {n} {unit_name}; using {largest:g}"
    perplexity = tuple(min(value, largest) for value in perplexity)
    if settings.n_neighbors == "all":
        return Neighborhood(n - 1, perplexity, warning)
    count = min(settings.n_neighbors or int(NEIGHBORS_PER_PERPLEXITY * max(perplexity)), n - 1)
    if count < max(perplexity):
        raise ValueError(
            f"n_neighbors={settings.n_neighbors} is too small for a perplexity of {max(perplexity):g}; use n_neighbors "
            f">= {max(perplexity):g} (three times as many is usual), a lower perplexity, or only one of the two"
        )
    return Neighborhood(count, perplexity, warning)


def format_perplexity(perplexity: tuple[float, ...]) -> str:
    return ", ".join(f"{value:g}" for value in perplexity)


def neighborhood_of_input(values: Any, settings: Settings) -> Neighborhood:
    """Return the neighborhood for the rows of an input. A graph limits it to the neighbors of its median row."""
    chosen = choose_neighborhood(settings, values.shape[0])
    if settings.metric != "precomputed" or not sparse.issparse(values):
        return chosen
    available = median_neighbors(values)
    if not 0 < available < chosen.n_neighbors:
        return chosen
    if settings.perplexity is None:
        return Neighborhood(available, default_perplexity(available, values.shape[0]))
    largest = largest_perplexity(available)
    if max(chosen.perplexity) <= largest:
        return chosen
    warning = (
        f"perplexity={format_perplexity(settings.perplexity)} is too large for a graph with {available} neighbors per "
        f"point; using {largest:g}; for more, pass a graph with "
        f"{int(NEIGHBORS_PER_PERPLEXITY * max(settings.perplexity))} neighbors per point"
    )
    return Neighborhood(available, tuple(min(value, largest) for value in chosen.perplexity), warning)
