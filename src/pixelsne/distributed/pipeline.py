"""From a dask array or frame to a map, one line per stage."""

import time
import warnings
from collections import deque
from collections.abc import Generator, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar, cast

import numpy as np

from pixelsne.descent import (
    ITERATIONS_BETWEEN_LOOKS,
    POINTS_LOOKED_AT,
    History,
    PhaseName,
    Snapshot,
    StoppedBy,
    median_move,
)
from pixelsne.distributed import affinities, descent, halo, reduce, repulsion, result, shards
from pixelsne.distributed.checkpoint import Progress, SharedFolder
from pixelsne.distributed.crew import Crew
from pixelsne.distributed.initial_positions import find_axes
from pixelsne.distributed.memory import Load, check_workers
from pixelsne.distributed.result import DistributedMap
from pixelsne.files.source import Wanted
from pixelsne.pipeline import fitting_perplexity, neighbor_count
from pixelsne.reduce import Reduction
from pixelsne.repulsion import MOST_NODES
from pixelsne.schedule import plan as plan_paces
from pixelsne.schedule import skip_to_cooling, warn_of_no_late_phase
from pixelsne.screen import Screen
from pixelsne.settings import Settings

Result = TypeVar("Result")

# So many iterations are submitted before the first of them is over, so that workers never wait for the client.
ITERATIONS_AHEAD = 5

ITERATIONS_BETWEEN_CHECKPOINTS = 25


@dataclass(frozen=True)
class Partitions:
    """The input: futures of blocks of rows."""

    blocks: list[Any]
    counts: list[int]
    columns: int
    row_bytes: int
    names: tuple[str, ...] = ()  # of the columns, where files have them

    @property
    def rows(self) -> int:
        return sum(self.counts)

    @property
    def first_rows(self) -> list[int]:
        return [0, *np.cumsum(self.counts[:-1]).tolist()]


class DistributedRun:
    """One map in the making on a cluster: follow its `snapshots` to the end, or stop early, and take the `map`.

    `start` makes one. Between two snapshots, `iteration`, `kl` and `screen` (the last two as of the last look) tell
    how far it is, `timings` the seconds of each stage that is over, `history` what was seen at every look.
    """

    def __init__(self, partitions: Partitions, crew: Crew, settings: Settings) -> None:
        self.partitions, self.settings, self.crew = partitions, settings, crew
        self.folder: SharedFolder | None = None  # where its checkpoints go
        self.load: Load | None = None  # on the workers' memory
        warn_of_no_late_phase(settings)
        self.perplexity = fitting_perplexity(settings.perplexity, partitions.rows)
        self.neighbor_count = neighbor_count(settings, self.perplexity, partitions.rows)
        self.timings: dict[str, float] = {}
        self.history = History()
        self.components: int | None = None  # dimensions after reduction, once they are known
        self.iteration = 0
        self.stopped_by: StoppedBy = "max_iter"
        self.shards: descent.Shards | None = None
        self.kl = float("nan")
        self.screen: Screen | None = None
        self._last_look: Any = None
        self._next_pace = 0
        self._seen_at = -1  # the iteration that screen and kl are of
        gathers = partitions.rows <= repulsion.GATHER_UP_TO
        self._plan = repulsion.Plan(partitions.rows, MOST_NODES, settings.step_limit, gathers)

    def snapshots(self) -> Generator[Snapshot, None, None]:
        """Runs all stages, from a checkpoint if there is one: a Snapshot as each moves on, and after every iteration.

        Their `positions` is None: no machine has them all. After an iteration some more may be under way.
        """
        progress = None if self.folder is None else self.folder.progress()
        if progress is not None and self.folder is not None:
            shares, stands = self.folder.load_shares(), self.folder.load_stands(progress.iteration)
            self._take_over(progress)
        else:
            shares, stands = yield from self._begin()
        self.shards = descent.Shards(self.crew, shares, stands, self._plan)
        del shares, stands
        yield from self._timed("descent", self._descend(self.shards))

    def _begin(self) -> Generator[Snapshot, None, tuple[list[Any], list[Any]]]:
        """All stages before the descent: shares and stands of the shards, as futures."""
        searched, rows = yield from self._prepare()
        stands = self.crew.each("start", descent.begin, searched)
        del searched
        given, sources = halo.link(self.crew, rows)
        shares = self.crew.each("halo", descent.make_share, rows, given, sources)
        if self.folder is not None:
            self.folder.save_shares(shares)
            del rows, given, sources, shares  # before they are read again
            shares = self.folder.load_shares()
        return shares, stands

    def _take_over(self, progress: Progress) -> None:
        self.iteration, self._next_pace = progress.iteration, progress.next_pace
        self.stopped_by = "tol" if progress.stopped_by == "tol" else "max_iter"
        self.history.looks.extend(progress.looks)
        self.timings.update(progress.timings)
        self._last_look, self.components = progress.last_look, progress.components
        self.partitions.blocks.clear()

    def _save(self, moving: descent.Shards) -> None:
        if self.folder is not None:
            seen = self.iteration, self._next_pace, self.stopped_by, self.history.looks, self.timings, self._last_look
            self.folder.save(moving, Progress(*seen, self.components))

    def _prepare(self) -> Generator[Snapshot, None, tuple[list[Any], list[Any]]]:
        crew, settings, partitions = self.crew, self.settings, self.partitions
        whole = reduce.Rows(partitions.blocks, partitions.first_rows, (partitions.rows, partitions.columns))
        reduction = reduce.fit_reduction(crew, whole, settings.n_pca, cosine=settings.metric == "cosine")
        points = [crew.task("reduce", reduce.apply, reduction, block) for block in partitions.blocks]
        yield from self._timed("reduce", self._wait("reduce", points))
        self._learn(crew.gather([reduction])[0])
        partitions.blocks.clear()  # the workers need them no more
        samples = shards.draw_samples(crew, points, partitions.rows, settings.seed)
        axes = find_axes(crew, points, samples, str(settings.init))
        residents = yield from self._timed("partition", self._partition(points, samples))
        del points, samples, reduction
        settings = replace(settings, perplexity=self.perplexity)
        searched, rows = affinities.distribute_affinities(
            crew, residents, axes, self.neighbor_count, partitions.rows, settings
        )
        del residents
        yield from self._timed("neighbors", self._wait("neighbors", searched))
        yield from self._timed("affinities", self._wait("affinities", rows))
        return searched, rows

    def _partition(self, points: list[Any], samples: list[Any]) -> Generator[Snapshot, None, list[Any]]:
        """The residents of each shard, futures. Where data make shards too small, there are fewer shards."""
        sending = shards.Sending(self.crew, points, self.partitions.first_rows)
        cells = self.crew.task("partition", shards.make_cells, samples, self.crew.shards, self.settings.seed)
        sent = sending.route(cells)
        yield from self._wait("neighbors", sent)
        residents = sending.settle(cells, sent, self.neighbor_count)
        yield from self._wait("neighbors", residents)
        return residents

    def _learn(self, reduction: Reduction) -> None:
        self.components = reduction.dimensions
        if self.load is not None:
            check_workers(self.crew.client, replace(self.load, width=reduction.dimensions), self.crew.shards)
        if reduction.warning:
            warnings.warn(reduction.warning, UserWarning, stacklevel=4)

    def _wait(self, phase: PhaseName, futures: Sequence[Any]) -> Generator[Snapshot, None, None]:
        """Snapshots until all are there; what went wrong on a worker is raised here."""
        yield Snapshot(0, phase, 0.0)
        for number, _ in enumerate(self.crew.completed(futures), start=1):
            yield Snapshot(0, phase, number / len(futures))

    def _timed(self, stage: str, work: Generator[Snapshot, None, Result]) -> Generator[Snapshot, None, Result]:
        began = time.perf_counter()
        try:
            return (yield from work)
        finally:
            self.timings[stage] = self.timings.get(stage, 0.0) + time.perf_counter() - began

    def _descend(self, moving: descent.Shards) -> Generator[Snapshot, None, None]:
        paces = plan_paces(self.settings, self.partitions.rows)
        if self._last_look is None:
            self._last_look = self._see(moving)
            self._save(moving)
        under_way: deque[list[Any]] = deque()
        while self._next_pace < len(paces):
            pace = paces[self._next_pace]
            moving.step(pace)
            self._next_pace += 1
            self.iteration += 1
            under_way.append(moving.news)
            if len(under_way) > ITERATIONS_AHEAD:
                self.crew.wait(under_way.popleft())
            kl, moved = self._look(moving) if self.iteration % ITERATIONS_BETWEEN_LOOKS == 0 else (None, None)
            skipped = skip_to_cooling(paces, self._next_pace, moved, self.settings.tol)
            if skipped is not None:
                self._next_pace, self.stopped_by = skipped, "tol"
            if self.iteration % ITERATIONS_BETWEEN_CHECKPOINTS == 0:
                self.crew.find_homes()
                self._save(moving)
            yield Snapshot(self.iteration, pace.phase, self._next_pace / len(paces), self.screen, kl, moved)
        self._see(moving, exactly=True)

    def _see(self, moving: descent.Shards, *, exactly: bool = False) -> Any:
        """The sampled points on the screen; KL and screen of the whole map."""
        every = -(-self.partitions.rows // POINTS_LOOKED_AT)
        overview, looks = moving.look(every, exactly=exactly)
        mass = sum(one.mass for one in looks)
        self.kl = sum(one.logarithms for one in looks) + mass * float(np.log(overview.normalizer))
        self.screen = Screen.around(overview.bounds, self.settings.resolution, self.settings.aspect)
        placed = self.screen.place(np.concatenate([one.sampled for one in looks]))
        self._seen_at = self.iteration
        return placed

    def _look(self, moving: descent.Shards) -> tuple[float, float]:
        placed = self._see(moving)
        moved = median_move(self._last_look, placed)
        self._last_look = placed
        self.history.looks.append((self.iteration, self.kl, moved))
        return self.kl, moved

    def _placed(self) -> tuple[list[Any], list[Any], Screen]:
        """Positions and pixels of each partition, futures; and the screen these are on."""
        if self.shards is None:
            raise RuntimeError("the run has not reached its descent yet: there is no map to take")
        if self.screen is None or self._seen_at != self.iteration:
            self._see(self.shards, exactly=True)
        partitions, screen = self.partitions, cast("Screen", self.screen)
        home = result.bring_home(self.crew, self.shards, partitions.first_rows, partitions.counts)
        return home, [self.crew.task("result", result.place, one, screen) for one in home], screen

    def write(self, paths: list[str], wanted: Wanted, targets: list[str], figures: dict[str, Any]) -> int:
        """The map of each file of the input into a file of its own, on the workers; returns the rows written.

        figures: what each tells of the run, beside what the run itself knows.
        """
        from pixelsne.distributed.files import write_part  # noqa: PLC0415 - imports this module

        _, parts, screen = self._placed()
        figures = figures | {"n_pca": self.components, "kl_divergence": self.kl}
        figures |= {"iterations": self.iteration, "stopped_by": self.stopped_by}
        figures["parts"] = len(paths)
        written = [
            self.crew.task("write", write_part, placed, path, wanted, target, screen, figures | {"part": number})
            for number, (placed, path, target) in enumerate(zip(parts, paths, targets, strict=True))
        ]
        try:
            return int(sum(self.crew.gather(written)))
        except BaseException:
            self.crew.client.cancel(written)  # those that have not begun
            raise

    def stop(self, by: StoppedBy) -> None:
        """Whoever follows does so no more: the map is as it is now, even if that is between a step and its count."""
        self.stopped_by, self._seen_at = by, -1

    def keep(self) -> bool:
        """Writes down where the run is, between two iterations. Whether there was something to keep, and a folder."""
        if self.folder is None or self.shards is None or self.iteration == 0:
            return False
        self._save(self.shards)
        return True

    def map(self) -> DistributedMap:
        """As it is now, with its points on the workers; RuntimeError before the descent."""
        home, placed, screen = self._placed()
        partitions = self.partitions
        return DistributedMap(
            positions=as_dask_array(home, partitions.counts, np.float32),
            placed=as_dask_array(placed, partitions.counts, np.float32),
            screen=screen,
            perplexity=self.perplexity,
            components=self.components,
            kl_divergence=self.kl,
            iterations=self.iteration,
            stopped_by=self.stopped_by,
            timings=dict(self.timings),
            history=self.history,
        )


def as_dask_array(parts: Sequence[Any], counts: Sequence[int], dtype: Any) -> Any:
    import dask.array as da  # noqa: PLC0415 - an extra

    blocks = [da.from_delayed(part, shape=(count, 2), dtype=dtype) for part, count in zip(parts, counts, strict=True)]
    return da.concatenate(blocks, axis=0)
