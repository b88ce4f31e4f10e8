"""The descent, shard by shard.

In an iteration every shard tells where its points are (`tell`), deposits them on the lattice that follows from what
all told (`deposit`), and moves them (`advance`) once the lattices are added up and convolved (`repel`). Small maps
have no lattice: there `deposit` returns the positions. All tasks are pure, so that what a lost worker held can be
computed again.
"""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, cast
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from pixelsne import _core
from pixelsne.arrays import Positions
from pixelsne.distributed.affinities import Rows, Searched
from pixelsne.distributed.crew import FAN_IN, Crew, threads_here
from pixelsne.distributed.halo import Given, decode, encode
from pixelsne.distributed.repulsion import (
    Field,
    News,
    Overview,
    Plan,
    Pushes,
    bounds_of,
    center_of,
    merge,
    oversee,
    pass_on,
    repel,
)
from pixelsne.distributed.sized import Sized, aligned
from pixelsne.schedule import Pace


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


@dataclass(frozen=True, eq=False)
class Stand(Sized):
    """Where a shard's points are: all that changes from iteration to iteration. Not centered. Only itself is equal."""

    positions: Positions  # (own, 2)
    velocity: Positions
    gains: Positions


def begin(searched: Searched) -> Stand:
    positions = searched.start
    return Stand(positions, np.zeros_like(positions), np.ones_like(positions))


def make_share(rows: Rows, given: Given, sources: list[Any]) -> Share:
    return Share(rows, given, sources)


def tell(share: Share, stand: Stand) -> News:
    positions, threads = aligned(stand.positions), threads_here()
    return News(
        len(positions),
        _core.sum_positions(positions, threads),
        _core.bounds(positions, threads),
        encode(positions, aligned(share.given.places), threads),
    )


def centered(stand: Stand, news: Sequence[News]) -> Positions:
    moved = np.empty_like(stand.positions)
    _core.center_positions(aligned(stand.positions), center_of(news), moved, threads_here())
    return moved


class Desk:
    """What a worker has at hand of a shard between `deposit` and `advance`, which follows it on the same worker unless
    something was lost."""

    def __init__(self, share: Share, stand: Stand, news: list[News], plan: Plan) -> None:
        self.positions, self.threads = centered(stand, news), threads_here()
        self.bounds = bounds_of(news)
        self.on_lattice: _core.FieldShare | None = None
        if not plan.gathers:
            self.lattice = _core.choose_lattice(self.bounds, plan.n, plan.most_nodes)
            self.on_lattice = _core.FieldShare(self.positions, self.lattice, self.threads)
        self._attract: Callable[[], Positions] = lambda: self._pull(share, news)

    def _pull(self, share: Share, news: list[News]) -> Positions:
        pull = np.empty_like(self.positions)
        share.attraction().forces(surroundings(share, self.positions, news, self.threads), pull, self.threads)
        return pull

    def attract_ahead(self) -> None:
        """While lattices travel and the field is made."""
        self._attract = _ahead.submit(self._attract).result

    def attraction(self) -> Positions:
        return self._attract()

    def deposit(self) -> NDArray[np.float32]:
        """Return the nodes of the lattice with this shard's points; or the points, where there is no lattice."""
        if self.on_lattice is None:
            return self.positions.copy()  # `advance` moves these
        nodes = np.empty((self.lattice[4], self.lattice[3]), dtype=np.float32)
        self.on_lattice.deposit(nodes, self.threads)
        return nodes

    def push(self, acting: Field | Pushes, shard: int, news: list[News]) -> Positions:
        """(own, 2)"""
        if isinstance(acting, Pushes) or self.on_lattice is None:
            return cast("Pushes", acting).of_shard(shard, news)
        push = np.empty_like(self.positions)
        self.on_lattice.read(acting.nodes, push, self.threads)
        return push


# By where the shard's points are; they go when that goes.
_desks: WeakKeyDictionary[Stand, Desk] = WeakKeyDictionary()
_ahead = ThreadPoolExecutor(1, thread_name_prefix="pixelsne-ahead")


def deposit(share: Share, stand: Stand, news: list[News], plan: Plan) -> NDArray[np.float32]:
    desk = Desk(share, stand, news, plan)
    deposited = desk.deposit()
    _desks[stand] = desk
    desk.attract_ahead()
    return deposited


def surroundings(share: Share, own: Positions, news: list[News], threads: int) -> Positions:
    """(own + halo, 2), centered."""
    ends = np.cumsum([len(own), *(len(places) for places in share.sources)])
    whole, center = np.empty((ends[-1], 2), dtype=np.float32), center_of(news)
    whole[: len(own)] = own
    for one, places, begin, end in zip(news, share.sources, ends[:-1], ends[1:], strict=True):
        decode(one.coded, places, center, whole[begin:end], threads)
    return whole


def advance(share: Share, stand: Stand, news: list[News], acting: Field | Pushes, plan: Plan, pace: Pace) -> Stand:
    """One step of the shard's points."""
    desk = _desks.pop(stand, None) or Desk(share, stand, news, plan)
    own, threads, pull = desk.positions, desk.threads, desk.attraction()
    push = desk.push(acting, share.rows.shard, news)
    del desk  # the largest part of what an iteration needs
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
    own, threads = centered(stand, news), threads_here()
    logarithms, mass = share.attraction().divergence(surroundings(share, own, news, threads), threads)
    return Look(logarithms, mass, own[::every])


class Shards:
    """The futures of one iteration after the other."""

    def __init__(self, crew: Crew, shares: list[Any], stands: list[Any], plan: Plan) -> None:
        self.crew, self.shares, self.stands, self.plan = crew, shares, stands, plan
        self.news = self._tell(stands)
        self._field: Any = None  # of where the points are now, once somebody has asked

    def _tell(self, stands: list[Any]) -> list[Any]:
        return self.crew.each("tell", tell, self.shares, stands)

    def field(self) -> Any:
        """Of where the points are now."""
        if self._field is None:
            self._field = self._make_field()
        return self._field

    def _make_field(self) -> Any:
        crew, news = self.crew, self.news
        parts = [
            crew.task("deposit", deposit, share, stand, news, self.plan, shard=shard)
            for shard, (share, stand) in enumerate(zip(self.shares, self.stands, strict=True))
        ]
        while len(parts) > FAN_IN:
            parts = [crew.task("add", merge, parts[at : at + FAN_IN], self.plan) for at in range(0, len(parts), FAN_IN)]
        return crew.task("convolve", repel, parts, news, self.plan, shard=0)  # where the kernel's spectrum is

    def _passed_on(self, field: Any) -> list[Any]:
        """The field for each shard, by way of others where they are many: one worker could not serve all."""
        counts = [self.crew.shards]
        while counts[-1] > FAN_IN:
            counts.append(-(-counts[-1] // FAN_IN))
        copies = [field]
        for count in reversed(counts[1:]):
            copies = [
                self.crew.task("relay", pass_on, copies[at * len(copies) // count], shard=at * counts[0] // count)
                for at in range(count)
            ]
        return [copies[shard * len(copies) // counts[0]] for shard in range(counts[0])]

    def step(self, pace: Pace) -> None:
        """Submits one iteration; nothing waits for it here."""
        fields = self._passed_on(self.field())
        stands = [
            self.crew.task("advance", advance, share, stand, self.news, acting, self.plan, pace, shard=shard)
            for shard, (share, stand, acting) in enumerate(zip(self.shares, self.stands, fields, strict=True))
        ]
        self.go_on_from(stands)

    def go_on_from(self, stands: list[Any]) -> None:
        news = self._tell(stands)
        self.stands, self.news, self._field = stands, news, None  # at once: an interrupt leaves what fits together

    def look(self, every: int, *, exactly: bool = False) -> tuple[Overview, list[Look]]:
        """Waits for all that was submitted. `exactly`: small maps get an exact normalizer."""
        seen = [
            self.crew.task("look", look, share, stand, self.news, every, shard=shard)
            for shard, (share, stand) in enumerate(zip(self.shares, self.stands, strict=True))
        ]
        gathers = exactly and self.plan.gathers
        parts = [self.crew.task("look", centered, stand, self.news) for stand in self.stands] if gathers else None
        overview = self.crew.task("look", oversee, self.field(), self.news, parts)
        found = self.crew.gather([overview, *seen])
        return found[0], found[1:]
