"""A run on a thread of its own, watched by pages: paused, resumed, stopped, never slowed down.

The run makes a frame only when somebody has read the last one. Nobody watching, or somebody who has fallen asleep,
costs nothing; whoever is slow sees fewer frames, the latest each time.
"""

import atexit
import threading
import time
from collections.abc import Callable, Generator
from contextlib import closing
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np

from pixelsne.descent_loop import Snapshot
from pixelsne.viewer.layout import STEPS, frame_of

State = Literal["running", "paused", "finished", "stopped", "failed"]
Finish = Callable[[], str]  # takes care of the map; what ended the run

SECONDS_BETWEEN_FRAMES = 1 / 15
POINTS_FOLLOWED = 2_000  # for the curve of pixels moved
LONGEST_CURVE = 400


@dataclass(frozen=True)
class Status:
    """What a page says about the run."""

    state: State = "running"
    phase: str = "reduce"
    fraction: float = 0.0  # of the stage
    iteration: int = 0
    max_iter: int = 0
    kl: float | None = None
    seconds: float = 0.0
    seconds_left: float | None = None
    stopped_by: str | None = None
    error: str | None = None
    moves: tuple[tuple[int, float], ...] = ()  # iteration, median pixels a step


@dataclass(frozen=True)
class Frame:
    number: int
    iteration: int
    content: bytes = field(repr=False)


def pixels_a_step(before: Frame, after: Frame, resolution: tuple[int, int]) -> float | None:
    """How far an iteration takes the median point, by some of them; None if there is nothing to compare."""
    steps = after.iteration - before.iteration
    if steps <= 0 or not before.content:
        return None
    places = [np.frombuffer(one.content, dtype="<u2").reshape(-1, 2) for one in (before, after)]
    sampled = slice(None, None, max(1, len(places[0]) // POINTS_FOLLOWED))
    moved = (places[1][sampled].astype(np.float32) - places[0][sampled]) * (np.array(resolution) / STEPS)
    return float(np.median(np.hypot(*moved.T))) / steps


class LiveRun:
    def __init__(
        self,
        snapshots: Generator[Snapshot, None, None],
        max_iter: int,
        finish: Finish,
        failed: Callable[[str], None] | None = None,
    ) -> None:
        self._failed = failed
        self._snapshots = snapshots
        self._finish = finish
        self._status = Status(max_iter=max_iter)
        self._last: Snapshot | None = None
        self._frame = Frame(0, 0, b"")
        self._wanted = True
        self._changed = threading.Condition()
        self._paused = self._stopping = self._leaving = False
        self._began = time.monotonic()
        self._ended: float | None = None
        self._descent_began: float | None = None
        self._waited = 0.0  # seconds paused during the descent
        self._last_frame = -1.0
        self._thread = threading.Thread(target=self._work, name="pixelsne-live", daemon=True)

    def start(self) -> None:
        atexit.register(self.leave)  # a thread that is in the core when the interpreter ends would abort the process
        self._thread.start()

    # What pages ask for, from any thread.

    def status(self) -> dict[str, Any]:
        with self._changed:
            status = vars(self._status).copy()
            until = self._ended or time.monotonic()
        return status | {"seconds": round(until - self._began)}

    def frame_after(self, number: int) -> Frame | None:
        """The latest frame, if that is a newer one; asks for the next if not."""
        with self._changed:
            self._wanted = True
            return self._frame if self._frame.number > number else None

    def places(self) -> Any:
        """(n, 2) float32, 0 to 1, of the latest frame; None if there is none yet."""
        with self._changed:
            steps = np.frombuffer(self._frame.content, dtype="<u2")
            return None if len(steps) == 0 else steps.reshape(-1, 2).astype(np.float32) / STEPS

    def has_map(self) -> bool:
        """Whether the run is over, and its map has been taken over."""
        with self._changed:
            return self._status.state in {"finished", "stopped"}

    def pause(self) -> None:
        self._set(paused=True)

    def resume(self) -> None:
        self._set(paused=False)

    def stop(self) -> None:
        """Keeps the map; before there is one, nothing."""
        self._set(stopping=True)

    def end(self) -> bool:
        """Stop the run now and wait for it; return whether it left a map, which it does once the descent has begun."""
        with self._changed:
            forming = self._last is not None and self._last.screen is not None
        self._set(stopping=True, leaving=not forming)
        if self._thread.ident is not None:
            self.join()
        return self.status()["state"] in {"finished", "stopped"}

    def leave(self) -> None:
        """Ends without a map, and waits for that."""
        self._set(leaving=True)
        if self._thread.ident is not None:
            self._thread.join()
        atexit.unregister(self.leave)

    def join(self) -> None:
        self._thread.join()

    def _set(self, *, paused: bool | None = None, stopping: bool = False, leaving: bool = False) -> None:
        with self._changed:
            self._paused = self._paused if paused is None else paused
            self._stopping |= stopping
            self._leaving |= leaving
            if self._status.state in {"running", "paused"}:
                self._status = replace(self._status, state="paused" if self._paused else "running")
            self._changed.notify_all()

    # The run's own thread.

    def _work(self) -> None:
        try:
            was_stopped = self._follow()
            if not self._leaving:
                self._end("stopped" if was_stopped else "finished", self._finish())
        except Exception as error:  # noqa: BLE001 - told on the page
            with self._changed:
                words = " ".join(str(error).split()) or type(error).__name__
                self._status = replace(self._status, state="failed", error=words)
                self._ended = time.monotonic()
            if self._failed is not None:
                self._failed(words)

    def _follow(self) -> bool:
        """Whether somebody at a page ended the run."""
        with closing(self._snapshots) as snapshots:
            for snapshot in snapshots:
                self._last = snapshot
                self._publish(snapshot)
                self._wait_while_paused()
                if self._leaving or (self._stopping and snapshot.screen is not None):
                    return True
        return False

    def _end(self, state: State, stopped_by: str) -> None:
        with self._changed:
            self._make_frame()
            self._ended = time.monotonic()
            self._status = replace(self._status, state=state, stopped_by=stopped_by, seconds_left=None, fraction=1.0)

    def _publish(self, snapshot: Snapshot) -> None:
        now = time.monotonic()
        in_descent = snapshot.screen is not None
        if in_descent and self._descent_began is None:
            self._descent_began = now
        with self._changed:
            self._status = replace(
                self._status,
                phase=snapshot.phase,
                fraction=snapshot.fraction,
                iteration=snapshot.iteration,
                kl=self._status.kl if snapshot.kl is None else snapshot.kl,
                seconds_left=self._seconds_left(snapshot, now),
            )
            if in_descent and self._wanted and now - self._last_frame >= SECONDS_BETWEEN_FRAMES:
                self._make_frame()
                self._last_frame, self._wanted = now, False

    def _make_frame(self) -> None:
        last = self._last
        positions = None if last is None else last.positions  # a copy
        if last is None or last.screen is None or positions is None:
            return
        made = Frame(self._frame.number + 1, last.iteration, frame_of(positions, last.screen))
        moved = pixels_a_step(self._frame, made, last.screen.resolution)
        moves = self._status.moves if moved is None else (*self._status.moves, (last.iteration, moved))[-LONGEST_CURVE:]
        self._status = replace(self._status, moves=moves)
        self._frame = made

    def _seconds_left(self, snapshot: Snapshot, now: float) -> float | None:
        if self._descent_began is None or snapshot.fraction in {0.0, 1.0}:
            return None
        spent = now - self._descent_began - self._waited
        return spent * (1 / snapshot.fraction - 1)

    def _wait_while_paused(self) -> None:
        began = time.monotonic()
        with self._changed:
            if self._paused:
                self._make_frame()  # what stands still is shown as it stands
            while self._paused and not self._stopping and not self._leaving:
                self._changed.wait()
        if self._descent_began is not None:
            self._waited += time.monotonic() - began
