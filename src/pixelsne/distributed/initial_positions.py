"""Where the points start: the local start's axes, from moments summed over all shards."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from pixelsne.arrays import Positions
from pixelsne.distributed.affinities import Searched
from pixelsne.distributed.crew import Crew
from pixelsne.distributed.reduce import Moments, added
from pixelsne.distributed.sized import Sized
from pixelsne.initial_positions import START_DEVIATION, noise_positions
from pixelsne.reduce import fix_signs, top_directions


@dataclass(frozen=True)
class Axes(Sized):
    mean: Any  # (p)
    directions: Any  # (p, 2)
    scale: float  # from points to embedding units


def sums(searched: Searched) -> Moments:
    return Moments(len(searched.axes), searched.axes.sum(axis=0, dtype=np.float64))


def products(searched: Searched, total: Moments) -> Moments:
    deviations = searched.axes.astype(np.float64) - total.total / total.rows
    return Moments(len(deviations), deviations.T @ deviations)


def make_axes(total: Moments, found: Moments) -> Axes:
    """The two directions of largest variance; the first gets the deviation a start has."""
    count = min(2, len(found.total))
    directions = fix_signs(top_directions(found.total, count))
    variance = float(directions[:, 0] @ found.total @ directions[:, 0]) / found.rows
    scale = START_DEVIATION / np.sqrt(variance) if variance > 0 else 0.0
    return Axes(total.total / total.rows, directions, scale)


def place(searched: Searched, axes: Axes, seed: int) -> Positions:
    """Axes without any variation get noise: zeros never move."""
    start = noise_positions(len(searched.axes), seed + searched.shard)
    along = (searched.axes - axes.mean) @ axes.directions * axes.scale
    for axis in range(along.shape[1]):
        if np.abs(along[:, axis]).max() > 1e-9 * START_DEVIATION:
            start[:, axis] = along[:, axis]
    return start


def place_at_random(searched: Searched, seed: int) -> Positions:
    return noise_positions(len(searched.axes), seed + searched.shard)


def initial_positions(crew: Crew, searched: list[Any], init: str, seed: int) -> list[Any]:
    """(own, 2) for each shard, embedding units; futures."""
    if init == "random":
        return [crew.task("start", place_at_random, one, seed, shard=s) for s, one in enumerate(searched)]
    total = crew.join("start", added, [crew.task("start", sums, one, shard=s) for s, one in enumerate(searched)])
    parts = [crew.task("start", products, one, total, shard=s) for s, one in enumerate(searched)]
    axes = crew.task("start", make_axes, total, crew.join("start", added, parts))
    return [crew.task("start", place, one, axes, seed, shard=s) for s, one in enumerate(searched)]
