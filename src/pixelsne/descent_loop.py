"""The loop of the descent: schedule, measurements, stop rule and history, the same on one machine and on a cluster.

Subclasses move the points and measure the map: `descent.Descent` has all positions in this process,
`distributed.sharded_descent.ShardedDescent` has them on the workers of a cluster.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from pixelsne.arrays import AnyArray, Positions, ScreenPositions
from pixelsne.schedule import ScheduleStep, make_schedule, skip_to_cooldown
from pixelsne.screen import Screen
from pixelsne.settings import Settings

Stage = Literal["reduce", "neighbors", "affinities"]  # before the descent
Phase = Literal["early", "late"]  # of the descent
Drawing = Literal["film"]  # after it
StoppedBy = Literal["max_iter", "tol", "callback", "interrupt"]

# How often the KL divergence and the pixels moved are measured.
ITERATIONS_BETWEEN_MEASUREMENTS = 50

# The median move is taken over this many points at most, evenly spread over all.
POINTS_MEASURED = 50_000


@dataclass(frozen=True)
class Snapshot:
    """The progress of a run."""

    iteration: int
    phase: Stage | Phase | Drawing  #: a phase of the descent, the stage before it, or the film after it
    fraction: float  #: of the stage, or of the whole descent, 0 to 1
    screen: Screen | None = None  #: None before the descent
    kl: float | None = None
    moved: float | None = None  #: median pixels since the last measurement
    _map: Callable[[], Positions] | None = field(default=None, repr=False)

    @property
    def positions(self) -> Positions | None:
        """A copy of the current map, (n, 2), in embedding units.

        None before the descent, and always on a cluster, where no machine has all positions.
        """
        return None if self._map is None else self._map()


@dataclass
class History:
    """All measurements: (iteration, KL, pixels moved).

    They are in one list, so that an interrupt cannot leave columns of different lengths.
    """

    measurements: list[tuple[int, float, float]] = field(default_factory=list)

    def columns(self) -> dict[str, AnyArray]:
        iterations, divergences, moves = zip(*self.measurements, strict=True) if self.measurements else ((), (), ())
        return {
            "iteration": np.array(iterations, dtype=np.int64),
            "kl": np.array(divergences, dtype=np.float64),
            "moved": np.array(moves, dtype=np.float64),
        }


def median_move(before: ScreenPositions, after: ScreenPositions) -> float:
    """Return the median distance in pixels, without the shift and the scaling that all points share.

    An outlier that moves the border rescales the whole screen. Shift and scaling come from quartiles, which outliers
    do not affect.
    """
    old = np.quantile(before, [0.25, 0.5, 0.75], axis=0)
    new = np.quantile(after, [0.25, 0.5, 0.75], axis=0)
    spread = old[2] - old[0]
    scale = np.where(spread > 0, (new[2] - new[0]) / np.where(spread > 0, spread, 1.0), 1.0)
    moves = after - (new[1] + (before - old[1]) * scale)
    return float(np.median(np.hypot(moves[:, 0], moves[:, 1])))


@dataclass(frozen=True)
class LoopState:
    """The state of a loop without its positions, between two iterations. A checkpoint stores it."""

    iteration: int
    next_step: int  # index in the schedule; above `iteration` once `tol` has skipped steps
    stopped_by: StoppedBy
    measurements: list[tuple[int, float, float]]  # as in History
    last_sample: ScreenPositions | Positions  # as _measure returned it at the last measurement


class DescentLoop(ABC):
    """An iterator that moves all points by one step of the schedule. Its state is consistent between iterations."""

    def __init__(self, settings: Settings, n: int) -> None:
        self.settings = settings
        self.schedule = make_schedule(settings, n)
        self.iteration = 0
        self.next_step = 0  # as in LoopState
        self.stopped_by: StoppedBy = "max_iter"
        self.history = History()
        self.last_sample: ScreenPositions | Positions | None = None  # as in LoopState

    @property
    @abstractmethod
    def screen(self) -> Screen | None:
        """The screen of the latest positions, or of the last measurement."""

    @abstractmethod
    def _move(self, step: ScheduleStep) -> None:
        """Move all points by one step."""

    @abstractmethod
    def _measure(self) -> tuple[float, ScreenPositions | Positions]:
        """Return the KL divergence, and sampled points: in pixels, or in embedding units if rows are fixed."""

    def state(self) -> LoopState:
        """Return the state of the loop, without copying it."""
        if self.last_sample is None:
            raise RuntimeError("there is no state to store: the descent has not measured its initial positions")
        return LoopState(self.iteration, self.next_step, self.stopped_by, self.history.measurements, self.last_sample)

    def restore(self, state: LoopState) -> None:
        """Set the state of the loop."""
        self.iteration, self.next_step = state.iteration, state.next_step
        self.stopped_by, self.last_sample = state.stopped_by, state.last_sample
        self.history = History(list(state.measurements))

    def _median_move(self, before: ScreenPositions, after: ScreenPositions) -> float:
        """Return the median distance in pixels that sampled points have moved."""
        return median_move(before, after)

    def _current_map(self) -> Callable[[], Positions] | None:
        """Return a function that copies the map, for a Snapshot; None if no machine has all positions."""
        return None

    def __iter__(self) -> Iterator[Snapshot]:
        while self.next_step < len(self.schedule):
            step = self.schedule[self.next_step]
            self._move(step)
            self.next_step += 1
            self.iteration += 1
            kl, moved = self._record() if self.iteration % ITERATIONS_BETWEEN_MEASUREMENTS == 0 else (None, None)
            skipped = skip_to_cooldown(self.schedule, self.next_step, moved, self.settings.tol)
            if skipped is not None:
                self.next_step, self.stopped_by = skipped, "tol"
            fraction = self.next_step / len(self.schedule)
            yield Snapshot(self.iteration, step.phase, fraction, self.screen, kl, moved, self._current_map())

    def _record(self) -> tuple[float, float]:
        """Measure, append to the history, and return KL and the pixels moved."""
        kl, placed = self._measure()
        moved = 0.0 if self.last_sample is None else self._median_move(self.last_sample, placed)
        self.last_sample = placed
        self.history.measurements.append((self.iteration, kl, moved))
        return kl, moved
