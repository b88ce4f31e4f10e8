"""The stages of a distributed run without a cluster: tasks are called at once."""

import numpy as np

from pixelsne.distributed import affinities, descent, halo, shards
from pixelsne.distributed.initial_positions import find_axes
from pixelsne.estimator import PixelSNE
from pixelsne.settings import check_settings

PLAN = descent.Plan(4000, 2048, 5.0)


class Here:
    """A crew whose tasks are done when they are submitted."""

    def __init__(self, count):
        self.shards = count

    def task(self, _name, function, *arguments, shard=None):  # noqa: ARG002
        return function(*arguments)

    def each(self, _name, function, *lists):
        return [function(*arguments) for arguments in zip(*lists, strict=True)]

    def join(self, _name, function, parts):
        return function(list(parts))


def settings_of(**changes):
    return check_settings(PixelSNE(**changes).get_params(deep=False), 0)


def settle(values, count):
    crew, parts = Here(count), np.array_split(values, 3)
    first = [0, len(parts[0]), len(parts[0]) + len(parts[1])]
    samples = shards.draw_samples(crew, parts, len(values), 0)
    return shards.partition(crew, parts, samples, first, 0)


def prepare(values, count, k=30):
    crew, settings = Here(count), settings_of(perplexity=10)
    residents = settle(values, count)
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


def begin_descent(values, count):
    crew, searched, shares = prepare(values, count)
    stands = [descent.begin(one) for one in searched]
    return descent.Shards(crew, shares, stands, PLAN)
