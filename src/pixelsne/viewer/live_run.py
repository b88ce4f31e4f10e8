"""A fit in a background thread that pages can watch, pause and stop without slowing it down.

The run encodes a frame only after a client has read the previous one. Without clients, or with stalled ones, frames
cost nothing; a slow client gets fewer frames, the latest each time.
"""

import atexit
import threading
import time
import warnings
from collections.abc import Callable, Generator
from contextlib import closing
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np

from pixelsne.descent_loop import Snapshot
from pixelsne.regions import Regions
from pixelsne.viewer.layout import NO_REGIONS, encode_frame
from pixelsne.viewer.region_parts import QUANTIZATION_LEVELS

State = Literal["running", "paused", "finished", "stopped", "failed"]
FinishCallback = Callable[[], str]  # handles the finished map; returns the reason why the run ended

SECONDS_BETWEEN_FRAMES = 1 / 15
SAMPLED_POINTS = 2_000  # whose median distance moved is measured
MAX_MOVES = 400  # of the curve on the page


@dataclass(frozen=True)
class Status:
    """The progress of a run, as it is sent to pages."""

    state: State = "running"
    phase: str = "reduce"
    fraction: float = 0.0  # of the phase
    iteration: int = 0
    max_iter: int = 0
    kl: float | None = None
    seconds: float = 0.0
    seconds_left: float | None = None
    stopped_by: str | None = None
    error: str | None = None
    moves: tuple[tuple[int, float], ...] = ()  # (iteration, median pixels moved per iteration)
    has_regions: bool = False  # whether the run has ended and the regions of its map are known


@dataclass(frozen=True)
class Frame:
    """The positions of one iteration, encoded."""

    number: int
    iteration: int
    content: bytes = field(repr=False)


def pixels_per_iteration(before: Frame, after: Frame, resolution: tuple[int, int]) -> float | None:
    """Return the median distance that sampled points move in an iteration; None if there is no earlier frame."""
    iterations = after.iteration - before.iteration
    if iterations <= 0 or not before.content:
        return None
    positions = [np.frombuffer(frame.content, dtype="<u2").reshape(-1, 2) for frame in (before, after)]
    sample = slice(None, None, max(1, len(positions[0]) // SAMPLED_POINTS))
    moved = positions[1][sample].astype(np.float32) - positions[0][sample]
    moved = moved * (np.array(resolution) / QUANTIZATION_LEVELS)
    return float(np.median(np.hypot(*moved.T))) / iterations


class LiveRun:
    """A run in a thread.

    on_failure: called with a message if the run raises. find_regions: returns the regions of the finished map.
    """

    def __init__(
        self,
        snapshots: Generator[Snapshot, None, None],
        max_iter: int,
        finish: FinishCallback,
        on_failure: Callable[[str], None] | None = None,
        find_regions: Callable[[], Regions] = lambda: NO_REGIONS,
    ) -> None:
        self._on_failure = on_failure
        self._find_regions = find_regions
        self._regions: Regions | None = None
        self._snapshots = snapshots
        self._finish = finish
        self._status = Status(max_iter=max_iter)
        self._last: Snapshot | None = None
        self._frame = Frame(0, 0, b"")
        self._frame_requested = True
        self._changed = threading.Condition()
        self._paused = self._stopping = self._canceled = False
        self._began = time.monotonic()
        self._ended: float | None = None
        self._descent_began: float | None = None
        self._seconds_paused = 0.0  # during the descent
        self._last_frame_time = -1.0
        self._thread = threading.Thread(target=self._run, name="pixelsne-live", daemon=True)

    def start(self) -> None:
        # A thread that is inside the C++ core when the interpreter exits would abort the process.
        atexit.register(self.cancel)
        self._thread.start()

    # Called by the server, from any thread.

    def status(self) -> dict[str, Any]:
        """Return the fields of Status."""
        with self._changed:
            status = vars(self._status).copy()
            until = self._ended or time.monotonic()
        return status | {"seconds": round(until - self._began)}

    def frame_after(self, number: int) -> Frame | None:
        """Return the latest frame if it is newer than `number`, and request another one."""
        with self._changed:
            self._frame_requested = True
            return self._frame if self._frame.number > number else None

    def positions(self) -> Any:
        """Return the positions of the latest frame, (n, 2) float32 from 0 to 1; None if there is no frame yet."""
        with self._changed:
            quantized = np.frombuffer(self._frame.content, dtype="<u2")
            return None if len(quantized) == 0 else quantized.reshape(-1, 2).astype(np.float32) / QUANTIZATION_LEVELS

    def has_map(self) -> bool:
        """Return whether the run has ended and the model holds its map."""
        with self._changed:
            return self._status.state in {"finished", "stopped"}

    def regions(self) -> Regions | None:
        """Return the regions of the finished map; None while they are not known."""
        with self._changed:
            return self._regions

    def pause(self) -> None:
        self._set_flags(paused=True)

    def resume(self) -> None:
        self._set_flags(paused=False)

    def stop(self) -> None:
        """End the run with the map that it has; during preparation, wait for the first one."""
        self._set_flags(stopping=True)

    def stop_and_wait(self) -> bool:
        """Stop the run now and wait for its end. Return whether there is a map: yes once the descent has begun."""
        with self._changed:
            in_descent = self._last is not None and self._last.screen is not None
        self._set_flags(stopping=True, canceled=not in_descent)
        if self._thread.ident is not None:
            self.join()
        return self.has_map()

    def cancel(self) -> None:
        """End the run without a map and wait for its end."""
        self._set_flags(canceled=True)
        if self._thread.ident is not None:
            self._thread.join()
        atexit.unregister(self.cancel)

    def join(self) -> None:
        self._thread.join()

    def _set_flags(self, *, paused: bool | None = None, stopping: bool = False, canceled: bool = False) -> None:
        with self._changed:
            self._stopping |= stopping
            self._canceled |= canceled
            self._paused = (self._paused if paused is None else paused) and not self._stopping
            if self._status.state in {"running", "paused"}:
                self._status = replace(self._status, state="paused" if self._paused else "running")
            self._changed.notify_all()

    # The run's own thread.

    def _run(self) -> None:
        try:
            was_stopped = self._consume_snapshots()
            if not self._canceled:
                self._end("stopped" if was_stopped else "finished", self._finish())
                self._add_regions()
        except Exception as error:  # noqa: BLE001 - reported on the page
            message = " ".join(str(error).split()) or type(error).__name__
            with self._changed:
                self._status = replace(self._status, state="failed", error=message)
                self._ended = time.monotonic()
            if self._on_failure is not None:
                self._on_failure(message)

    def _consume_snapshots(self) -> bool:
        """Publish snapshots until the run ends. Return whether it was stopped or canceled."""
        with closing(self._snapshots) as snapshots:
            for snapshot in snapshots:
                self._last = snapshot
                self._publish(snapshot)
                self._wait_while_paused()
                if self._canceled or (self._stopping and snapshot.screen is not None):
                    return True
        return False

    def _end(self, state: State, stopped_by: str) -> None:
        with self._changed:
            self._make_frame()
            self._ended = time.monotonic()
            self._status = replace(self._status, state=state, stopped_by=stopped_by, seconds_left=None, fraction=1.0)

    def _add_regions(self) -> None:
        """Find the regions after the end, so that nobody waits for them. Without them the map is still complete."""
        try:
            regions = self._find_regions()
        except Exception as error:  # noqa: BLE001 - see above
            warnings.warn(f"the map has no regions: {error}", stacklevel=2)
            return
        with self._changed:
            self._regions = regions
            self._status = replace(self._status, has_regions=bool(regions.regions))

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
            if in_descent and self._frame_requested and now - self._last_frame_time >= SECONDS_BETWEEN_FRAMES:
                self._make_frame()
                self._last_frame_time, self._frame_requested = now, False

    def _make_frame(self) -> None:
        last = self._last
        positions = None if last is None else last.positions  # a copy
        if last is None or last.screen is None or positions is None:
            return
        frame = Frame(self._frame.number + 1, last.iteration, encode_frame(positions, last.screen))
        moved = pixels_per_iteration(self._frame, frame, last.screen.resolution)
        moves = self._status.moves if moved is None else (*self._status.moves, (last.iteration, moved))[-MAX_MOVES:]
        self._status = replace(self._status, moves=moves)
        self._frame = frame

    def _seconds_left(self, snapshot: Snapshot, now: float) -> float | None:
        if self._descent_began is None or snapshot.fraction in {0.0, 1.0}:
            return None
        spent = now - self._descent_began - self._seconds_paused
        return spent * (1 / snapshot.fraction - 1)

    def _wait_while_paused(self) -> None:
        began = time.monotonic()
        with self._changed:
            if self._paused:
                self._make_frame()  # pages show the iteration at which the run pauses
            while self._paused and not self._stopping and not self._canceled:
                self._changed.wait()
        if self._descent_began is not None:
            self._seconds_paused += time.monotonic() - began
