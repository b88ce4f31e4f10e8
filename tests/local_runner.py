"""Runs the stages of a distributed run without a cluster: tasks are called immediately."""

import numpy as np

from pixelsne.distributed import affinities, descent, halo, reduce, result, shards
from pixelsne.distributed.entry import distributed_settings, make_run
from pixelsne.distributed.initial_positions import find_axes
from pixelsne.distributed.pipeline import Partitions
from pixelsne.estimator import PixelSNE
from pixelsne.neighborhood import choose_neighborhood
from pixelsne.settings import check_settings

SETTINGS = descent.DescentSettings(4000, 2048, 5.0)


class LocalRunner:
    """A runner whose tasks are complete when they are submitted."""

    def __init__(self, count):
        self.shards = count
        self.client = self

    def submit(self, _name, function, *arguments, shard=None):  # noqa: ARG002
        return function(*arguments)

    def map(self, _name, function, *lists, shared=()):
        return [function(*arguments, *shared) for arguments in zip(*lists, strict=True)]

    def map_shards(self, name, function, *lists, shared=()):
        return self.map(name, function, *lists, shared=shared)

    def transpose(self, _name, lists, count):
        return [[items[index] for items in lists] for index in range(count)]

    def gather(self, futures):
        return list(futures)

    def as_completed(self, futures):
        return iter(futures)

    def wait(self, futures):
        pass

    def assign_workers(self):
        pass

    def run(self, _function):
        """Run a function on all workers, of which there are none."""
        return {}

    def limit_shards(self, count):
        self.shards = min(self.shards, count)

    def tree_reduce(self, _name, function, parts):
        return function(list(parts))


def settings_of(**changes):
    return check_settings(PixelSNE(**changes).get_params(deep=False), 0)


def collect(values, count, k=30):
    runner, parts = LocalRunner(count), np.array_split(values, 3)
    first = [0, len(parts[0]), len(parts[0]) + len(parts[1])]
    cells = shards.make_cells(shards.draw_samples(runner, parts, len(values), 0), count, 0)
    router = shards.PointRouter(runner, parts, first)
    return router.collect(cells, router.route(cells), k)


def prepare(values, count, k=30):
    shard_points = collect(values, count, k)
    runner, settings = LocalRunner(len(shard_points)), settings_of(n_neighbors=k, perplexity=10)
    axes = find_axes(runner, np.array_split(values, 3), len(values), [values], "pca")
    neighborhood = choose_neighborhood(settings, len(values))
    kernels, joint = affinities.distribute_affinities(runner, shard_points, axes, neighborhood, len(values), settings)
    exported, sources = halo.exchange_halo(runner, joint)
    graphs = runner.map_shards("halo", descent.ShardGraph, joint, exported, sources)
    return runner, kernels, graphs


def as_matrix(graphs, n):
    """Return the shards' rows of P as one dense matrix."""
    whole = np.zeros((n, n), dtype=np.float64)
    for graph in graphs:
        columns = np.concatenate([graph.affinities.rows, graph.affinities.halo_rows])
        lengths = np.diff(graph.affinities.offsets)
        whole[np.repeat(graph.affinities.rows, lengths), columns[graph.affinities.columns]] = graph.affinities.values
    return whole


def run_locally(values, count, **changes):
    """Run a whole embedding; return the run and the map's positions."""
    model, parts = PixelSNE(**{"random_state": 0} | changes), np.array_split(values, 3)
    blocks = [reduce.Block(number, part) for number, part in enumerate(parts)]
    partitions = Partitions(blocks, [len(part) for part in parts], values.shape[1], 4 * values.shape[1])
    run = make_run(partitions, LocalRunner(count), model, distributed_settings(model), None)
    for _ in run.snapshots():
        pass
    gathered = result.gather_by_partition(run.runner, run.descent.tasks, partitions.first_rows, partitions.counts)
    return run, np.concatenate(gathered)


def begin_descent(values, count):
    runner, kernels, graphs = prepare(values, count)
    states = [descent.initial_state(one) for one in kernels]
    return descent.ShardTasks(runner, graphs, states, SETTINGS)
