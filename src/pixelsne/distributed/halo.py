"""The halo: positions that a shard needs of points in other shards, and how they travel."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pixelsne import _core
from pixelsne.arrays import Positions
from pixelsne.distributed.affinities import Directory, Rows
from pixelsne.distributed.crew import Crew
from pixelsne.distributed.shards import take
from pixelsne.distributed.sized import Sized, aligned


@dataclass(frozen=True)
class Given(Sized):
    """What a shard tells all others, once: which of its points they need."""

    rows: NDArray[np.int64]  # of the input
    places: NDArray[np.int32]  # in the shard, ascending


@dataclass(frozen=True)
class Coded(Sized):
    """Positions on their way, in 16 bits a coordinate, relative to each other. A map of 300 units is then known to a
    400th of a unit, which no measure of quality notices (a test compares)."""

    coding: "_core.Coding"
    numbers: NDArray[np.uint16]  # (points, 2)


def encode(positions: Positions, chosen: Any, threads: int) -> Coded:
    return Coded(*_core.encode_positions(positions, chosen, threads))


def decode(coded: Coded, chosen: Any, center: tuple[float, float], to: Positions, threads: int) -> None:
    """Writes the chosen ones, minus the center, to (chosen, 2)."""
    _core.decode_positions(coded.coding, aligned(coded.numbers), aligned(chosen), center, to, threads)


def wanted(rows: Rows, shards: int) -> list[Any]:
    """For each shard, which of its points this one needs."""
    return [rows.halo_rows[rows.halo_owners == shard] for shard in range(shards)]


def give(rows: Rows, asked: list[Any]) -> Given:
    """All that anybody asked for."""
    places = np.unique(Directory(rows.rows, 0).find(np.concatenate(asked))[0])
    return Given(rows.rows[places], places)


def given_rows(given: Given) -> Any:
    return given.rows


def find_sources(rows: Rows, given: list[Any]) -> list[Any]:
    """For each shard, where in what it gives the halo is."""
    return [Directory(there, 0).find(rows.halo_rows[rows.halo_owners == shard])[0] for shard, there in enumerate(given)]


def link(crew: Crew, rows: list[Any]) -> tuple[list[Any], list[Any]]:
    """What each shard gives, and where each finds its halo in that; futures."""
    lists = [crew.task("halo", wanted, one, crew.shards, shard=s) for s, one in enumerate(rows)]
    asked = [[crew.task("halo", take, one, shard) for one in lists] for shard in range(crew.shards)]
    given = crew.each("halo", give, rows, asked)
    told = [crew.task("halo", given_rows, one) for one in given]
    return given, [crew.task("halo", find_sources, one, told, shard=s) for s, one in enumerate(rows)]
