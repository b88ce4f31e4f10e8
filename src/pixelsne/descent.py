"""The loop: forces, step, screen, until the picture stands still."""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from pixelsne import _core
from pixelsne.affinities import Affinities
from pixelsne.arrays import AnyArray, Placed, Positions
from pixelsne.duplicates import Duplicates, WeightedPoints
from pixelsne.repulsion import best_normalizer, choose_repulsion
from pixelsne.schedule import Pace, plan, skip_to_cooling
from pixelsne.screen import Screen
from pixelsne.settings import Settings

PhaseName = Literal["reduce", "neighbors", "affinities", "early", "late"]
StoppedBy = Literal["max_iter", "tol", "callback", "interrupt"]

# How often the KL divergence and the pixels moved are measured.
ITERATIONS_BETWEEN_LOOKS = 50

# The median move is taken over this many points at most, evenly spread over all.
POINTS_LOOKED_AT = 50_000

# Keeps the division defined when all points are too far apart to feel each other.
SMALLEST_NORMALIZER = 1e-37

# Maps span hundreds of units, thousands at a million points; one that comes here has exploded.
LARGEST_COORDINATE = 1e9


@dataclass(frozen=True)
class Snapshot:
    """How far a run is."""

    iteration: int
    phase: PhaseName
    fraction: float  #: of this stage, 0 to 1
    screen: Screen | None = None  #: None before the descent
    kl: float | None = None
    moved: float | None = None  #: median pixels since the last look
    _map: Callable[[], Positions] | None = field(default=None, repr=False)

    @property
    def positions(self) -> Positions | None:
        """(n, 2), embedding units: a copy of the map as it is when this is read.

        None before the descent, and always on a cluster, where no machine has them all.
        """
        return None if self._map is None else self._map()


@dataclass
class History:
    """What was measured at every look: (iteration, KL, pixels moved).

    One list, so that an interrupt between two measures cannot leave columns of different lengths.
    """

    looks: list[tuple[int, float, float]] = field(default_factory=list)

    def columns(self) -> dict[str, AnyArray]:
        iterations, divergences, moves = zip(*self.looks, strict=True) if self.looks else ((), (), ())
        return {
            "iteration": np.array(iterations, dtype=np.int64),
            "kl": np.array(divergences, dtype=np.float64),
            "moved": np.array(moves, dtype=np.float64),
        }


@dataclass(frozen=True)
class State:
    """All that changes during a descent: one that starts from it ends in the same bits."""

    iteration: int
    next_pace: int  # ahead of the iteration once `tol` has left some out
    stopped_by: StoppedBy
    looks: list[tuple[int, float, float]]
    positions: Positions
    velocity: Positions
    gains: Positions
    last_look: Placed


def kl_divergence(attraction: _core.Attraction, positions: Positions, normalizer: float, threads: int) -> float:
    logarithms, mass = attraction.divergence(positions, threads)
    return logarithms + mass * math.log(max(normalizer, SMALLEST_NORMALIZER))


def median_move(before: Placed, after: Placed) -> float:
    """Median distance in pixels, less the shift and scale that all points share.

    One outlier that moves the border rescales the whole screen; quartiles do not see it.
    """
    old = np.quantile(before, [0.25, 0.5, 0.75], axis=0)
    new = np.quantile(after, [0.25, 0.5, 0.75], axis=0)
    spread = old[2] - old[0]
    scale = np.where(spread > 0, (new[2] - new[0]) / np.where(spread > 0, spread, 1.0), 1.0)
    moves = after - (new[1] + (before - old[1]) * scale)
    return float(np.median(np.hypot(moves[:, 0], moves[:, 1])))


def log_weights(affinities: Affinities, weights: NDArray[np.int64] | None) -> float:
    """What weights add to the logarithm of Q, over P: q_ij is w_i w_j / (1 + d2), normalized."""
    if weights is None:
        return 0.0
    rows = np.repeat(np.log(weights), np.diff(affinities.offsets))
    return 2.0 * float(np.dot(rows, affinities.values))


class Descent:
    """One descent. Iterating it moves the map; between two iterations everything is consistent."""

    def __init__(
        self,
        affinities: Affinities,
        positions: Positions,
        settings: Settings,
        order: NDArray[np.int32] | None = None,
        duplicates: Duplicates | None = None,
    ) -> None:
        self.settings = settings
        self.positions = positions
        self.order = order  # the (distinct) input row at each place, where these differ
        self.duplicates = duplicates
        self._weights = self._weights_in_order()
        self._weighted = None if self._weights is None else WeightedPoints(self._weights)
        n = len(positions) if self._weighted is None else len(self._weighted)
        self.paces = plan(settings, n)
        self.iteration = 0
        self._next = 0  # of the paces
        self.normalizer = math.inf  # of the last iteration
        self.stopped_by: StoppedBy = "max_iter"
        self.history = History()
        self.attraction = _core.Attraction(affinities.offsets, affinities.columns, affinities.values)
        self.screen = self._screen(_core.bounds(positions, settings.threads))
        self._log_weights = log_weights(affinities, self._weights)
        repel = choose_repulsion(settings, n)
        self._repel = repel if self._weighted is None else self._weighted.lift(repel)
        self._velocity = np.zeros_like(positions)
        self._gains = np.ones_like(positions)
        self._pull = np.empty_like(positions)
        self._push = np.empty_like(positions)
        self._sampled = slice(None, None, -(-len(positions) // POINTS_LOOKED_AT))
        self._last_look = self.screen.place(positions[self._sampled])

    def __iter__(self) -> Iterator[Snapshot]:
        while self._next < len(self.paces):
            pace = self.paces[self._next]
            self._next += 1
            self._iterate(pace)
            kl, moved = self._look()
            skipped = skip_to_cooling(self.paces, self._next, moved, self.settings.tol)
            if skipped is not None:
                self._next, self.stopped_by = skipped, "tol"
            yield self._snapshot(pace, kl, moved)

    def _screen(self, bounds: tuple[float, float, float, float]) -> Screen:
        return Screen.around(bounds, self.settings.resolution, self.settings.aspect)

    def _iterate(self, pace: Pace) -> None:
        threads = self.settings.threads
        normalizer = max(self._repel(self.positions, self.screen, self._push), SMALLEST_NORMALIZER)
        self.attraction.forces(self.positions, self._pull, threads)
        if self._weights is not None:
            self._pull /= self._weights[:, None]  # of one of the points that each stands for, as the push is
        bounds = _core.step(
            self.positions,
            self._velocity,
            self._gains,
            self._pull,
            self._push,
            pace.exaggeration,
            normalizer,
            pace.learning_rate,
            pace.momentum,
            self.settings.step_limit,
            threads,
        )
        self.normalizer = normalizer
        if not all(abs(bound) < LARGEST_COORDINATE for bound in bounds):
            raise FloatingPointError(
                f"the map exploded at iteration {self.iteration}; "
                f"lower learning_rate (it is {pace.learning_rate:g}) or set step_limit"
            )
        self.iteration += 1
        self.screen = self._screen(bounds)

    def _look(self) -> tuple[float | None, float | None]:
        if self.iteration % ITERATIONS_BETWEEN_LOOKS != 0:
            return None, None
        # Z belongs to the positions before the step, a fiftieth of a look ago: close enough to watch.
        kl = self.divergence()
        placed = self.screen.place(self.positions[self._sampled])
        moved = median_move(self._last_look, placed)
        self._last_look = placed
        self.history.looks.append((self.iteration, kl, moved))
        return kl, moved

    def _snapshot(self, pace: Pace, kl: float | None, moved: float | None) -> Snapshot:
        return Snapshot(self.iteration, pace.phase, self._next / len(self.paces), self.screen, kl, moved, self.map)

    def state(self) -> State:
        """What the descent is made of between two iterations; not a copy."""
        return State(
            iteration=self.iteration,
            next_pace=self._next,
            stopped_by=self.stopped_by,
            looks=self.history.looks,
            positions=self.positions,
            velocity=self._velocity,
            gains=self._gains,
            last_look=self._last_look,
        )

    def resume(self, state: State) -> None:
        """Goes on from there; the arrays are the descent's from now on."""
        mine, given = self.state(), state
        for name in ("positions", "velocity", "gains", "last_look"):
            if getattr(mine, name).shape != getattr(given, name).shape:
                raise ValueError(f"{name} of another descent: {getattr(given, name).shape}")
        if not 0 < state.iteration <= state.next_pace <= len(self.paces):
            raise ValueError(f"iteration {state.iteration} is none of {len(self.paces)}")
        self.iteration, self._next, self.stopped_by = state.iteration, state.next_pace, state.stopped_by
        self.history = History(list(state.looks))
        self.positions, self._velocity, self._gains = state.positions, state.velocity, state.gains
        self._last_look = state.last_look
        self.screen = self._screen(_core.bounds(self.positions, self.settings.threads))

    def divergence(self) -> float:
        """KL, by the normalizer of the last iteration."""
        kl = kl_divergence(self.attraction, self.positions, self.normalizer, self.settings.threads)
        return kl - self._log_weights

    def final_divergence(self) -> float:
        """KL, by the best normalizer there is."""
        weighted, positions = self._weighted, self.positions
        if weighted is None:
            self.normalizer = best_normalizer(positions, self.settings.threads)
        else:
            self.normalizer = weighted.normalizer(best_normalizer(weighted.repeat(positions), self.settings.threads))
        return self.divergence()

    def _weights_in_order(self) -> NDArray[np.int64] | None:
        if self.duplicates is None:
            return None
        return self.duplicates.weights if self.order is None else self.duplicates.weights[self.order]

    def _unsorted(self) -> Positions:
        """A copy of the positions, (distinct) rows in the order of the input."""
        if self.order is None:
            return self.positions.copy()
        unsorted = np.empty_like(self.positions)
        unsorted[self.order] = self.positions
        return unsorted

    def map(self) -> Positions:
        """A copy of the positions in the order of the input; equal rows that were merged are in one position."""
        return self._unsorted() if self.duplicates is None else self._unsorted()[self.duplicates.group]

    def final_map(self) -> Positions:
        """The same, with equal rows spread around their common position."""
        return self._unsorted() if self.duplicates is None else self.duplicates.spread(self._unsorted())
