"""Start runs on a cluster: check the settings and turn the input into partitions."""

import math
import os
from contextlib import closing
from typing import Any, cast

from sklearn.utils import check_random_state

from pixelsne.choices import CORE_METRICS
from pixelsne.components import MIN_COMPONENTS
from pixelsne.distributed.checkpoint import SharedFolder, identity_of, shards_of
from pixelsne.distributed.files import partitions_of_files
from pixelsne.distributed.memory import ClusterWorkload, check_workers
from pixelsne.distributed.pipeline import DistributedRun, Partitions
from pixelsne.distributed.reduce import count_rows, digest, join_digests, read_block
from pixelsne.distributed.result import DistributedMap
from pixelsne.distributed.shards import MIN_NEIGHBORHOODS
from pixelsne.distributed.task_runner import TaskRunner, current_client, workers_of
from pixelsne.estimator import PixelSNE
from pixelsne.files.source import ReadOptions
from pixelsne.repulsion import MAX_NODES
from pixelsne.settings import MIN_ROWS, Settings, settings_of, too_few


def embed(
    values: Any,
    client: Any = None,
    model: PixelSNE | None = None,
    *,
    checkpoint: str | os.PathLike[str] | None = None,
    callback: Any = None,
) -> DistributedMap:
    """Compute the map of a dask array (n, d) or of a dask data frame of numbers, on its cluster.

    client: a client of the cluster; None is the current one. model: the settings. checkpoint: a folder that the client
    and all workers share; a run that was interrupted continues from there when it is started again. callback: called
    with every Snapshot, whose `positions` is always None, since no machine has all positions. During the descent,
    returning True stops the run and keeps the map, as Ctrl-C does.
    """
    run = start(values, client or current_client(), model or PixelSNE(), checkpoint=checkpoint)
    try:
        with closing(run.snapshots()) as snapshots:
            for snapshot in snapshots:
                if callback is not None and callback(snapshot) and snapshot.iteration > 0:
                    run.stop("callback")
                    break
    except KeyboardInterrupt:
        if run.descent is None or run.descent.iteration == 0:
            raise
        run.stop("interrupt")
    return run.map()


def start(
    values: Any, client: Any, model: PixelSNE, *, checkpoint: str | os.PathLike[str] | None = None
) -> DistributedRun:
    """Return a run that has not started; iterate over its `snapshots`. Arguments are those of `embed`."""
    settings = distributed_settings(model)  # before anything is read
    runner = make_runner(client, checkpoint)
    return make_run(partitions_of(values, runner), runner, model, settings, checkpoint)


def start_files(
    paths: list[str],
    client: Any,
    model: PixelSNE,
    wanted: ReadOptions,
    *,
    checkpoint: str | os.PathLike[str] | None = None,
) -> DistributedRun:
    """Return a run on files, each of which is a partition.

    paths: paths on the workers, or URLs such as s3://... wanted: what to read from each file.
    """
    settings = distributed_settings(model)
    runner = make_runner(client, checkpoint)
    return make_run(partitions_of_files(runner, paths, wanted), runner, model, settings, checkpoint)


def make_runner(client: Any, checkpoint: str | os.PathLike[str] | None) -> TaskRunner:
    """Return a TaskRunner with one shard per worker, or with as many shards as the run to continue has."""
    saved = None if checkpoint is None else shards_of(checkpoint)
    return TaskRunner(client, saved or len(workers_of(client)))


def make_run(
    partitions: Partitions,
    runner: TaskRunner,
    model: PixelSNE,
    settings: Settings,
    checkpoint: str | os.PathLike[str] | None,
) -> DistributedRun:
    """Return a run that has not started, after checking the memory of the workers and the checkpoint."""
    if partitions.rows < MIN_ROWS:
        raise ValueError(f"X {too_few(partitions.rows)}")
    run = DistributedRun(partitions, runner, settings)
    runner.limit_shards(max(1, partitions.rows // (MIN_NEIGHBORHOODS * run.neighborhood.n_neighbors)))
    fewest = MIN_COMPONENTS if settings.n_pca == "auto" else settings.n_pca or partitions.columns
    width = min(partitions.columns, fewest)  # checked again once "auto" has chosen
    run.workload = ClusterWorkload(
        partitions.rows, partitions.row_bytes, width, run.neighborhood.n_neighbors, MAX_NODES
    )
    check_workers(runner.client, run.workload, runner.shards)
    if checkpoint is not None:
        digests = runner.map("read", digest, partitions.blocks)
        fingerprint = str(runner.gather([runner.tree_reduce("read", join_digests, digests)])[0])
        identity = identity_of(partitions.rows, partitions.columns, fingerprint, runner.shards, settings)
        if model.random_state is None:
            identity.pop("seed")  # without random_state, the seed differs at each start
        run.folder = SharedFolder(os.fspath(checkpoint), runner, identity)
    return run


def distributed_settings(model: PixelSNE) -> Settings:
    """Return checked settings; raise ValueError for those that are not available on a cluster."""
    if not isinstance(model.init, str):
        kind = "a fitted model" if isinstance(model.init, PixelSNE) else "an array"
        raise ValueError(f"init={kind} is not distributed; use 'pca' or 'random'")  # noqa: TRY004 - a wrong value
    seed = int(check_random_state(model.random_state).randint(2**31))
    settings = settings_of(model, seed, n_jobs=1)
    if settings.metric not in CORE_METRICS:
        raise ValueError(f"metric={settings.metric!r} is not distributed; use one of {', '.join(CORE_METRICS)}")
    if settings.scale != "none":
        raise ValueError(f"scale={settings.scale!r} is not distributed; scale the columns of X first")
    if settings.repulsion not in {"auto", "pixel-field"}:
        raise ValueError(f"repulsion={settings.repulsion!r} is not distributed; use 'auto' or 'pixel-field'")
    if settings.neighbors not in {"auto", "clusters"}:
        raise ValueError(f"neighbors={settings.neighbors!r} is not distributed; use 'auto' or 'clusters'")
    return settings


def partitions_of(values: Any, runner: TaskRunner) -> Partitions:
    """Return the partitions of a dask array or data frame, as blocks of whole rows. Count rows of unknown number."""
    array = values.to_dask_array() if hasattr(values, "to_dask_array") else values
    if array.ndim != 2:  # noqa: PLR2004
        raise ValueError(f"X must be (rows, columns), got shape {array.shape}")
    if math.isnan(array.shape[1]):
        array = array.compute_chunk_sizes()
    array = array.rechunk({1: -1})
    columns, counts = int(array.shape[1]), [None if math.isnan(rows) else int(rows) for rows in array.chunks[0]]
    parts = runner.compute(array.to_delayed().ravel())
    declared = [(rows, columns) for rows in counts]
    blocks = runner.map("read", read_block, parts, range(len(parts)), declared)
    if None in counts:
        counts = runner.gather(runner.map("read", count_rows, blocks))
    return Partitions(blocks, cast("list[int]", counts), columns, columns * array.dtype.itemsize)
