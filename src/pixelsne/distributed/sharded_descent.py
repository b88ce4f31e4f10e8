"""The descent on a cluster: the loop of `descent_loop`, with positions on the workers."""

from collections import deque
from typing import Any

import numpy as np

from pixelsne.arrays import ScreenPositions
from pixelsne.descent_loop import POINTS_MEASURED, DescentLoop
from pixelsne.distributed.descent import ShardTasks
from pixelsne.schedule import ScheduleStep
from pixelsne.screen import Screen
from pixelsne.settings import Settings

# This many iterations are submitted before the first of them is done, so that workers never wait for the client.
ITERATIONS_AHEAD = 5


class ShardedDescent(DescentLoop):
    """A descent whose positions are on the workers. `kl` and `screen` are those of the last measurement."""

    def __init__(self, tasks: ShardTasks, settings: Settings, n: int) -> None:
        super().__init__(settings, n)
        self.tasks, self._n = tasks, n
        self.kl = float("nan")
        self._screen: Screen | None = None
        self._is_final = False  # whether `kl` and `screen` are as exact as possible, and those of the current positions
        self._submitted: deque[list[Any]] = deque()

    @property
    def screen(self) -> Screen | None:
        return self._screen

    def _move(self, step: ScheduleStep) -> None:
        self._is_final = False  # first, since an interrupt may leave a step submitted and not counted
        self.tasks.step(step)
        self._submitted.append(self.tasks.summaries)
        if len(self._submitted) > ITERATIONS_AHEAD:
            self.tasks.runner.wait(self._submitted.popleft())

    def _measure(self, *, exactly: bool = False) -> tuple[float, ScreenPositions]:
        every = -(-self._n // POINTS_MEASURED)
        whole, parts = self.tasks.measure(every, exactly=exactly)
        mass = sum(part.mass for part in parts)
        self.kl = sum(part.logarithms for part in parts) + mass * float(np.log(whole.normalizer))
        self._screen = Screen.around(whole.bounds, self.settings.resolution, self.settings.aspect)
        self._is_final = exactly or not self.tasks.settings.gathers_positions  # large maps have no exact normalizer
        return self.kl, self._screen.to_pixels(np.concatenate([part.sampled for part in parts]))

    def take_first_sample(self) -> None:
        """Take the first sample, against which moves are measured."""
        self.last_sample = self._measure()[1]

    def final_screen(self) -> Screen:
        """Measure the current positions, with KL as exact as on one machine, and return their screen."""
        if self._screen is None or not self._is_final:
            self._measure(exactly=True)
        assert self._screen is not None  # noqa: S101 - just measured
        return self._screen
