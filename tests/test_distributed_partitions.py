"""Partitions whose shapes are wrong or unknown in their dask array."""

import dask.array as da
import numpy as np
import pytest
from dask import delayed
from distributed import Client

from pixelsne import PixelSNE
from pixelsne.distributed import embed, start
from pixelsne.distributed.entry import partitions_of
from pixelsne.distributed.pipeline import ITERATIONS_BETWEEN_CHECKPOINTS
from pixelsne.distributed.task_runner import TaskRunner

pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::DeprecationWarning")


@pytest.fixture(scope="module")
def client():
    options = {"n_workers": 2, "threads_per_worker": 1, "processes": False, "dashboard_address": None}
    with Client(**options) as connected:
        yield connected


@pytest.fixture(scope="module")
def values():
    return np.random.default_rng(0).normal(size=(200, 6)).astype(np.float32)


def declared(values, *shapes):
    """Return a dask array of two partitions with the given declared shapes."""
    parts = [values[:120], values[120:]]
    blocks = [da.from_delayed(delayed(part), shape, np.float32) for part, shape in zip(parts, shapes, strict=True)]
    return da.concatenate(blocks)


@pytest.mark.parametrize("rows", [79, 81, 500])
def test_a_wrong_number_of_rows_is_refused(client, values, rows):
    with pytest.raises(ValueError, match=rf"partition 1 of X has shape \(80, 6\), but X.chunks declares \({rows}, 6\)"):
        embed(declared(values, (120, 6), (rows, 6)), client, PixelSNE(max_iter=20))


def test_a_wrong_number_of_columns_is_refused(client, values):
    wrong = declared(values, (120, 7), (80, 7))
    with pytest.raises(
        ValueError, match=r"partition . of X has shape \((120|80), 6\), but X.chunks declares \(\1, 7\)"
    ):
        embed(wrong, client, PixelSNE(max_iter=20))


def blocks_of(partitions, client):
    return [block.values for block in client.gather(partitions.blocks)]


@pytest.mark.parametrize("columns", [6, 2])
def test_unknown_numbers_of_rows_are_counted(client, values, columns):
    known = da.from_array(values, chunks=(50, columns))
    array = known[known[:, 0] > 0]
    partitions = partitions_of(array, TaskRunner(client, 2))
    expected = values[values[:, 0] > 0]
    assert partitions.rows == len(expected)
    assert partitions.columns == 6
    assert np.array_equal(np.concatenate(blocks_of(partitions, client)), expected)
    assert embed(array, client, PixelSNE(max_iter=20, perplexity=5)).compute().shape == (len(expected), 2)


def test_a_data_frame_is_read_once(client, values):
    frames, pd = pytest.importorskip("dask.dataframe"), pytest.importorskip("pandas")
    frame = frames.from_pandas(pd.DataFrame(values), chunksize=60, sort=False)
    partitions = partitions_of(frame, TaskRunner(client, 2))
    assert partitions.counts == [60, 60, 60, 20]
    assert np.array_equal(np.concatenate(blocks_of(partitions, client)), values)


def test_a_run_with_merged_shards_continues_from_its_checkpoint(client, tmp_path):
    equal, model = da.ones((800, 3), chunks=(400, -1)), PixelSNE(max_iter=30, perplexity=5, random_state=0)
    run = start(equal, client, model, checkpoint=tmp_path)
    assert run.runner.shards == 2
    iterations = [snapshot.iteration for snapshot in run.snapshots()]
    assert iterations[-1] == 30
    assert run.runner.shards == 1
    again = start(equal, client, model, checkpoint=tmp_path)
    expected = list(range(ITERATIONS_BETWEEN_CHECKPOINTS + 1, 31))
    assert [snapshot.iteration for snapshot in again.snapshots()] == expected
    assert np.array_equal(again.map().compute(), run.map().compute())
