"""The stages of a fit, from values to a map."""

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
from pixelsne.arrays import AnyArray, Positions
from pixelsne.descent import Descent, State
from pixelsne.descent_loop import Snapshot, Stage, StoppedBy
from pixelsne.duplicates import Duplicates
from pixelsne.fitted_map import FittedMap
from pixelsne.initial_positions import continued_positions, initial_positions, separate_coinciding, spectral_axes
from pixelsne.memory import Workload, check_memory, reduced_to, workload
from pixelsne.neighborhood import Neighborhood, choose_neighborhood, neighborhood_of_input
from pixelsne.neighbors import Neighbors
from pixelsne.schedule import warn_of_no_late_phase
from pixelsne.screen import Screen
from pixelsne.settings import Settings
from pixelsne.spaces import Coordinates, PrecomputedAffinities, Space, make_space
from pixelsne.watched import watched
from pixelsne.weights import Float64s, PointWeights, map_weights, weigh, weigh_affinities, weights_of_points

Result = TypeVar("Result")
Order = NDArray[np.int32] | None
StepFactors = NDArray[np.float32] | None


def in_order(rows: Any, order: Order) -> Any:
    """Return an array by rows in the order of the affinities."""
    return rows if order is None else rows[order]


@dataclass(frozen=True)
class Prepared:
    """The results of the stages before the descent, which does not change them."""

    space: Space
    affinities: Affinities
    order: Order  # order[i] is the (distinct) input row of row i of the affinities; None: row i
    duplicates: Duplicates | None = None  # None: each input row is a point of its own
    weights: PointWeights | None = None

    def kl_divergence(self, positions: Positions, settings: Settings) -> float:
        """Return the KL divergence of positions in embedding units, in the order of the input."""
        distinct = positions if self.duplicates is None else self.duplicates.centers(positions)
        return self.descent(in_order(distinct, self.order), settings).final_divergence()

    def descent(self, positions: Positions, settings: Settings, fixed: NDArray[np.bool_] | None = None) -> Descent:
        """Return the descent from positions in the order of the affinities. fixed: of the input rows."""
        pinned = None if fixed is None else self.by_point(fixed)
        weights, duplicates = self.weights, self.duplicates
        return Descent(self.affinities, positions, settings, self.order, duplicates, weights, fixed=pinned)

    def by_point(self, of_rows: AnyArray) -> AnyArray:
        """Return the values of input rows in the order of the affinities; of equal rows, that of the first."""
        distinct = of_rows if self.duplicates is None else of_rows[self.duplicates.first]
        return cast("AnyArray", in_order(distinct, self.order))


class Run:
    """A fit: iterate over `snapshots` to the end, or stop early, then call `fitted_map`.

    weights: (n), checked; None: all are 1. fixed: (n) which rows stay at their initial positions; None: no row does.
    """

    def __init__(
        self,
        values: Any,
        settings: Settings,
        *,
        weights: Float64s | None = None,
        fixed: NDArray[np.bool_] | None = None,
    ) -> None:
        self.settings = settings
        self.weights = weights
        self.fixed = fixed
        warn_of_no_late_phase(settings)
        self.neighborhood: Neighborhood = neighborhood_of_input(values, settings)
        if self.neighborhood.warning:
            warnings.warn(self.neighborhood.warning, UserWarning, stacklevel=4)
        count = self.neighborhood.n_neighbors
        self.workload: Workload = workload(values, settings, count, weighted=weights is not None)
        self.timings: dict[str, float] = {}  # seconds of completed stages
        self._stage: str | None = None
        self._stage_began = 0.0
        self.prepared: Prepared | None = None
        self.descent: Descent | None = None
        self._values: Any = values

    def snapshots(self) -> Generator[Snapshot, None, None]:
        """Run all remaining stages."""
        if self.prepared is None or self.descent is None:
            self.prepared = prepared = yield from self.prepare()
            self.descent = prepared.descent(self._initial_positions(prepared), self.settings, self.fixed)
        with self._timed("descent"):
            yield from self.descent

    def prepare(self) -> Generator[Snapshot, None, Prepared]:
        """Run the stages before the descent."""
        check_memory(self.workload)
        space = yield from self._make_space()
        distinct, duplicates = space, None
        if self.settings.duplicates == "merge":
            with self._timed("reduce"):
                distinct, duplicates = space.distinct(self.fixed)
        weights = weights_of_points(self.weights, duplicates, int(max(self.neighborhood.perplexity)))
        if duplicates is not None:
            self._adapt_to_distinct_rows(len(duplicates))
        searched = [distinct]
        del distinct  # a copy of the points if rows were merged; freed when the neighbors are found
        affinities, order, step_factors = yield from self._affinities(searched, None if weights is None else weights[0])
        if weights is None or step_factors is None:
            return Prepared(space, affinities, order, duplicates)
        values = in_order(weights[0], order).astype(np.float32)
        return Prepared(space, affinities, order, duplicates, PointWeights(values, weights[1], step_factors))

    def _adapt_to_distinct_rows(self, distinct: int) -> None:
        """Choose the neighborhood again, for this many distinct rows."""
        before = self.neighborhood
        self.neighborhood = choose_neighborhood(self.settings, distinct, "distinct rows")
        if self.neighborhood.warning and not before.warning:
            warnings.warn(self.neighborhood.warning, UserWarning, stacklevel=5)

    def resume(self, prepared: Prepared, state: State) -> None:
        """Continue from the state of another run with the same values and settings."""
        descent = prepared.descent(state.positions, self.settings, self.fixed)
        descent.resume(state)
        if prepared.duplicates is not None:
            self._adapt_to_distinct_rows(len(prepared.duplicates))
        self._values, self.prepared, self.descent = None, prepared, descent

    def _affinities(
        self, searched: list[Space], weights: Float64s | None
    ) -> Generator[Snapshot, None, tuple[Affinities, Order, StepFactors]]:
        """Return P, its order, and with weights the step factors.

        searched: the space of the points, which is taken out of the list. weights: of the points, in the order of the
        input.
        """
        step_factors: StepFactors = None
        space = searched.pop()
        if isinstance(space, PrecomputedAffinities) and space.affinities is not None:
            affinities = space.affinities
            if weights is not None:
                affinities, step_factors = weigh_affinities(affinities, weights)
            return affinities, None, step_factors
        neighbors = yield from self._find_neighbors(space)
        del space
        order = neighbors.order
        conditional = yield from self._calibrate(neighbors)
        del neighbors  # frees the distances, half of its memory
        if weights is not None:
            conditional, step_factors = weigh(conditional, in_order(weights, order))
        return (yield from self._symmetrize(conditional)), order, step_factors

    def _initial_positions(self, prepared: Prepared) -> Positions:
        """Return initial positions, in the order of the affinities."""
        init, seed, affinities = self.settings.init, self.settings.seed, prepared.affinities
        deviation = self.settings.init_scale
        if deviation is None:
            return self._continued_positions(prepared)
        rows: Any = slice(None) if prepared.duplicates is None else prepared.duplicates.first
        axes: Any = np.empty((len(affinities), 1))
        if isinstance(init, str) and init == "pca":
            axes = prepared.space.coordinates_for_init()
            axes = axes if axes is None else axes[rows]
        if axes is None:
            axes = spectral_axes(affinities, seed)
            start = separate_coinciding(initial_positions(axes, init, seed, deviation), seed, deviation)
        elif isinstance(init, str):
            start = initial_positions(axes, init, seed, deviation)  # equal rows that are not merged stay together
        else:
            start = separate_coinciding(initial_positions(axes, init[rows], seed, deviation), seed, deviation)
        return cast("Positions", in_order(start, prepared.order))

    def _continued_positions(self, prepared: Prepared) -> Positions:
        """Return the positions of init as they are, in the order of the affinities. Merged rows start at their mean."""
        duplicates, init = prepared.duplicates, np.asarray(self.settings.init)
        given = init if duplicates is None else duplicates.centers(init)
        fixed = self.fixed if self.fixed is None or duplicates is None else self.fixed[duplicates.first]
        start = continued_positions(given, self.settings.seed, fixed)
        return cast("Positions", in_order(start, prepared.order))

    def _make_space(self) -> Generator[Snapshot, None, Space]:
        values, self._values = self._values, None
        with self._timed("reduce"):
            work = watched(lambda token: make_space(values, self.settings, token))
            space = yield from as_snapshots("reduce", work)
        if isinstance(space, Coordinates):
            if space.reduction.warning:
                warnings.warn(space.reduction.warning, UserWarning, stacklevel=5)
            self.workload = reduced_to(self.workload, space.n_components())
            check_memory(self.workload, extra_bytes=-space.points.nbytes)
        return space

    def _find_neighbors(self, space: Space) -> Generator[Snapshot, None, Neighbors]:
        with self._timed("neighbors"):
            search = watched(lambda token: space.neighbors(self.neighborhood.n_neighbors, self.settings, token))
            return (yield from as_snapshots("neighbors", search))

    def _calibrate(self, neighbors: Neighbors) -> Generator[Snapshot, None, Conditional]:
        with self._timed("affinities"):
            perplexity, threads = self.neighborhood.perplexity, self.settings.threads
            work = watched(lambda token: calibrate(neighbors, perplexity, threads, token))
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
        """Return the seconds of each stage so far."""
        if self._stage is None:
            return dict(self.timings)
        so_far = self.timings.get(self._stage, 0.0) + time.perf_counter() - self._stage_began
        return self.timings | {self._stage: so_far}

    def fitted_map(self, stopped_by: StoppedBy | None = None) -> FittedMap:
        """Return the current map."""
        if self.descent is None or self.prepared is None:
            raise RuntimeError(
                "there is no map yet: the run has not reached the descent; iterate over its snapshots first"
            )
        descent, threads = self.descent, self.settings.threads
        # After an interrupt, use the normalizer of the last step: an exact one takes about a second.
        interrupted = stopped_by == "interrupt" and descent.iteration > 0
        divergence = descent.divergence() if interrupted else descent.final_divergence()
        positions = descent.final_map()
        bounds = _core.bounds(positions, threads)  # an interrupt between a step and its screen leaves an old screen
        return FittedMap(
            positions=positions,
            screen=Screen.around(bounds, self.settings.resolution, self.settings.aspect),
            space=self.prepared.space.for_transform(),
            neighborhood=self.neighborhood,
            kl_divergence=divergence,
            iterations=descent.iteration,
            stopped_by=stopped_by or descent.stopped_by,
            timings=self.seconds(),
            history=descent.history,
            weights=map_weights(self.weights),
        )


def as_snapshots(stage: Stage, work: Generator[float, None, Result]) -> Generator[Snapshot, None, Result]:
    """Yield the progress of a watched call as Snapshots."""
    yield Snapshot(0, stage, 0.0)
    with closing(work):
        while True:
            try:
                fraction = next(work)
            except StopIteration as finished:
                return cast("Result", finished.value)
            yield Snapshot(0, stage, fraction)
