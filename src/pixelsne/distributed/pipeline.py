"""The stages of a run on a cluster, from partitions to a map."""

import time
import warnings
from collections.abc import Generator, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np

from pixelsne.descent_loop import Snapshot, Stage, StoppedBy
from pixelsne.distributed import affinities, descent, halo, reduce, repulsion, result, shards
from pixelsne.distributed.checkpoint import RunState, SharedFolder
from pixelsne.distributed.initial_positions import find_axes
from pixelsne.distributed.memory import ClusterWorkload, check_workers
from pixelsne.distributed.result import DistributedMap
from pixelsne.distributed.sharded_descent import ShardedDescent
from pixelsne.distributed.task_runner import TaskRunner, as_dask_array
from pixelsne.files.source import ReadOptions
from pixelsne.initial_positions import DEFAULT_INIT_SCALE
from pixelsne.neighborhood import choose_neighborhood
from pixelsne.reduction import Reduction
from pixelsne.repulsion import MAX_NODES
from pixelsne.schedule import warn_of_no_late_phase
from pixelsne.settings import Settings

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
        self.workload: ClusterWorkload | None = None  # sizes for the check of the workers' memory
        warn_of_no_late_phase(settings)
        self.neighborhood = choose_neighborhood(settings, partitions.rows)
        if self.neighborhood.warning:
            warnings.warn(self.neighborhood.warning, UserWarning, stacklevel=5)
        self.timings: dict[str, float] = {}
        self.n_components: int | None = None  # dimensions after reduction, once they are known
        self.descent: ShardedDescent | None = None
        self._stopped_by: StoppedBy | None = None  # set by the caller
        gathers = partitions.rows <= repulsion.GATHER_UP_TO
        self._descent_settings = repulsion.DescentSettings(partitions.rows, MAX_NODES, settings.step_limit, gathers)

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
        saved = None if self.folder is None else self.folder.run_state()
        if saved is not None and self.folder is not None:
            graphs, states = self.folder.load_graphs(), self.folder.load_states(saved.iteration)
            self.timings.update(saved.timings)
            self.n_components = saved.n_components
            self.partitions.blocks.clear()
        else:
            graphs, states = yield from self._prepare()
        tasks = descent.ShardTasks(self.runner, graphs, states, self._descent_settings)
        del graphs, states
        self.descent = ShardedDescent(tasks, self.settings, self.partitions.rows)
        if saved is not None:
            self.descent.restore(saved)
        yield from self._timed("descent", self._descend(self.descent))

    def _prepare(self) -> Generator[Snapshot, None, tuple[list[Any], list[Any]]]:
        """Run the stages before the descent; return graphs and states of the shards, as futures."""
        kernels, joint = yield from self._affinities()
        states = self.runner.map_shards("init", descent.initial_state, kernels)
        del kernels
        exports, sources = halo.exchange_halo(self.runner, joint)
        graphs = self.runner.map_shards("halo", descent.ShardGraph, joint, exports, sources)
        if self.folder is not None:
            self.folder.save_graphs(graphs)
            del joint, exports, sources, graphs  # the checkpoint replaces them
            graphs = self.folder.load_graphs()
        return graphs, states

    def _save(self, loop: ShardedDescent) -> None:
        if self.folder is not None:
            state = RunState(**vars(loop.state()), timings=self.timings, n_components=self.n_components)
            self.folder.save(loop.tasks, state)

    def _affinities(self) -> Generator[Snapshot, None, tuple[list[Any], list[Any]]]:
        """Return the kernels of each shard and its rows of P, as futures."""
        runner, settings, partitions = self.runner, self.settings, self.partitions
        points = yield from self._timed("reduce", self._reduce())
        partitions.blocks.clear()  # so that the workers can drop them
        samples = shards.draw_samples(runner, points, partitions.rows, settings.seed)
        deviation = settings.init_scale or DEFAULT_INIT_SCALE  # None is refused before the run
        axes = find_axes(runner, points, partitions.rows, samples, str(settings.init), deviation)
        shard_points = yield from self._timed("partition", self._partition(points, samples))
        del points, samples
        kernels, joint = affinities.distribute_affinities(
            runner, shard_points, axes, self.neighborhood, partitions.rows, settings
        )
        del shard_points
        yield from self._timed("neighbors", self._wait("neighbors", kernels))
        yield from self._timed("affinities", self._wait("affinities", joint))
        return kernels, joint

    def _reduce(self) -> Generator[Snapshot, None, list[Any]]:
        """Return the points of each partition, as futures."""
        runner, partitions = self.runner, self.partitions
        yield Snapshot(0, "reduce", 0.0)
        shape = partitions.rows, partitions.columns
        rows = reduce.ShardedRows(runner, partitions.blocks, partitions.first_rows, shape)
        reduction = reduce.fit_reduction(rows, self.settings.n_pca, self.settings.seed, self.settings.metric)
        self._record_reduction(reduction)
        sent = runner.submit("reduce", reduce.send, reduction)
        points = runner.map("reduce", reduce.apply, partitions.blocks, shared=(sent,))
        yield from self._wait("reduce", points)
        return points

    def _partition(self, points: list[Any], samples: list[Any]) -> Generator[Snapshot, None, list[Any]]:
        """Return the points of each shard, as futures. Shards that would be too small are merged."""
        router = shards.PointRouter(self.runner, points, self.partitions.first_rows)
        cells = self.runner.submit("partition", shards.make_cells, samples, self.runner.shards, self.settings.seed)
        sent = router.route(cells)
        yield from self._wait("neighbors", sent)
        shard_points = router.collect(cells, sent, self.neighborhood.n_neighbors)
        yield from self._wait("neighbors", shard_points)
        return shard_points

    def _record_reduction(self, reduction: Reduction) -> None:
        """Check the memory again, now that the number of components is known, and warn of extreme values."""
        self.n_components = reduction.n_components
        if self.workload is not None:
            check_workers(
                self.runner.client, replace(self.workload, dimensions=reduction.n_components), self.runner.shards
            )
        if reduction.warning:
            warnings.warn(reduction.warning, UserWarning, stacklevel=4)

    def _wait(self, stage: Stage, futures: Sequence[Any]) -> Generator[Snapshot, None, None]:
        """Yield Snapshots until all futures are done; raise errors of workers."""
        yield Snapshot(0, stage, 0.0)
        for number, _ in enumerate(self.runner.as_completed(futures), start=1):
            yield Snapshot(0, stage, number / len(futures))

    def _timed(self, stage: str, work: Generator[Snapshot, None, Result]) -> Generator[Snapshot, None, Result]:
        began = time.perf_counter()
        try:
            return (yield from work)
        finally:
            self.timings[stage] = self.timings.get(stage, 0.0) + time.perf_counter() - began

    def _descend(self, loop: ShardedDescent) -> Generator[Snapshot, None, None]:
        if loop.last_sample is None:
            loop.take_first_sample()
            self._save(loop)
        for snapshot in loop:
            if snapshot.iteration % ITERATIONS_BETWEEN_CHECKPOINTS == 0:
                self.runner.assign_workers()
                self._save(loop)
            yield snapshot
        loop.final_screen()

    def _gather_map(self) -> tuple[list[Any], list[Any], ShardedDescent]:
        """Return positions and pixels of each partition, as futures, and the descent, measured at its end."""
        if self.descent is None:
            raise RuntimeError(
                "there is no map yet: the run has not reached the descent; iterate over its snapshots first"
            )
        screen, partitions = self.descent.final_screen(), self.partitions
        positions = result.gather_by_partition(
            self.runner, self.descent.tasks, partitions.first_rows, partitions.counts
        )
        placed = self.runner.map("result", result.to_pixels, positions, shared=(screen,))
        return positions, placed, self.descent

    def write(self, paths: list[str], options: ReadOptions, targets: list[str], metadata: dict[str, Any]) -> int:
        """Write the map of each input file into a file of its own, on the workers; return the number of rows.

        metadata: stored in each file, with the results of the run.
        """
        from pixelsne.distributed.files import write_part  # noqa: PLC0415 - imports this module

        _, parts, loop = self._gather_map()
        screen = loop.final_screen()
        results: dict[str, Any] = {"n_pca": self.n_components, "kl_divergence": loop.kl}
        results |= {"iterations": loop.iteration, "stopped_by": self.stopped_by, "parts": len(paths)}
        shared = (options, screen, metadata | results)
        written = self.runner.map("write", write_part, parts, paths, targets, range(len(paths)), shared=shared)
        try:
            return int(sum(self.runner.gather(written)))
        except BaseException:
            self.runner.cancel(written)
            raise

    def stop(self, by: StoppedBy) -> None:
        """Record what ended the run. Call it before `map` or `write`."""
        self._stopped_by = by

    def write_checkpoint(self) -> bool:
        """Write a checkpoint between two iterations. Return False without a folder or before the first iteration."""
        if self.folder is None or self.descent is None or self.descent.iteration == 0:
            return False
        self._save(self.descent)
        return True

    def map(self) -> DistributedMap:
        """Return the current map, whose points stay on the workers; RuntimeError before the descent."""
        positions, placed, loop = self._gather_map()
        counts = self.partitions.counts
        return DistributedMap(
            positions=as_dask_array(positions, counts, np.float32),
            placed=as_dask_array(placed, counts, np.float32),
            screen=loop.final_screen(),
            neighborhood=self.neighborhood,
            n_components=self.n_components,
            kl_divergence=loop.kl,
            iterations=loop.iteration,
            stopped_by=self.stopped_by,
            timings=dict(self.timings),
            history=loop.history,
        )
