"""A cluster without workers: what users are told, when, and that a run continues with new workers."""

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
    """A client's cluster and a clock, which moves by a second whenever somebody asks."""

    def __init__(self, workers):
        self.workers, self.seconds = workers, 0.0

    def nthreads(self):
        return dict.fromkeys(self.workers, 1)

    def monotonic(self):
        self.seconds += 1.0
        return self.seconds


@pytest.fixture
def cluster(monkeypatch):
    made = Cluster([])
    monkeypatch.setattr(task_runner.time, "monotonic", made.monotonic)
    return made


def check_often(watch, times):
    for _ in range(times):
        watch.check()


def test_a_moment_without_workers_is_not_worth_a_word(cluster):
    watch = task_runner.WorkerWatch(cluster)
    check_often(watch, 4)
    cluster.workers = ["a"]
    check_often(watch, 1)
    cluster.workers = []
    check_often(watch, 4)


def test_a_warning_within_seconds_and_once(cluster):
    watch = task_runner.WorkerWatch(cluster)
    with pytest.warns(RuntimeWarning, match=r"no workers left; waiting up to 300 s for new ones") as told:
        check_often(watch, 100)
    assert len(told) == 1
    cluster.workers = ["a"]
    watch.check()
    cluster.workers = []
    with pytest.warns(RuntimeWarning, match="no workers left"):  # another time
        check_often(watch, 10)


@pytest.mark.filterwarnings("ignore:the cluster has no workers left")
@pytest.mark.parametrize(("timeout", "seconds"), [("20s", 20), (60, 60), ("2 minutes", 120)])
def test_an_error_after_the_time_that_dask_is_configured_with(cluster, timeout, seconds):
    watch = task_runner.WorkerWatch(cluster)
    with dask.config.set({"pixelsne.no-workers-timeout": timeout}):
        check_often(watch, seconds)
        with pytest.raises(RuntimeError, match=rf"no workers for {seconds} s; start some .*no-workers-timeout"):
            check_often(watch, 2)


def test_waiting_without_an_end(cluster):
    watch = task_runner.WorkerWatch(cluster)
    with (
        dask.config.set({"pixelsne.no-workers-timeout": None}),
        pytest.warns(RuntimeWarning, match="waiting until there are some"),
    ):
        check_often(watch, 10_000)


def test_homes_stay_while_all_workers_are_away():
    client = Cluster(["a", "b"])
    runner = TaskRunner(client, 2)
    client.workers = []
    runner.assign_workers()  # no error: whoever waits for results tells
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
    with LocalCluster(**options) as made, Client(made) as connected:
        yield connected


def without_workers_at(iteration, client):
    """A callback that takes all workers away, once."""
    gone = []

    def callback(snapshot):
        if snapshot.iteration == iteration and not gone:
            gone.append(snapshot.phase)
            client.cluster.scale(0)

    return callback


@pytest.mark.filterwarnings("ignore:the cluster has no workers left")
@pytest.mark.parametrize("iteration", [0, 10])
def test_a_run_whose_workers_are_gone_ends(client, points, iteration):
    with dask.config.set({"pixelsne.no-workers-timeout": 0.5}), pytest.raises(RuntimeError, match="has had no workers"):
        embed(points, client, PixelSNE(**SETTINGS), callback=without_workers_at(iteration, client))


def test_a_run_continues_with_workers_that_come_after_the_warning(client, points):
    expected = embed(points, client, PixelSNE(**SETTINGS)).compute()
    told = []

    def bring_one(message, *_more):
        told.append(str(message))
        client.cluster.scale(1)

    with warnings.catch_warnings():
        warnings.filterwarnings("always", message="the cluster has no workers")
        warnings.showwarning = bring_one
        made = embed(points, client, PixelSNE(**SETTINGS), callback=without_workers_at(10, client))
    assert len(told) == 1
    assert np.array_equal(made.compute(), expected)
