"""The bar on stderr, one listener among others."""

from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from pixelsne.descent import Snapshot

STAGES = {
    "reduce": "reducing",
    "neighbors": "neighbors",
    "affinities": "affinities",
    "early": "unfolding",
    "late": "settling",
}


class ProgressBar:
    """A context whose `show` takes Snapshots."""

    def __init__(self) -> None:
        self._progress = Progress(
            TextColumn("{task.description:>10}"),
            BarColumn(),
            TextColumn("{task.fields[numbers]}"),
            TimeElapsedColumn(),
            TextColumn("left"),
            TimeRemainingColumn(),
            console=Console(stderr=True),
        )
        self._task = self._progress.add_task("starting", total=1.0, numbers="")
        self._in_descent = False
        self._last_look = ""

    def __enter__(self) -> Self:
        self._progress.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._progress.stop()

    def show(self, snapshot: Snapshot) -> None:
        in_descent = snapshot.screen is not None
        if in_descent and not self._in_descent:
            self._in_descent = True
            self._progress.reset(self._task)
        if snapshot.kl is not None and snapshot.moved is not None:
            self._last_look = f" · KL {snapshot.kl:.3f} · {snapshot.moved:.1f} px"
        numbers = f"iteration {snapshot.iteration}{self._last_look}" if in_descent else ""
        self._progress.update(
            self._task, completed=snapshot.fraction, description=STAGES[snapshot.phase], numbers=numbers
        )
