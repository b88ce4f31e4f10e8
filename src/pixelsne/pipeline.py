"""From values to a map, one line per stage."""

import time
import warnings
from collections.abc import Generator, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from typing import Any, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from pixelsne import _core
from pixelsne.affinities import Affinities, Conditional, calibrate, symmetrize
from pixelsne.arrays import Positions
from pixelsne.descent import Descent, PhaseName, Snapshot, State, StoppedBy, kl_divergence
from pixelsne.embedding import Embedding
from pixelsne.initial_positions import initial_positions, part_coinciding, spectral_axes
from pixelsne.memory import Workload, check_memory, workload
from pixelsne.neighbors import Neighbors
from pixelsne.repulsion import best_normalizer
from pixelsne.screen import Screen
from pixelsne.settings import Settings
from pixelsne.spaces import GivenAffinities, Space, enter_space
from pixelsne.watched import watched

Result = TypeVar("Result")
Order = NDArray[np.int32] | None


def fitting_perplexity(settings: Settings, n: int) -> tuple[float, ...]:
    """The perplexities n points can carry; lowers them with one warning where they are too large."""
    largest = max(1.0, (n - 1) / 3)
    if max(settings.perplexity) > largest:
        given = ", ".join(f"{perplexity:g}" for perplexity in settings.perplexity)
        warnings.warn(f"perplexity={given} is too large for {n} points; using {largest:g}", UserWarning, stacklevel=5)
    return tuple(min(perplexity, largest) for perplexity in settings.perplexity)


def neighbor_count(settings: Settings, perplexity: tuple[float, ...], n: int) -> int:
    if settings.n_neighbors == "all":
        return n - 1
    count = min(settings.n_neighbors or int(3 * max(perplexity)), n - 1)
    if count < max(perplexity):
        raise ValueError(
            f"n_neighbors={settings.n_neighbors} cannot carry a perplexity of {max(perplexity):g}; "
            f"use n_neighbors >= {max(perplexity):g} (three times as many is usual) or a lower perplexity"
        )
    return count


def check_graph(found: int, wanted: int, perplexity: tuple[float, ...]) -> None:
    """Whether a graph of the user's has neighbors enough."""
    if found < max(perplexity):
        raise ValueError(
            f"a graph with {found} neighbors of each point cannot carry a perplexity of {max(perplexity):g}; "
            f"give at least {wanted} neighbors, or lower perplexity to {found / 3:g}"
        )
    if found < wanted:
        warnings.warn(
            f"the graph has {found} neighbors of each point where {wanted} are usual for this perplexity",
            UserWarning,
            stacklevel=5,
        )


@dataclass(frozen=True)
class Prepared:
    """What the stages before the descent found; the descent does not change it."""

    space: Space
    affinities: Affinities
    order: Order  # the input row at each place of the affinities, where these differ

    def kl_divergence(self, positions: Positions, threads: int) -> float:
        """Of a map in the order of the input, embedding units."""
        in_order = positions if self.order is None else positions[self.order]
        attraction = _core.Attraction(self.affinities.offsets, self.affinities.columns, self.affinities.values)
        return kl_divergence(attraction, in_order, best_normalizer(in_order, threads), threads)


class Run:
    """One map in the making: follow its snapshots to the end, or stop early, and take the embedding."""

    def __init__(self, values: Any, settings: Settings) -> None:
        n = values.shape[0]
        self.settings = settings
        self.perplexity = fitting_perplexity(settings, n)
        self.neighbor_count = neighbor_count(settings, self.perplexity, n)
        self.workload: Workload = workload(values, settings, self.neighbor_count)
        self.timings: dict[str, float] = {}  # of stages that are over
        self._stage: str | None = None
        self._stage_began = 0.0
        self.prepared: Prepared | None = None
        self.descent: Descent | None = None
        self._values: Any = values

    def snapshots(self) -> Generator[Snapshot, None, None]:
        """Runs all stages that are left."""
        if self.prepared is None or self.descent is None:
            self.prepared = prepared = yield from self.prepare()
            start = self._start(prepared)
            self.descent = Descent(prepared.affinities, start, self.settings, prepared.order)
        with self._timed("descent"):
            yield from self.descent

    def prepare(self) -> Generator[Snapshot, None, Prepared]:
        """The stages before the descent."""
        check_memory(self.workload)
        space = yield from self._enter_space()
        affinities, order = yield from self._affinities(space)
        return Prepared(space, affinities, order)

    def resume(self, prepared: Prepared, state: State) -> None:
        """Skips to where another run with the same values and settings was."""
        descent = Descent(prepared.affinities, state.positions, self.settings, prepared.order)
        descent.resume(state)
        self._values, self.prepared, self.descent = None, prepared, descent

    def _affinities(self, space: Space) -> Generator[Snapshot, None, tuple[Affinities, Order]]:
        if isinstance(space, GivenAffinities) and space.affinities is not None:
            return space.affinities, None
        neighbors = yield from self._find_neighbors(space)
        order = neighbors.order
        conditional = yield from self._calibrate(neighbors)
        del neighbors  # half of it, the distances, is not needed any more
        return (yield from self._symmetrize(conditional)), order

    def _start(self, prepared: Prepared) -> Positions:
        """In the order of the affinities."""
        init, seed, affinities = self.settings.init, self.settings.seed, prepared.affinities
        axes: Any = prepared.space.axes() if isinstance(init, str) and init == "pca" else np.empty((len(affinities), 1))
        if axes is None:
            start = part_coinciding(initial_positions(spectral_axes(affinities, seed), init, seed), seed)
        elif isinstance(init, str):
            start = initial_positions(axes, init, seed)  # equal rows of X begin in one place, and stay
        else:
            start = part_coinciding(initial_positions(axes, init, seed), seed)
        return start if prepared.order is None else start[prepared.order]

    def _enter_space(self) -> Generator[Snapshot, None, Space]:
        values, self._values = self._values, None
        with self._timed("reduce"):
            work = watched(lambda token: enter_space(values, self.settings, token))
            return (yield from as_snapshots("reduce", work))

    def _find_neighbors(self, space: Space) -> Generator[Snapshot, None, Neighbors]:
        with self._timed("neighbors"):
            search = watched(lambda token: space.neighbors(self.neighbor_count, self.settings, token))
            return (yield from as_snapshots("neighbors", search))

    def _calibrate(self, neighbors: Neighbors) -> Generator[Snapshot, None, Conditional]:
        check_graph(neighbors.indices.shape[1], self.neighbor_count, self.perplexity)
        with self._timed("affinities"):
            work = watched(lambda token: calibrate(neighbors, self.perplexity, self.settings.threads, token))
            return (yield from as_snapshots("affinities", work))

    def _symmetrize(self, conditional: Conditional) -> Generator[Snapshot, None, Affinities]:
        with self._timed("affinities"):
            work = watched(lambda token: symmetrize(conditional, self.settings.threads, token))
            return (yield from as_snapshots("affinities", work))

    @contextmanager
    def _timed(self, stage: str) -> Iterator[None]:
        self._stage, self._stage_began = stage, time.perf_counter()
        try:
            yield
        finally:
            _core.release_free_memory()
            self.timings = self.seconds()
            self._stage = None

    def seconds(self) -> dict[str, float]:
        """By stage, up to now."""
        if self._stage is None:
            return dict(self.timings)
        so_far = self.timings.get(self._stage, 0.0) + time.perf_counter() - self._stage_began
        return self.timings | {self._stage: so_far}

    def embedding(self, stopped_by: StoppedBy | None = None) -> Embedding:
        """The map as it is now."""
        if self.descent is None or self.prepared is None:
            raise RuntimeError("the run has not reached its descent yet: there is no map to take")
        descent, threads = self.descent, self.settings.threads
        # After an interrupt every second counts, and the last normalizer is one step old at most.
        interrupted = stopped_by == "interrupt" and descent.iteration > 0
        normalizer = descent.normalizer if interrupted else best_normalizer(descent.positions, threads)
        bounds = _core.bounds(descent.positions, threads)  # an interrupt may have come between step and screen
        return Embedding(
            positions=descent.map(),
            screen=Screen.around(bounds, self.settings.resolution, self.settings.aspect),
            space=self.prepared.space.kept(),
            neighbor_count=self.neighbor_count,
            perplexity=self.perplexity,
            kl_divergence=kl_divergence(descent.attraction, descent.positions, normalizer, threads),
            iterations=descent.iteration,
            stopped_by=stopped_by or descent.stopped_by,
            timings=self.seconds(),
            history=descent.history,
        )


def as_snapshots(phase: PhaseName, work: Generator[float, None, Result]) -> Generator[Snapshot, None, Result]:
    """The fractions that a watched call yields, as Snapshots."""
    yield Snapshot(0, phase, 0.0)
    with closing(work):
        while True:
            try:
                fraction = next(work)
            except StopIteration as finished:
                return cast("Result", finished.value)
            yield Snapshot(0, phase, fraction)
