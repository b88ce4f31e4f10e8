"""Where a run on a cluster begins: from what users have to partitions, checked."""

import math
import os
from contextlib import closing
from typing import Any, cast

from sklearn.utils import check_random_state

from pixelsne.choices import CORE_METRICS
from pixelsne.components import FEWEST_COMPONENTS
from pixelsne.distributed.checkpoint import SharedFolder, identity_of, shards_of
from pixelsne.distributed.crew import Crew
from pixelsne.distributed.files import partitions_of_files
from pixelsne.distributed.memory import Load, check_workers
from pixelsne.distributed.pipeline import DistributedRun, Partitions
from pixelsne.distributed.reduce import count_rows, digest, join_digests, read_block
from pixelsne.distributed.result import DistributedMap
from pixelsne.distributed.shards import FEWEST_NEIGHBORHOODS
from pixelsne.distributed.waiting import workers_of
from pixelsne.estimator import PixelSNE
from pixelsne.files.source import Wanted
from pixelsne.repulsion import MOST_NODES
from pixelsne.settings import FEWEST_ROWS, Settings, settings_of, too_few


def embed(
    values: Any,
    client: Any = None,
    model: PixelSNE | None = None,
    *,
    checkpoint: str | os.PathLike[str] | None = None,
    callback: Any = None,
) -> DistributedMap:
    """The map of a dask array (n, d), or of a dask data frame of numbers, computed where its partitions are.

    client: of the cluster; None is the current one. model: the settings. checkpoint: a folder that the client and all
    workers share; a run that was cut off goes on from there when it is started again. callback: called with every
    Snapshot, whose `positions` is always None here, since no machine has them all; True stops the run and keeps the
    map, once it has begun to form. So does Ctrl-C.
    """
    from distributed import get_client  # noqa: PLC0415 - an extra

    run = start(values, client or get_client(), model or PixelSNE(), checkpoint=checkpoint)
    try:
        with closing(run.snapshots()) as snapshots:
            for snapshot in snapshots:
                if callback is not None and callback(snapshot) and snapshot.iteration > 0:
                    run.stop("callback")
                    break
    except KeyboardInterrupt:
        if run.shards is None or run.iteration == 0:
            raise
        run.stop("interrupt")
    return run.map()


def start(
    values: Any, client: Any, model: PixelSNE, *, checkpoint: str | os.PathLike[str] | None = None
) -> DistributedRun:
    """A run that has not begun, to be followed by its `snapshots`. Arguments are those of `embed`."""
    settings = distributed_settings(model)  # before anything is read
    crew = new_crew(client, checkpoint)
    return begin(partitions_of(values, crew), crew, model, settings, checkpoint)


def start_files(
    paths: list[str],
    client: Any,
    model: PixelSNE,
    wanted: Wanted,
    *,
    checkpoint: str | os.PathLike[str] | None = None,
) -> DistributedRun:
    """The same for files, each of which is a partition.

    paths: as workers see them, or s3://... and the like. wanted: what of each file is embedded.
    """
    settings = distributed_settings(model)
    crew = new_crew(client, checkpoint)
    return begin(partitions_of_files(crew, paths, wanted), crew, model, settings, checkpoint)


def new_crew(client: Any, checkpoint: str | os.PathLike[str] | None) -> Crew:
    """A shard for each worker, or as many as a run had that goes on."""
    before = None if checkpoint is None else shards_of(checkpoint)
    return Crew(client, before or len(workers_of(client)))


def begin(
    partitions: Partitions,
    crew: Crew,
    model: PixelSNE,
    settings: Settings,
    checkpoint: str | os.PathLike[str] | None,
) -> DistributedRun:
    if partitions.rows < FEWEST_ROWS:
        raise ValueError(f"X {too_few(partitions.rows)}")
    run = DistributedRun(partitions, crew, settings)
    crew.take_fewer(max(1, partitions.rows // (FEWEST_NEIGHBORHOODS * run.neighbor_count)))
    fewest = FEWEST_COMPONENTS if settings.n_pca == "auto" else settings.n_pca or partitions.columns
    width = min(partitions.columns, fewest)  # what "auto" chooses is checked again when it is known
    run.load = Load(partitions.rows, partitions.row_bytes, width, run.neighbor_count, MOST_NODES)
    check_workers(crew.client, run.load, crew.shards)
    if checkpoint is not None:
        prints = crew.join("read", join_digests, [crew.task("read", digest, block) for block in partitions.blocks])
        fingerprint = str(crew.gather([prints])[0])
        identity = identity_of(partitions.rows, partitions.columns, fingerprint, crew.shards, settings)
        if model.random_state is None:
            identity.pop("seed")  # any will do, and what it decided is decided when a run goes on
        run.folder = SharedFolder(os.fspath(checkpoint), crew, identity)
    return run


def distributed_settings(model: PixelSNE) -> Settings:
    """Checked; what only one machine can do is refused."""
    if not isinstance(model.init, str):
        given = "a fitted model" if isinstance(model.init, PixelSNE) else "an array"
        raise ValueError(f"init={given} is not distributed; use 'pca' or 'random'")  # noqa: TRY004 - a wrong value
    seed = int(check_random_state(model.random_state).randint(2**31))
    settings = settings_of(model, seed, n_jobs=1)
    if settings.metric not in CORE_METRICS:
        raise ValueError(f"metric={settings.metric!r} is not distributed; use 'euclidean' or 'cosine'")
    if settings.scale != "none":
        raise ValueError(f"scale={settings.scale!r} is not distributed; scale the columns of X first")
    if settings.repulsion not in {"auto", "pixel-field"}:
        raise ValueError(f"repulsion={settings.repulsion!r} is not distributed; use 'auto' or 'pixel-field'")
    if settings.neighbors not in {"auto", "clusters"}:
        raise ValueError(f"neighbors={settings.neighbors!r} is not distributed; use 'auto' or 'clusters'")
    return settings


def partitions_of(values: Any, crew: Crew) -> Partitions:
    """Blocks of all columns, as futures. Row counts that X does not know are counted."""
    array = values.to_dask_array() if hasattr(values, "to_dask_array") else values
    if array.ndim != 2:  # noqa: PLR2004
        raise ValueError(f"X must be (rows, columns), got shape {array.shape}")
    if math.isnan(array.shape[1]):
        array = array.compute_chunk_sizes()
    array = array.rechunk({1: -1})
    columns, counts = int(array.shape[1]), [None if math.isnan(rows) else int(rows) for rows in array.chunks[0]]
    parts = crew.client.compute(array.to_delayed().ravel().tolist())
    blocks = [
        crew.task("read", read_block, part, number, (rows, columns))
        for number, (part, rows) in enumerate(zip(parts, counts, strict=True))
    ]
    if None in counts:
        counts = crew.gather([crew.task("read", count_rows, block) for block in blocks])
    return Partitions(blocks, cast("list[int]", counts), columns, columns * array.dtype.itemsize)
