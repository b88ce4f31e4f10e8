"""The stages of a run on a cluster, from partitions to a map."""

import time
import warnings
from collections.abc import Generator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from pixelsne.descent_loop import PhaseName, Snapshot, StoppedBy
from pixelsne.distributed import affinities, descent, halo, reduce, repulsion, result, shards
from pixelsne.distributed.initial_positions import find_axes
from pixelsne.distributed.memory import Load, check_workers
from pixelsne.distributed.result import DistributedMap
from pixelsne.distributed.sharded_descent import ShardedDescent
from pixelsne.distributed.task_runner import TaskRunner, as_dask_array
from pixelsne.files.source import ReadOptions
from pixelsne.initial_positions import START_DEVIATION
from pixelsne.pipeline import clamp_perplexity, neighbor_count
from pixelsne.reduction import Reduction
from pixelsne.repulsion import MOST_NODES
from pixelsne.schedule import warn_of_no_late_phase
from pixelsne.settings import Settings

if TYPE_CHECKING:
    from pixelsne.distributed.checkpoint import SharedFolder

Result = TypeVar("Result")

ITERATIONS_BETWEEN_CHECKPOINTS = 25


@dataclass(frozen=True)
class Partitions:
    """The input: futures of blocks of rows."""

    blocks: list[Any]
    counts: list[int]
    columns: int
    row_bytes: int
    names: tuple[str, ...] = ()  # column names, if files have them

    @property
    def rows(self) -> int:
        return sum(self.counts)

    @property
    def first_rows(self) -> list[int]:
        return [0, *np.cumsum(self.counts[:-1]).tolist()]


class DistributedRun:
    """A run on a cluster: iterate over `snapshots` to the end, or stop early, then call `map`.

    `start` and `start_files` return one. `timings` holds the seconds of each stage, `descent` the descent.
    """

    def __init__(self, partitions: Partitions, runner: TaskRunner, settings: Settings) -> None:
        self.partitions, self.settings, self.runner = partitions, settings, runner
        self.folder: SharedFolder | None = None  # checkpoints; None: there are none
        self.load: Load | None = None  # sizes for the check of the workers' memory
        warn_of_no_late_phase(settings)
        self.perplexity = clamp_perplexity(settings.perplexity, partitions.rows)
        self.neighbor_count = neighbor_count(settings, self.perplexity, partitions.rows)
        self.timings: dict[str, float] = {}
        self.components: int | None = None  # dimensions after reduction, once they are known
        self.descent: ShardedDescent | None = None
        self._stopped_by: StoppedBy | None = None  # set by the caller
        gathers = partitions.rows <= repulsion.GATHER_UP_TO
        self._plan = repulsion.Plan(partitions.rows, MOST_NODES, settings.step_limit, gathers)

    @property
    def iteration(self) -> int:
        return 0 if self.descent is None else self.descent.iteration

    @property
    def kl(self) -> float:
        """The KL divergence at the last measurement."""
        return float("nan") if self.descent is None else self.descent.kl

    @property
    def stopped_by(self) -> StoppedBy:
        return self._stopped_by or ("max_iter" if self.descent is None else self.descent.stopped_by)

    def snapshots(self) -> Generator[Snapshot, None, None]:
        """Run all stages, from a checkpoint if there is one; yield Snapshots as they proceed and after every iteration.

        Their `positions` is None, since no machine has all positions. Further iterations may be running already.
        """
        progress = None if self.folder is None else self.folder.progress()
        if progress is not None and self.folder is not None:
            graphs, states = self.folder.load_graphs(), self.folder.load_states(progress.iteration)
            self.timings.update(progress.timings)
            self.components = progress.components
            self.partitions.blocks.clear()
        else:
            graphs, states = yield from self._begin()
        tasks = descent.ShardTasks(self.runner, graphs, states, self._plan)
        del graphs, states
        self.descent = ShardedDescent(tasks, self.settings, self.partitions.rows)
        if progress is not None:
            self.descent.resume(progress)
        yield from self._timed("descent", self._descend(self.descent))

    def _begin(self) -> Generator[Snapshot, None, tuple[list[Any], list[Any]]]:
        """Run the stages before the descent; return graphs and states of the shards, as futures."""
        kernels, rows = yield from self._prepare()
        states = self.runner.each("start", descent.begin, kernels)
        del kernels
        exports, sources = halo.exchange_halo(self.runner, rows)
        graphs = self.runner.each("halo", descent.make_graph, rows, exports, sources)
        if self.folder is not None:
            self.folder.save_graphs(graphs)
            del rows, exports, sources, graphs  # the checkpoint replaces them
            graphs = self.folder.load_graphs()
        return graphs, states

    def _save(self, moving: ShardedDescent) -> None:
        if self.folder is not None:
            self.folder.save(moving.tasks, moving.progress(self.timings, self.components))

    def _prepare(self) -> Generator[Snapshot, None, tuple[list[Any], list[Any]]]:
        runner, settings, partitions = self.runner, self.settings, self.partitions
        points = yield from self._timed("reduce", self._reduce())
        partitions.blocks.clear()  # so that the workers can drop them
        samples = shards.draw_samples(runner, points, partitions.rows, settings.seed)
        deviation = settings.init_scale or START_DEVIATION  # None is refused before the run
        axes = find_axes(runner, points, partitions.rows, samples, str(settings.init), deviation)
        shard_points = yield from self._timed("partition", self._partition(points, samples))
        del points, samples
        settings = replace(settings, perplexity=self.perplexity)
        kernels, rows = affinities.distribute_affinities(
            runner, shard_points, axes, self.neighbor_count, partitions.rows, settings
        )
        del shard_points
        yield from self._timed("neighbors", self._wait("neighbors", kernels))
        yield from self._timed("affinities", self._wait("affinities", rows))
        return kernels, rows

    def _reduce(self) -> Generator[Snapshot, None, list[Any]]:
        """Return the points of each partition, as futures."""
        runner, partitions = self.runner, self.partitions
        yield Snapshot(0, "reduce", 0.0)
        shape = partitions.rows, partitions.columns
        rows = reduce.ShardedRows(runner, partitions.blocks, partitions.first_rows, shape)
        reduction = reduce.fit_reduction(rows, self.settings.n_pca, self.settings.seed, self.settings.metric)
        self._learn(reduction)
        sent = runner.task("reduce", reduce.send, reduction)
        points = [runner.task("reduce", reduce.apply, sent, block) for block in partitions.blocks]
        yield from self._wait("reduce", points)
        return points

    def _partition(self, points: list[Any], samples: list[Any]) -> Generator[Snapshot, None, list[Any]]:
        """Return the points of each shard, as futures. Shards that would be too small are merged."""
        router = shards.PointRouter(self.runner, points, self.partitions.first_rows)
        cells = self.runner.task("partition", shards.make_cells, samples, self.runner.shards, self.settings.seed)
        sent = router.route(cells)
        yield from self._wait("neighbors", sent)
        shard_points = router.collect(cells, sent, self.neighbor_count)
        yield from self._wait("neighbors", shard_points)
        return shard_points

    def _learn(self, reduction: Reduction) -> None:
        self.components = reduction.dimensions
        if self.load is not None:
            check_workers(self.runner.client, replace(self.load, width=reduction.dimensions), self.runner.shards)
        if reduction.warning:
            warnings.warn(reduction.warning, UserWarning, stacklevel=4)

    def _wait(self, phase: PhaseName, futures: Sequence[Any]) -> Generator[Snapshot, None, None]:
        """Yield Snapshots until all futures are done; raise errors of workers."""
        yield Snapshot(0, phase, 0.0)
        for number, _ in enumerate(self.runner.completed(futures), start=1):
            yield Snapshot(0, phase, number / len(futures))

    def _timed(self, stage: str, work: Generator[Snapshot, None, Result]) -> Generator[Snapshot, None, Result]:
        began = time.perf_counter()
        try:
            return (yield from work)
        finally:
            self.timings[stage] = self.timings.get(stage, 0.0) + time.perf_counter() - began

    def _descend(self, moving: ShardedDescent) -> Generator[Snapshot, None, None]:
        if moving.last_sample is None:
            moving.begin()
            self._save(moving)
        for snapshot in moving:
            if snapshot.iteration % ITERATIONS_BETWEEN_CHECKPOINTS == 0:
                self.runner.assign_workers()
                self._save(moving)
            yield snapshot
        moving.final_screen()

    def _on_screen(self) -> tuple[list[Any], list[Any], ShardedDescent]:
        """Return positions and pixels of each partition, as futures, and the descent, measured at its end."""
        if self.descent is None:
            raise RuntimeError("the run has not reached its descent yet: there is no map to take")
        screen, partitions = self.descent.final_screen(), self.partitions
        positions = result.gather_by_partition(
            self.runner, self.descent.tasks, partitions.first_rows, partitions.counts
        )
        placed = [self.runner.task("result", result.place, part, screen) for part in positions]
        return positions, placed, self.descent

    def write(self, paths: list[str], wanted: ReadOptions, targets: list[str], figures: dict[str, Any]) -> int:
        """Write the map of each input file into a file of its own, on the workers; return the number of rows.

        figures: metadata for each file, in addition to the results of the run.
        """
        from pixelsne.distributed.files import write_part  # noqa: PLC0415 - imports this module

        _, parts, ended = self._on_screen()
        screen = ended.final_screen()
        figures = figures | {"n_pca": self.components, "kl_divergence": ended.kl}
        figures |= {"iterations": ended.iteration, "stopped_by": self.stopped_by}
        figures["parts"] = len(paths)
        written = [
            self.runner.task("write", write_part, placed, path, wanted, target, screen, figures | {"part": number})
            for number, (placed, path, target) in enumerate(zip(parts, paths, targets, strict=True))
        ]
        try:
            return int(sum(self.runner.gather(written)))
        except BaseException:
            self.runner.cancel(written)
            raise

    def stop(self, by: StoppedBy) -> None:
        """Record what ended the run. Call it before `map` or `write`."""
        self._stopped_by = by
        if self.descent is not None:
            self.descent.interrupt()

    def keep(self) -> bool:
        """Write a checkpoint between two iterations. Return False without a folder or before the first iteration."""
        if self.folder is None or self.descent is None or self.descent.iteration == 0:
            return False
        self._save(self.descent)
        return True

    def map(self) -> DistributedMap:
        """Return the current map, whose points stay on the workers; RuntimeError before the descent."""
        positions, placed, ended = self._on_screen()
        counts = self.partitions.counts
        return DistributedMap(
            positions=as_dask_array(positions, counts, np.float32),
            placed=as_dask_array(placed, counts, np.float32),
            screen=ended.final_screen(),
            perplexity=self.perplexity,
            components=self.components,
            kl_divergence=ended.kl,
            iterations=ended.iteration,
            stopped_by=self.stopped_by,
            timings=dict(self.timings),
            history=ended.history,
        )
