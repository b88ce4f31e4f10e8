"""The descent, shard by shard.

In an iteration every shard tells where its points are (`tell`), deposits them on the lattice that follows from what
all told (`deposit`), and moves them (`advance`) once the lattices are added up and convolved (`convolve`). All tasks
are pure, so that what a lost worker held can be computed again.
"""

import threading
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pixelsne import _core
from pixelsne.arrays import Positions
from pixelsne.descent import LARGEST_COORDINATE, SMALLEST_NORMALIZER
from pixelsne.distributed.affinities import Rows
from pixelsne.distributed.crew import FAN_IN, Crew, threads_here
from pixelsne.distributed.halo import Coded, Given, decode, encode
from pixelsne.distributed.sized import Sized
from pixelsne.schedule import Pace


def aligned(array: Any) -> Any:
    """What came over the network may lie at any address."""
    return np.require(array, None, ["C", "A"])


@dataclass
class Share(Sized):
    """What a shard needs in every iteration, and what never changes."""

    rows: Rows
    given: Given
    sources: list[NDArray[np.int32]]  # by shard: where in what it gives the halo is
    _attraction: _core.Attraction | None = field(default=None, repr=False)

    def attraction(self) -> _core.Attraction:
        """Checked once in a process."""
        if self._attraction is None:
            rows = self.rows
            points = len(rows.rows) + len(rows.halo_rows)
            self._attraction = _core.Attraction(
                aligned(rows.offsets), aligned(rows.columns), aligned(rows.values), points
            )
        return self._attraction

    def __getstate__(self) -> dict[str, Any]:
        return vars(self) | {"_attraction": None}


@dataclass(frozen=True)
class Stand(Sized):
    """Where a shard's points are: all that changes from iteration to iteration. Not centered."""

    positions: Positions  # (own, 2)
    velocity: Positions
    gains: Positions


@dataclass(frozen=True)
class News(Sized):
    """What a shard tells the others."""

    count: int
    sums: NDArray[np.float64]  # (2) of all coordinates
    bounds: NDArray[np.float64]  # (4) low x, low y, high x, high y
    coded: Coded  # of the points given


@dataclass(frozen=True)
class Field(Sized):
    """The lattices of all shards, convolved."""

    lattice: "_core.Lattice"
    nodes: NDArray[np.float32]  # (rows, columns)
    normalizer: float


@dataclass(frozen=True)
class Plan:
    """What all tasks of a run know."""

    n: int
    most_nodes: int
    step_limit: float


def begin(positions: Positions) -> Stand:
    return Stand(positions, np.zeros_like(positions), np.ones_like(positions))


def make_share(rows: Rows, given: Given, sources: list[Any]) -> Share:
    return Share(rows, given, sources)


def tell(share: Share, stand: Stand) -> News:
    positions = stand.positions
    bounds = np.array(_core.bounds(positions, 1))
    return News(len(positions), positions.sum(axis=0, dtype=np.float64), bounds, encode(positions[share.given.places]))


def center_of(news: Sequence[News]) -> Any:
    """(2), the same bits at every shard."""
    return np.sum([one.sums for one in news], axis=0) / sum(one.count for one in news)


def bounds_of(news: Sequence[News]) -> "_core.Bounds":
    """Of the centered map."""
    bounds, center = np.array([one.bounds for one in news]), center_of(news)
    low, high = bounds[:, :2].min(axis=0) - center, bounds[:, 2:].max(axis=0) - center
    if not (np.abs([low, high]) < LARGEST_COORDINATE).all():
        raise FloatingPointError("the map exploded; lower learning_rate or set step_limit")
    return float(low[0]), float(low[1]), float(high[0]), float(high[1])


def centered(stand: Stand, news: Sequence[News]) -> Positions:
    moved: Positions = (stand.positions - center_of(news)).astype(np.float32)
    return moved


# The last share of the lattice that a shard's points were sorted for: `advance` follows `deposit` on the same worker,
# unless something was lost.
_sorted: dict[int, tuple[Any, _core.FieldShare]] = {}


def field_share(shard: int, positions: Positions, lattice: "_core.Lattice", threads: int) -> _core.FieldShare:
    key = (lattice, len(positions), zlib.crc32(positions.data), zlib.adler32(positions.data))
    kept = _sorted.get(shard)
    if kept is None or kept[0] != key:
        _sorted[shard] = kept = (key, _core.FieldShare(positions, lattice, threads))
    return kept[1]


def deposit(share: Share, stand: Stand, news: list[News], plan: Plan) -> NDArray[np.float32]:
    lattice = _core.choose_lattice(bounds_of(news), plan.n, plan.most_nodes)
    nodes = np.empty((lattice[4], lattice[3]), dtype=np.float32)
    positions, threads = centered(stand, news), threads_here()
    field_share(share.rows.shard, positions, lattice, threads).deposit(nodes, threads)
    return nodes


def add_nodes(parts: list[Any]) -> NDArray[np.float32]:
    total: NDArray[np.float32] = parts[0].copy()
    for part in parts[1:]:
        total += part
    return total


# Keeps the kernel's spectrum; one task at a time.
_convolution = _core.FieldConvolution()
_convolving = threading.Lock()


def convolve(parts: list[Any], news: list[News], plan: Plan) -> Field:
    lattice = _core.choose_lattice(bounds_of(news), plan.n, plan.most_nodes)
    nodes = add_nodes(parts)
    with _convolving:
        normalizer = _convolution.apply(nodes, lattice, plan.n, threads_here())
    return Field(lattice, nodes, max(normalizer, SMALLEST_NORMALIZER))


def surroundings(share: Share, own: Positions, news: list[News]) -> Positions:
    """(own + halo, 2), centered."""
    center = center_of(news)
    halo = [decode(one.coded, places) - center for one, places in zip(news, share.sources, strict=True)]
    return np.concatenate([own, *(part.astype(np.float32) for part in halo)])


def advance(share: Share, stand: Stand, news: list[News], acting: Field, plan: Plan, pace: Pace) -> Stand:
    """One step of the shard's points."""
    own, threads = centered(stand, news), threads_here()
    pull, push = np.empty_like(own), np.empty_like(own)
    share.attraction().forces(surroundings(share, own, news), pull, threads)
    field_share(share.rows.shard, own, acting.lattice, threads).read(acting.nodes, push, threads)
    _sorted.pop(share.rows.shard, None)  # of no use to the next iteration
    velocity, gains = stand.velocity.copy(), stand.gains.copy()
    _core.move(
        own,
        velocity,
        gains,
        pull,
        push,
        pace.exaggeration,
        acting.normalizer,
        pace.learning_rate,
        pace.momentum,
        plan.step_limit,
        threads,
    )
    return Stand(own, velocity, gains)


@dataclass(frozen=True)
class Look(Sized):
    """What the client sees of a shard now and then."""

    logarithms: float  # sum of p log(p (1 + d2))
    mass: float  # sum of p
    sampled: Positions  # centered


def look(share: Share, stand: Stand, news: list[News], every: int) -> Look:
    own = centered(stand, news)
    logarithms, mass = share.attraction().divergence(surroundings(share, own, news), threads_here())
    return Look(logarithms, mass, own[::every])


@dataclass(frozen=True)
class Overview:
    """Of the whole map, small."""

    bounds: "_core.Bounds"
    normalizer: float


def oversee(acting: Field, news: list[News]) -> Overview:
    return Overview(bounds_of(news), acting.normalizer)


class Shards:
    """The futures of one iteration after the other."""

    def __init__(self, crew: Crew, shares: list[Any], stands: list[Any], plan: Plan) -> None:
        self.crew, self.shares, self.stands, self.plan = crew, shares, stands, plan
        self.news = self._tell()

    def _tell(self) -> list[Any]:
        return self.crew.each("tell", tell, self.shares, self.stands)

    def field(self) -> Any:
        """Of where the points are now."""
        crew, news = self.crew, self.news
        parts = [
            crew.task("deposit", deposit, share, stand, news, self.plan, shard=shard)
            for shard, (share, stand) in enumerate(zip(self.shares, self.stands, strict=True))
        ]
        while len(parts) > FAN_IN:
            parts = [crew.task("add", add_nodes, parts[at : at + FAN_IN]) for at in range(0, len(parts), FAN_IN)]
        return crew.task("convolve", convolve, parts, news, self.plan, shard=0)  # where the kernel's spectrum is

    def step(self, pace: Pace) -> None:
        """Submits one iteration; nothing waits for it here."""
        acting = self.field()
        self.stands = [
            self.crew.task("advance", advance, share, stand, self.news, acting, self.plan, pace, shard=shard)
            for shard, (share, stand) in enumerate(zip(self.shares, self.stands, strict=True))
        ]
        self.news = self._tell()

    def replace(self, stands: list[Any]) -> None:
        """By futures that do not remember how they came about."""
        self.stands = stands
        self.news = self._tell()

    def look(self, every: int) -> tuple[Overview, list[Look]]:
        """Waits for all that was submitted."""
        seen = [
            self.crew.task("look", look, share, stand, self.news, every, shard=shard)
            for shard, (share, stand) in enumerate(zip(self.shares, self.stands, strict=True))
        ]
        overview = self.crew.task("look", oversee, self.field(), self.news)
        found = self.crew.client.gather([overview, *seen])
        return found[0], found[1:]
