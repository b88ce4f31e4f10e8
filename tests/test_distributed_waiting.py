"""A cluster without workers: warnings, errors, and continuing with new workers."""

import warnings

import dask
import dask.array as da
import numpy as np
import pytest
from distributed import Client, LocalCluster

from pixelsne import PixelSNE
from pixelsne.distributed import embed, task_runner
from pixelsne.distributed.task_runner import TaskRunner

pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::DeprecationWarning")

SETTINGS = {"random_state": 0, "perplexity": 10, "max_iter": 30}


class Cluster:
    """A client's cluster and a clock that advances by a second with every query."""

    def __init__(self, workers):
        self.workers, self.seconds = workers, 0.0

    def nthreads(self):
        return dict.fromkeys(self.workers, 1)

    def monotonic(self):
        self.seconds += 1.0
        return self.seconds


@pytest.fixture
def cluster(monkeypatch):
    fake = Cluster([])
    monkeypatch.setattr(task_runner.time, "monotonic", fake.monotonic)
    return fake


def check_often(watch, times):
    for _ in range(times):
        watch.check()


def test_a_short_time_without_workers_gives_no_warning(cluster):
    watch = task_runner.WorkerWatch(cluster)
    check_often(watch, 4)
    cluster.workers = ["a"]
    check_often(watch, 1)
    cluster.workers = []
    check_often(watch, 4)


def test_one_warning_after_some_seconds_without_workers(cluster):
    watch = task_runner.WorkerWatch(cluster)
    with pytest.warns(RuntimeWarning, match=r"no workers left; waiting up to 300 s for new ones") as messages:
        check_often(watch, 100)
    assert len(messages) == 1
    cluster.workers = ["a"]
    watch.check()
    cluster.workers = []
    with pytest.warns(RuntimeWarning, match="no workers left"):  # again
        check_often(watch, 10)


@pytest.mark.filterwarnings("ignore:the cluster has no workers left")
@pytest.mark.parametrize(("timeout", "seconds"), [("20s", 20), (60, 60), ("2 minutes", 120)])
def test_an_error_after_the_configured_timeout(cluster, timeout, seconds):
    watch = task_runner.WorkerWatch(cluster)
    with dask.config.set({"pixelsne.no-workers-timeout": timeout}):
        check_often(watch, seconds)
        with pytest.raises(RuntimeError, match=rf"no workers for {seconds} s; start some .*no-workers-timeout"):
            check_often(watch, 2)


def test_no_timeout_waits_forever(cluster):
    watch = task_runner.WorkerWatch(cluster)
    with (
        dask.config.set({"pixelsne.no-workers-timeout": None}),
        pytest.warns(RuntimeWarning, match="waiting until there are some"),
    ):
        check_often(watch, 10_000)


def test_assigning_shards_without_workers_is_no_error():
    client = Cluster(["a", "b"])
    runner = TaskRunner(client, 2)
    client.workers = []
    runner.assign_workers()  # no error: waiting for results reports it
    client.workers = ["c"]
    runner.assign_workers()


@pytest.fixture(scope="module")
def points():
    return da.from_array(np.random.default_rng(0).normal(size=(300, 5)).astype(np.float32), chunks=(100, -1))


@pytest.fixture
def client(monkeypatch):
    monkeypatch.setattr(task_runner, "SECONDS_BETWEEN_CHECKS", 0.02)
    monkeypatch.setattr(task_runner, "SECONDS_UNTIL_WARNING", 0.1)
    options = {"n_workers": 1, "threads_per_worker": 1, "processes": False, "dashboard_address": None}
    with LocalCluster(**options) as local_cluster, Client(local_cluster) as connected:
        yield connected


def without_workers_at(iteration, client):
    """Return a callback that removes all workers once."""
    removed = []

    def callback(snapshot):
        if snapshot.iteration == iteration and not removed:
            removed.append(snapshot.phase)
            client.cluster.scale(0)

    return callback


@pytest.mark.filterwarnings("ignore:the cluster has no workers left")
@pytest.mark.parametrize("iteration", [0, 10])
def test_a_run_without_workers_ends_with_an_error(client, points, iteration):
    with dask.config.set({"pixelsne.no-workers-timeout": 0.5}), pytest.raises(RuntimeError, match="has had no workers"):
        embed(points, client, PixelSNE(**SETTINGS), callback=without_workers_at(iteration, client))


def test_a_run_continues_with_a_new_worker_after_the_warning(client, points):
    expected = embed(points, client, PixelSNE(**SETTINGS)).compute()
    messages = []

    def add_worker(message, *_more):
        messages.append(str(message))
        client.cluster.scale(1)

    with warnings.catch_warnings():
        warnings.filterwarnings("always", message="the cluster has no workers")
        warnings.showwarning = add_worker
        result = embed(points, client, PixelSNE(**SETTINGS), callback=without_workers_at(10, client))
    assert len(messages) == 1
    assert np.array_equal(result.compute(), expected)
