"""The loop: forces, step, screen, until the picture stands still."""

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from pixelsne import _core
from pixelsne.affinities import Affinities
from pixelsne.arrays import AnyArray, Placed, Positions
from pixelsne.repulsion import choose_repulsion
from pixelsne.schedule import Phase, plan_phases
from pixelsne.screen import Screen
from pixelsne.settings import Settings

PhaseName = Literal["reduce", "neighbors", "affinities", "early", "late"]
StoppedBy = Literal["max_iter", "tol", "callback", "interrupt"]

# How often the KL divergence and the pixels moved are measured.
ITERATIONS_BETWEEN_LOOKS = 50

# Keeps the division defined when all points are too far apart to feel each other.
SMALLEST_NORMALIZER = 1e-37

# Maps span hundreds of units, thousands at a million points; one that comes here has exploded.
LARGEST_COORDINATE = 1e9


@dataclass(frozen=True)
class Snapshot:
    """How far a run is. `positions` is the map itself, moving on with the run: copy it to keep it."""

    iteration: int
    phase: PhaseName
    fraction: float  # of this stage, 0 to 1
    positions: Positions | None = None  # (n, 2), embedding units; None before the descent
    screen: Screen | None = None
    kl: float | None = None
    moved: float | None = None  # median pixels since the last look


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


class Descent:
    """One descent. Iterating it moves the map; between two iterations everything is consistent."""

    def __init__(self, affinities: Affinities, positions: Positions, settings: Settings) -> None:
        self.settings = settings
        self.positions = positions
        self.iteration = 0
        self.normalizer = math.inf  # of the last iteration
        self.stopped_by: StoppedBy = "max_iter"
        self.history = History()
        self.attraction = _core.Attraction(affinities.offsets, affinities.columns, affinities.values)
        self.screen = self._screen(_core.bounds(positions, settings.threads))
        self._repel = choose_repulsion(settings, len(positions))
        self._velocity = np.zeros_like(positions)
        self._gains = np.ones_like(positions)
        self._pull = np.empty_like(positions)
        self._push = np.empty_like(positions)
        self._last_look = self.screen.place(positions)

    def __iter__(self) -> Iterator[Snapshot]:
        for phase in plan_phases(self.settings, len(self.positions)):
            for _ in range(phase.iterations):
                self._iterate(phase)
                kl, moved = self._look()
                yield self._snapshot(phase, kl, moved)
                if moved is not None and moved < self.settings.tol and phase.name == "late":
                    self.stopped_by = "tol"
                    return

    def _screen(self, bounds: tuple[float, float, float, float]) -> Screen:
        return Screen.around(bounds, self.settings.resolution, self.settings.aspect)

    def _iterate(self, phase: Phase) -> None:
        threads = self.settings.threads
        normalizer = max(self._repel(self.positions, self.screen, self._push), SMALLEST_NORMALIZER)
        self.attraction.forces(self.positions, self._pull, threads)
        bounds = _core.step(
            self.positions,
            self._velocity,
            self._gains,
            self._pull,
            self._push,
            phase.exaggeration,
            normalizer,
            phase.learning_rate,
            phase.momentum,
            self.settings.step_limit,
            threads,
        )
        self.normalizer = normalizer
        if not all(abs(bound) < LARGEST_COORDINATE for bound in bounds):
            raise FloatingPointError(
                f"the map exploded at iteration {self.iteration}; "
                f"lower learning_rate (it is {phase.learning_rate:g}) or set step_limit"
            )
        self.iteration += 1
        self.screen = self._screen(bounds)

    def _look(self) -> tuple[float | None, float | None]:
        if self.iteration % ITERATIONS_BETWEEN_LOOKS != 0:
            return None, None
        # Z belongs to the positions before the step, a fiftieth of a look ago: close enough to watch.
        kl = kl_divergence(self.attraction, self.positions, self.normalizer, self.settings.threads)
        placed = self.screen.place(self.positions)
        moved = median_move(self._last_look, placed)
        self._last_look = placed
        self.history.looks.append((self.iteration, kl, moved))
        return kl, moved

    def _snapshot(self, phase: Phase, kl: float | None, moved: float | None) -> Snapshot:
        fraction = self.iteration / self.settings.max_iter
        positions = self.positions.view()
        positions.flags.writeable = False
        return Snapshot(self.iteration, phase.name, fraction, positions, self.screen, kl, moved)
