"""The stages of a distributed run without a cluster: tasks are called at once."""

import numpy as np

from pixelsne.distributed import affinities, descent, halo, reduce, result, shards
from pixelsne.distributed.entry import begin, distributed_settings
from pixelsne.distributed.initial_positions import find_axes
from pixelsne.distributed.pipeline import Partitions
from pixelsne.estimator import PixelSNE
from pixelsne.settings import check_settings

PLAN = descent.Plan(4000, 2048, 5.0)


class Here:
    """A crew whose tasks are done when they are submitted."""

    def __init__(self, count):
        self.shards = count
        self.client = self

    def task(self, _name, function, *arguments, shard=None):  # noqa: ARG002
        return function(*arguments)

    def each(self, _name, function, *lists):
        return [function(*arguments) for arguments in zip(*lists, strict=True)]

    def gather(self, futures):
        return list(futures)

    def completed(self, futures):
        return iter(futures)

    def wait(self, futures):
        pass

    def find_homes(self):
        pass

    def run(self, _function):
        """What a client does on all workers: there are none."""
        return {}

    def take_fewer(self, count):
        self.shards = min(self.shards, count)

    def join(self, _name, function, parts):
        return function(list(parts))


def settings_of(**changes):
    return check_settings(PixelSNE(**changes).get_params(deep=False), 0)


def settle(values, count, k=30):
    crew, parts = Here(count), np.array_split(values, 3)
    first = [0, len(parts[0]), len(parts[0]) + len(parts[1])]
    cells = shards.make_cells(shards.draw_samples(crew, parts, len(values), 0), count, 0)
    sending = shards.Sending(crew, parts, first)
    return sending.settle(cells, sending.route(cells), k)


def prepare(values, count, k=30):
    residents = settle(values, count, k)
    crew, settings = Here(len(residents)), settings_of(perplexity=10)
    axes = find_axes(crew, np.array_split(values, 3), [values], "pca")
    searched, rows = affinities.distribute_affinities(crew, residents, axes, k, len(values), settings)
    given, sources = halo.link(crew, rows)
    shares = crew.each("halo", descent.make_share, rows, given, sources)
    return crew, searched, shares


def as_matrix(shares, n):
    """The shards' rows of P as one dense matrix."""
    whole = np.zeros((n, n), dtype=np.float64)
    for share in shares:
        columns = np.concatenate([share.rows.rows, share.rows.halo_rows])
        lengths = np.diff(share.rows.offsets)
        whole[np.repeat(share.rows.rows, lengths), columns[share.rows.columns]] = share.rows.values
    return whole


def run_here(values, count, **changes):
    """A whole run; returns it, and the map's positions."""
    model, parts = PixelSNE(**{"random_state": 0} | changes), np.array_split(values, 3)
    blocks = [reduce.Block(number, part) for number, part in enumerate(parts)]
    partitions = Partitions(blocks, [len(part) for part in parts], values.shape[1], 4 * values.shape[1])
    run = begin(partitions, Here(count), model, distributed_settings(model), None)
    for _ in run.snapshots():
        pass
    home = result.bring_home(run.crew, run.shards, partitions.first_rows, partitions.counts)
    return run, np.concatenate(home)


def begin_descent(values, count):
    crew, searched, shares = prepare(values, count)
    stands = [descent.begin(one) for one in searched]
    return descent.Shards(crew, shares, stands, PLAN)
