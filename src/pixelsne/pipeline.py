"""From values to a map, one line per stage."""

import time
import warnings
from collections.abc import Generator, Iterator
from contextlib import closing, contextmanager
from typing import TypeVar, cast

from pixelsne import _core
from pixelsne.affinities import Affinities, Conditional, calibrate, symmetrize
from pixelsne.arrays import AnyArray, Points
from pixelsne.descent import Descent, PhaseName, Snapshot, StoppedBy, kl_divergence
from pixelsne.embedding import Embedding
from pixelsne.initial_positions import initial_positions
from pixelsne.neighbors import Neighbors, find_neighbors
from pixelsne.reduce import reduce
from pixelsne.repulsion import best_normalizer
from pixelsne.screen import Screen
from pixelsne.settings import Settings
from pixelsne.watched import watched

Result = TypeVar("Result")


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


class Run:
    """One map in the making: follow its snapshots to the end, or stop early, and take the embedding."""

    def __init__(self, values: AnyArray, settings: Settings) -> None:
        self.settings = settings
        self.perplexity = fitting_perplexity(settings, len(values))
        self.neighbor_count = neighbor_count(settings, self.perplexity, len(values))
        self.timings: dict[str, float] = {}
        self.descent: Descent | None = None
        self._values: AnyArray | None = values

    def snapshots(self) -> Generator[Snapshot, None, None]:
        """Runs all stages."""
        points = yield from self._reduce()
        neighbors = yield from self._find_neighbors(points)
        order = neighbors.order
        conditional = yield from self._calibrate(neighbors)
        del neighbors  # half of it, the distances, is not needed any more
        affinities = yield from self._symmetrize(conditional)
        del conditional
        start = initial_positions(points, self.settings.init, self.settings.seed)
        del points
        self.descent = Descent(affinities, start if order is None else start[order], self.settings, order)
        with self._timed("descent"):
            yield from self.descent

    def _reduce(self) -> Generator[Snapshot, None, Points]:
        yield Snapshot(0, "reduce", 0.0)
        values, self._values = cast("AnyArray", self._values), None
        with self._timed("reduce"):
            return reduce(values, self.settings.n_pca, self.settings.seed)

    def _find_neighbors(self, points: Points) -> Generator[Snapshot, None, Neighbors]:
        method, seed, threads = self.settings.neighbors, self.settings.seed, self.settings.threads
        with self._timed("neighbors"):
            search = watched(
                lambda token: find_neighbors(points, self.neighbor_count, method, seed, threads, token, reorder=True)
            )
            return (yield from as_snapshots("neighbors", search))

    def _calibrate(self, neighbors: Neighbors) -> Generator[Snapshot, None, Conditional]:
        with self._timed("affinities"):
            work = watched(lambda token: calibrate(neighbors, self.perplexity, self.settings.threads, token))
            return (yield from as_snapshots("affinities", work))

    def _symmetrize(self, conditional: Conditional) -> Generator[Snapshot, None, Affinities]:
        with self._timed("affinities"):
            work = watched(lambda token: symmetrize(conditional, self.settings.threads, token))
            return (yield from as_snapshots("affinities", work))

    @contextmanager
    def _timed(self, stage: str) -> Iterator[None]:
        start = time.perf_counter()
        try:
            yield
        finally:
            self.timings[stage] = self.timings.get(stage, 0.0) + time.perf_counter() - start

    def embedding(self, stopped_by: StoppedBy | None = None) -> Embedding:
        """The map as it is now."""
        if self.descent is None:
            raise RuntimeError("the run has not reached its descent yet: there is no map to take")
        descent, threads = self.descent, self.settings.threads
        # After an interrupt every second counts, and the last normalizer is one step old at most.
        interrupted = stopped_by == "interrupt" and descent.iteration > 0
        normalizer = descent.normalizer if interrupted else best_normalizer(descent.positions, threads)
        bounds = _core.bounds(descent.positions, threads)  # an interrupt may have come between step and screen
        return Embedding(
            positions=descent.map(),
            screen=Screen.around(bounds, self.settings.resolution, self.settings.aspect),
            kl_divergence=kl_divergence(descent.attraction, descent.positions, normalizer, threads),
            iterations=descent.iteration,
            stopped_by=stopped_by or descent.stopped_by,
            perplexity=self.perplexity,
            timings=dict(self.timings),
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
