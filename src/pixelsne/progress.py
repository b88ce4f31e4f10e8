"""Show progress on stderr: a bar in a terminal, lines in a file or a notebook."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Protocol

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from pixelsne.descent_loop import Snapshot

# What each stage, and each phase of the descent, does.
DESCRIPTIONS = {
    "reduce": "reducing",
    "neighbors": "neighbors",
    "affinities": "affinities",
    "early": "unfolding",
    "late": "settling",
}

SECONDS_BETWEEN_LINES = 5.0


class Listener(Protocol):
    def show(self, snapshot: Snapshot) -> None: ...


def format_measurements(snapshot: Snapshot) -> str:
    return "" if snapshot.kl is None or snapshot.moved is None else f"KL {snapshot.kl:.3f} · {snapshot.moved:.1f} px"


class Bar:
    """Show progress on one line that is rewritten."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._task = progress.add_task("starting", total=1.0, numbers="")
        self._stage = ""
        self._last_measurements = ""

    def show(self, snapshot: Snapshot) -> None:
        in_descent = snapshot.screen is not None
        stage = "descent" if in_descent else snapshot.phase
        if stage != self._stage:  # the clock of a full bar does not restart by itself
            self._stage = stage
            self._progress.reset(self._task)
        measured = format_measurements(snapshot)
        self._last_measurements = f" · {measured}" if measured else self._last_measurements
        numbers = f"iteration {snapshot.iteration}{self._last_measurements}" if in_descent else ""
        self._progress.update(
            self._task, completed=snapshot.fraction, description=DESCRIPTIONS[snapshot.phase], numbers=numbers
        )


class Lines:
    """Write one line per stage or phase, and one every few seconds."""

    def __init__(self) -> None:
        self._unprinted: Snapshot | None = None
        self._start = self._last_line = time.monotonic()
        self._descent_start: float | None = None
        self._phase = ""

    def show(self, snapshot: Snapshot) -> None:
        now = time.monotonic()
        if snapshot.screen is not None and self._descent_start is None:
            self._descent_start = now
        self._unprinted = snapshot
        if snapshot.phase != self._phase or now - self._last_line > SECONDS_BETWEEN_LINES:
            self._phase, self._last_line = snapshot.phase, now
            self._print(snapshot, now)

    def finish(self) -> None:
        """Print the last snapshot, if it has not been printed."""
        if self._unprinted is not None:
            self._print(self._unprinted, time.monotonic())

    def _print(self, snapshot: Snapshot, now: float) -> None:
        self._unprinted = None
        parts = [f"{now - self._start:7.1f} s  {DESCRIPTIONS[snapshot.phase]:<10} {snapshot.fraction:4.0%}"]
        if self._descent_start is not None:
            parts += [f"iteration {snapshot.iteration}", format_measurements(snapshot), self._time_left(snapshot, now)]
        print(" · ".join(filter(None, parts)), file=sys.stderr, flush=True)  # noqa: T201 - this class prints

    def _time_left(self, snapshot: Snapshot, now: float) -> str:
        if self._descent_start is None or snapshot.fraction in {0.0, 1.0}:
            return ""
        return f"{(now - self._descent_start) * (1 / snapshot.fraction - 1):.0f} s left"


@contextmanager
def progress() -> Iterator[Listener]:
    """Yield a listener that shows progress until the block ends."""
    console = Console(stderr=True)
    if not console.is_terminal or console.is_jupyter:
        lines = Lines()
        yield lines
        lines.finish()
        return
    columns = (
        TextColumn("{task.description:>10}"),
        BarColumn(),
        TextColumn("{task.fields[numbers]}"),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console) as bar:
        yield Bar(bar)


@contextmanager
def progress_of(description: str) -> Iterator[Callable[[float], None]]:
    """Yield a function that shows the finished fraction of a step after the fit; the bar vanishes at the end."""
    console = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task(description, total=1.0)
        yield lambda fraction: bar.update(task, completed=fraction)
