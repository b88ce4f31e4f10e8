"""The descent in this process: forces, step, screen."""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pixelsne import _core
from pixelsne.affinities import Affinities
from pixelsne.arrays import Positions, ScreenPositions
from pixelsne.descent_loop import POINTS_MEASURED, DescentLoop, LoopState
from pixelsne.duplicates import Duplicates
from pixelsne.repulsion import best_normalizer, choose_repulsion
from pixelsne.schedule import ScheduleStep
from pixelsne.screen import Screen
from pixelsne.settings import MAX_POSITION, Settings
from pixelsne.weights import PointWeights, kl_term

# Keeps the division by Z defined when all points are so far apart that Z underflows.
MIN_NORMALIZER = 1e-37


@dataclass(frozen=True)
class State(LoopState):
    """Everything that changes during a descent. A descent that resumes from a state ends with the same bits."""

    positions: Positions
    velocity: Positions
    gains: Positions


def kl_divergence(attraction: _core.Attraction, positions: Positions, normalizer: float, threads: int) -> float:
    logarithms, mass = attraction.divergence(positions, threads)
    return logarithms + mass * math.log(max(normalizer, MIN_NORMALIZER))


class Descent(DescentLoop):
    """A descent whose positions are in this process."""

    def __init__(
        self,
        affinities: Affinities,
        positions: Positions,
        settings: Settings,
        order: NDArray[np.int32] | None = None,
        duplicates: Duplicates | None = None,
        weights: PointWeights | None = None,
        *,
        fixed: NDArray[np.bool_] | None = None,
    ) -> None:
        super().__init__(settings, len(positions))
        self.positions = positions
        self.order = order  # order[i] is the (distinct) input row of point i; None: row i
        self.duplicates = duplicates
        self._fixed = None if fixed is None else np.flatnonzero(fixed)  # points that do not move
        self.weights = weights
        self._values = None if weights is None else weights.values
        self.normalizer = math.inf  # of the last iteration
        self.attraction = _core.Attraction(affinities.offsets, affinities.columns, affinities.values)
        self._screen = self._screen_around(_core.bounds(positions, settings.threads))
        self._log_weights = 0.0 if weights is None else kl_term(affinities, weights.values)
        self._repel = choose_repulsion(settings, len(positions), self._values)
        self._velocity = np.zeros_like(positions)
        self._gains = np.ones_like(positions)
        self._pull = np.empty_like(positions)
        self._push = np.empty_like(positions)
        stride = -(-len(positions) // POINTS_MEASURED)
        self._sampled = slice(None, None, stride) if fixed is None else np.flatnonzero(~fixed)[::stride]
        self.last_sample: ScreenPositions | Positions = self._sample()

    @property
    def screen(self) -> Screen:
        return self._screen

    def _screen_around(self, bounds: tuple[float, float, float, float]) -> Screen:
        return Screen.around(bounds, self.settings.resolution, self.settings.aspect)

    def _current_map(self) -> Callable[[], Positions]:
        return self.map

    def _move(self, step: ScheduleStep) -> None:
        threads = self.settings.threads
        normalizer = self._with_inner_pairs(self._repel(self.positions, self._screen, self._push, step.spacing))
        self.attraction.forces(self.positions, self._pull, threads)
        rate = step.learning_rate
        if self.weights is not None:
            self._pull *= (self.weights.step_factors / self.weights.values)[
                :, None
            ]  # the force on one copy of each row, as the push is
            self._push *= self.weights.step_factors[:, None]
            rate *= self.weights.rate_factor(normalizer)
        bounds = self._step(step, rate, normalizer)
        self.normalizer = normalizer
        if not all(abs(bound) < MAX_POSITION for bound in bounds):
            raise FloatingPointError(
                f"the descent diverged at iteration {self.iteration}; "
                f"lower learning_rate (it is {step.learning_rate:g}) or set step_limit"
            )
        self._screen = self._screen_around(bounds)

    def _step(self, step: ScheduleStep, rate: float, normalizer: float) -> tuple[float, float, float, float]:
        """Move the points by their forces and return the bounds of the map, which is centered unless points are fixed.

        No force acts on a fixed point, so its velocity stays 0 and its position keeps its bits.
        """
        arguments = (
            *(self.positions, self._velocity, self._gains, self._pull, self._push),
            *(step.exaggeration, normalizer, rate, step.momentum),
            *(self.settings.step_limit, self.settings.threads),
        )
        if self._fixed is None:
            return _core.step(*arguments)
        self._pull[self._fixed] = self._push[self._fixed] = 0
        sums = _core.move(*arguments)
        are_finite = all(map(math.isfinite, sums))
        return _core.bounds(self.positions, self.settings.threads) if are_finite else (math.nan,) * 4

    def _with_inner_pairs(self, between: float) -> float:
        """Return the normalizer, from that of the pairs between points."""
        return max(between if self.weights is None else between + self.weights.inner_pairs, MIN_NORMALIZER)

    def _measure(self) -> tuple[float, ScreenPositions | Positions]:
        # The normalizer belongs to the positions before the last step, which is accurate enough for a report.
        return self.divergence(), self._sample()

    def _sample(self) -> ScreenPositions | Positions:
        """Return sampled points that can move: on the screen, or in embedding units if others are fixed."""
        sampled = self.positions[self._sampled]
        return self._screen.to_pixels(sampled) if self._fixed is None else sampled

    def _median_move(self, before: ScreenPositions | Positions, after: ScreenPositions | Positions) -> float:
        """Return the median distance in pixels. Fixed points keep the map from being shifted and scaled as a whole."""
        if self._fixed is None:
            return super()._median_move(before, after)
        return float(np.median(np.linalg.norm((after - before) / self._screen.unit_per_pixel, axis=1)))

    def state(self) -> State:
        """Return the state between two iterations, without copying it."""
        return State(**vars(super().state()), positions=self.positions, velocity=self._velocity, gains=self._gains)

    def resume(self, state: State) -> None:
        """Continue from a state. The descent takes over its arrays and changes them."""
        current = self.state()
        for name in ("positions", "velocity", "gains", "last_sample"):
            needed, stored = getattr(current, name).shape, getattr(state, name).shape
            if needed != stored:
                raise ValueError(
                    f"{name} in the checkpoint has shape {stored}, not {needed}; resume with the same input"
                )
        if not 0 < state.iteration <= state.next_step <= len(self.schedule):
            raise ValueError(
                f"checkpoint is at iteration {state.iteration} and step {state.next_step} of its schedule, but this "
                f"run has {len(self.schedule)} steps; resume with the settings of the checkpoint"
            )
        self.restore(state)
        self.positions, self._velocity, self._gains = state.positions, state.velocity, state.gains
        self._screen = self._screen_around(_core.bounds(self.positions, self.settings.threads))

    def divergence(self) -> float:
        """Return KL with the normalizer of the last iteration."""
        kl = kl_divergence(self.attraction, self.positions, self.normalizer, self.settings.threads)
        return kl - self._log_weights

    def final_divergence(self) -> float:
        """Return KL with the most exact normalizer."""
        between = best_normalizer(self.positions, self.settings.threads, self._values)
        self.normalizer = self._with_inner_pairs(between)
        return self.divergence()

    def _in_input_order(self) -> Positions:
        """Return a copy of the positions of the (distinct) rows, in the order of the input."""
        if self.order is None:
            return self.positions.copy()
        unsorted = np.empty_like(self.positions)
        unsorted[self.order] = self.positions
        return unsorted

    def map(self) -> Positions:
        """Return a copy of the positions in the order of the input; merged rows have one position."""
        return self._in_input_order() if self.duplicates is None else self._in_input_order()[self.duplicates.group]

    def final_map(self) -> Positions:
        """Return the positions in the order of the input, with merged rows spread around their common position."""
        return self._in_input_order() if self.duplicates is None else self.duplicates.spread(self._in_input_order())
