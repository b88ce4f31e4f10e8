"""Maps on a real cluster of processes, some of which are killed."""

import os
import signal

import dask
import dask.array as da
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner
from distributed import Client, LocalCluster

from pixelsne import PixelSNE, __version__, quality
from pixelsne.cli import main
from pixelsne.commands.cluster import targets_of
from pixelsne.distributed import embed, repulsion, start, start_files
from pixelsne.distributed.files import expand
from pixelsne.distributed.memory import ClusterWorkload, worker_bytes
from pixelsne.distributed.pipeline import ITERATIONS_BETWEEN_CHECKPOINTS
from pixelsne.distributed.task_runner import TaskRunner
from pixelsne.files.errors import FileError
from pixelsne.files.read_map import read_map
from pixelsne.files.source import ReadOptions

# Dask's processes close sockets and files late, and Dask warns about killed workers.
pytestmark = [
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
]

WORKERS = 2
SETTINGS = {"random_state": 0, "perplexity": 12, "max_iter": 60}


@pytest.fixture(scope="module", autouse=True)
def as_large_maps():
    """Treat these few points as a large map, on the lattice of the shards."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(repulsion, "GATHER_UP_TO", 0)
        yield


@pytest.fixture(scope="module")
def client():
    with dask.config.set({"distributed.scheduler.allowed-failures": 10}):
        cluster = LocalCluster(n_workers=WORKERS, threads_per_worker=1, processes=True, dashboard_address=None)
        with cluster, Client(cluster) as connected:
            yield connected


@pytest.fixture
def whole_client(client):
    """A client with all workers, after kills of other tests. A worker killed while it starts ends its nanny, too."""
    client.cluster.scale(WORKERS)
    client.wait_for_workers(WORKERS, timeout=60)
    return client


@pytest.fixture(scope="module")
def points():
    rng = np.random.default_rng(0)
    kinds = rng.integers(0, 10, 3000)
    return (rng.normal(0, 3, (10, 25))[kinds] + rng.normal(size=(3000, 25))).astype(np.float32), kinds


@pytest.fixture(scope="module")
def undisturbed(client, points):
    client.wait_for_workers(WORKERS, timeout=60)
    return embed(da.from_array(points[0], chunks=(700, -1)), client, PixelSNE(**SETTINGS)).compute()


def chunked(points):
    return da.from_array(points[0], chunks=(700, -1))


def kill_one(client):
    os.kill(next(iter(client.run(os.getpid).values())), signal.SIGKILL)


def test_a_distributed_map_is_as_good_as_a_local_one(whole_client, digits):
    values, labels = digits
    model = PixelSNE(random_state=0, perplexity=20, max_iter=150)
    local = model.fit(values)
    made = embed(da.from_array(values, chunks=(500, -1)), whole_client, model)
    assert made.n_components == local.n_pca_ == 50
    assert made.kl_divergence == pytest.approx(local.kl_divergence_, rel=0.02)
    embedding = made.compute()
    assert embedding.shape == (1797, 2)
    assert (embedding >= 0).all()
    assert (embedding < 1024).all()
    ours, theirs = (quality.neighborhood_precision(values, one, 10) for one in (embedding, local.embedding_))
    assert ours == pytest.approx(theirs, rel=0.03)
    assert quality.knn_accuracy(embedding, labels, 10) > 0.97


def test_two_runs_have_the_same_bits(whole_client, points, undisturbed):
    assert np.array_equal(embed(chunked(points), whole_client, PixelSNE(**SETTINGS)).compute(), undisturbed)


def test_partitions_keep_their_rows(whole_client, points, undisturbed):
    """Other partitions of the same rows give a map of the same quality."""
    made = embed(da.from_array(points[0], chunks=(450, 10)), whole_client, PixelSNE(**SETTINGS))
    assert made.placed.chunks[0] == (450,) * 6 + (300,)
    accuracy = [quality.knn_accuracy(one, points[1], 5) for one in (made.compute(), undisturbed)]
    assert accuracy[0] == pytest.approx(accuracy[1], abs=0.02)


@pytest.mark.slow
@pytest.mark.usefixtures("whole_client")
def test_the_estimator_takes_dask_arrays(points, undisturbed):
    model = PixelSNE(**SETTINGS).fit(chunked(points))
    assert isinstance(model.embedding_, da.Array)
    assert np.array_equal(model.embedding_.compute(), undisturbed)
    assert np.array_equal(model.pixels_.compute(), undisturbed.astype(np.int32))
    assert model.n_iter_ == 60
    with pytest.raises(ValueError, match="on a cluster"):
        model.transform(points[0])


def test_dask_data_frames_are_embedded(whole_client, points, undisturbed):
    frames = pytest.importorskip("dask.dataframe")
    import pandas as pd  # noqa: PLC0415

    frame = pd.DataFrame(points[0], columns=[f"c{k}" for k in range(25)])
    made = embed(frames.from_pandas(frame, chunksize=700, sort=False), whole_client, PixelSNE(**SETTINGS))
    assert made.compute().shape == undisturbed.shape


def test_iterations_take_few_tasks_with_small_results(whole_client, points, monkeypatch):
    run = start(chunked(points), whole_client, PixelSNE(**SETTINGS))
    sizes, gather = [], TaskRunner.gather

    def measured_gather(runner, futures):
        found = gather(runner, futures)
        sizes.extend(one.__sizeof__() for one in found)
        return found

    monkeypatch.setattr(TaskRunner, "gather", measured_gather)
    tasks = {snapshot.iteration: run.runner.tasks_submitted for snapshot in run.snapshots()}
    assert tasks[45] - tasks[35] <= 10 * 4 * WORKERS + 10  # 4 per worker and iteration, and waiting for it
    assert max(sizes) <= 4 * 1024 * 1024  # the lattice


@pytest.mark.parametrize("when", ["neighbors", "affinities", "late"])  # all moments: tests/stress/killed_workers.py
def test_a_killed_worker_does_not_change_the_map(whole_client, points, undisturbed, tmp_path, when):
    killed = []

    def kill(snapshot):
        if not killed and snapshot.phase == when and (when == "late" or snapshot.fraction > 0):
            killed.append(snapshot.iteration)
            kill_one(whole_client)

    made = embed(chunked(points), whole_client, PixelSNE(**SETTINGS), checkpoint=tmp_path / "run", callback=kill)
    assert np.array_equal(made.compute(), undisturbed)
    assert killed


def test_a_killed_worker_does_not_change_the_map_without_a_checkpoint(whole_client, points, undisturbed):
    killed = []

    def kill(snapshot):
        if not killed and snapshot.iteration == 30:
            killed.append(1)
            kill_one(whole_client)

    made = embed(chunked(points), whole_client, PixelSNE(**SETTINGS), callback=kill)
    assert np.array_equal(made.compute(), undisturbed)


def test_a_new_client_resumes_an_abandoned_run(whole_client, points, undisturbed, tmp_path):
    iterations = []
    stop_at = ITERATIONS_BETWEEN_CHECKPOINTS + 5
    run = start(chunked(points), whole_client, PixelSNE(**SETTINGS), checkpoint=tmp_path)
    for snapshot in run.snapshots():
        if snapshot.iteration == stop_at:
            break
    del run
    made = embed(
        chunked(points),
        whole_client,
        PixelSNE(**SETTINGS),
        checkpoint=tmp_path,
        callback=lambda snapshot: iterations.append(snapshot.iteration) and False,
    )
    assert iterations[0] == ITERATIONS_BETWEEN_CHECKPOINTS + 1
    assert np.array_equal(made.compute(), undisturbed)


def test_a_checkpoint_of_another_run_is_refused(whole_client, points, tmp_path):
    run = start(chunked(points), whole_client, PixelSNE(**SETTINGS), checkpoint=tmp_path)
    for snapshot in run.snapshots():
        if snapshot.iteration > ITERATIONS_BETWEEN_CHECKPOINTS:
            break
    with pytest.raises(FileError, match="perplexity"):
        embed(chunked(points), whole_client, PixelSNE(**SETTINGS | {"perplexity": 9}), checkpoint=tmp_path)
    other = da.from_array(points[0] + 1, chunks=(700, -1))
    with pytest.raises(FileError, match="other values"):
        embed(other, whole_client, PixelSNE(**SETTINGS), checkpoint=tmp_path)


def test_a_callback_stops_and_keeps_the_map(whole_client, points):
    made = embed(chunked(points), whole_client, PixelSNE(**SETTINGS), callback=lambda one: one.iteration in {0, 40})
    assert made.stopped_by == "callback"
    assert made.iterations == 40
    embedding = made.compute()
    assert embedding.min() == pytest.approx(0, abs=0.01)  # the longer axis fills the screen
    assert embedding.max() > 1023
    assert len(np.unique(embedding, axis=0)) > 2900


def interrupt_at(iteration):
    def interrupt(snapshot):
        if snapshot.iteration == iteration:
            raise KeyboardInterrupt

    return interrupt


def test_an_interrupt_keeps_the_map(whole_client, points):
    model = PixelSNE(**SETTINGS)
    made = embed(chunked(points), whole_client, model, callback=interrupt_at(40))
    assert (made.stopped_by, made.iterations) == ("interrupt", 40)
    expected = embed(chunked(points), whole_client, model, callback=lambda one: one.iteration == 40)
    assert np.array_equal(made.compute(), expected.compute())
    fitted = PixelSNE(**SETTINGS, callback=interrupt_at(7)).fit(chunked(points))
    assert (fitted.stopped_by_, fitted.n_iter_) == ("interrupt", 7)


def test_an_interrupt_between_two_tasks_returns_a_consistent_map(whole_client, points, monkeypatch):
    """Interrupts when the second shard of iteration 31 is about to be summarized."""
    model, sizes, submit = PixelSNE(**SETTINGS), [], TaskRunner.submit

    def interrupted(self, name, *arguments, **keywords):
        if sizes and sizes[-1] == 30 and name == "summarize" and keywords["shard"] == 1:
            sizes.append("interrupted")
            raise KeyboardInterrupt
        return submit(self, name, *arguments, **keywords)

    monkeypatch.setattr(TaskRunner, "submit", interrupted)
    made = embed(chunked(points), whole_client, model, callback=lambda one: sizes.append(one.iteration))
    assert (made.stopped_by, made.iterations) == ("interrupt", 30)
    expected = embed(chunked(points), whole_client, model, callback=lambda one: one.iteration == 30)
    assert np.array_equal(made.compute(), expected.compute())


def test_an_interrupt_before_the_descent_raises(whole_client, points):
    with pytest.raises(KeyboardInterrupt):
        embed(chunked(points), whole_client, PixelSNE(**SETTINGS), callback=interrupt_at(0))


def test_write_checkpoint_can_be_resumed(whole_client, points, undisturbed, tmp_path):
    run = start(chunked(points), whole_client, PixelSNE(**SETTINGS), checkpoint=tmp_path)
    assert not run.write_checkpoint()
    for snapshot in run.snapshots():
        if snapshot.iteration == 37:
            break
    assert run.write_checkpoint()
    del run
    again = start(chunked(points), whole_client, PixelSNE(**SETTINGS), checkpoint=tmp_path)
    assert [snapshot.iteration for snapshot in again.snapshots()] == list(range(38, 61))
    assert np.array_equal(again.map().compute(), undisturbed)


def test_errors_about_files_on_workers_reach_the_user(whole_client, points, tmp_path):
    broken = points[0][:200].copy()
    np.save(tmp_path / "part-0.npy", broken)
    broken[150, 3] = np.nan
    np.save(tmp_path / "part-1.npy", broken)
    with pytest.raises(FileError, match=r"part-1\.npy: column 3, row 151: NaN"):
        start_files(expand(str(tmp_path)), whole_client, PixelSNE(**SETTINGS), ReadOptions())


def test_errors_on_workers_reach_the_user(whole_client, points):
    broken = points[0].copy()
    broken[1500, 3] = np.nan
    with pytest.raises(ValueError, match="partition 2, row 100: NaN"):
        embed(da.from_array(broken, chunks=(700, -1)), whole_client, PixelSNE(**SETTINGS))


@pytest.mark.parametrize(
    "changes",
    [{"metric": "manhattan"}, {"repulsion": "exact"}, {"neighbors": "vp-tree"}, {"init": np.zeros((3000, 2))}],
)
def test_options_that_need_one_machine_are_refused(whole_client, points, changes):
    with pytest.raises(ValueError, match="|".join(changes)):
        embed(chunked(points), whole_client, PixelSNE(**SETTINGS | changes))


def test_a_cluster_with_too_little_memory_is_refused_before_the_run(whole_client, points, monkeypatch):
    monkeypatch.setattr("pixelsne.distributed.task_runner.memory_limit", lambda: 100_000_000)
    with pytest.raises(MemoryError, match=r"needs about 0\.\d GB on each of 2 workers.*0\.1 GB .*more memory"):
        start(chunked(points), whole_client, PixelSNE(**SETTINGS))


def test_more_workers_need_less_each():
    work = ClusterWorkload(n=100_000_000, row_bytes=200, dimensions=50, neighbors=90, nodes=4096)
    needs = [worker_bytes(work, workers) for workers in (16, 64, 256)]
    assert needs[0] > 2 * needs[1] > 4 * needs[2]


@pytest.mark.cluster
def test_embed_on_a_cluster_by_command(points, tmp_path):
    values, kinds = points
    (tmp_path / "parts").mkdir()
    for number, rows in enumerate(np.array_split(np.arange(len(values)), 3)):
        vectors = pa.FixedSizeListArray.from_arrays(values[rows].ravel(), values.shape[1])
        table = pa.table({"vector": vectors, "kind": kinds[rows], "row": rows})
        pq.write_table(table, tmp_path / "parts" / f"part-{number}.parquet")
    command = ["embed", f"{tmp_path}/parts", "-o", f"{tmp_path}/map"]
    options = ["--columns", "vector", "--label", "kind", "--cluster", "local", "--perplexity", "12", "--max-iter", "60"]
    result = CliRunner().invoke(main, [*command, *options, "--json"])
    assert result.exit_code == 0, result.output
    assert '"rows": 3000' in result.output
    assert f'"pixelsne_version": "{__version__}"' in result.output
    table = pq.read_table(tmp_path / "map")
    assert table.column_names == ["x", "y", "pixel_x", "pixel_y", "kind", "row"]
    assert sorted(path.name for path in (tmp_path / "map").iterdir()) == [f"part-{k}.parquet" for k in range(3)]
    embedding = np.stack([table["x"].to_numpy(), table["y"].to_numpy()], axis=1)
    assert quality.knn_accuracy(embedding, table["kind"].to_numpy(), 5) > 0.95
    np.testing.assert_array_equal(read_map(tmp_path / "map").placed, embedding.astype(np.float32))
    drawn = CliRunner().invoke(main, ["plot", f"{tmp_path}/map", "-o", f"{tmp_path}/map.png"])
    assert drawn.exit_code == 0, drawn.output
    again = CliRunner().invoke(main, [*command, *options])
    assert again.exit_code == 1
    assert "map: exists; with --cluster, the output must be a new folder" in again.output


def test_files_with_different_columns_are_refused(whole_client, points, tmp_path):
    for number, width in enumerate((5, 6)):
        table = pa.table({f"c{k}": points[0][:100, k] for k in range(width)})
        pq.write_table(table, tmp_path / f"part-{number}.parquet")
    with pytest.raises(FileError, match=r"part-1.*other columns.*6 and 5"):
        start_files(expand(str(tmp_path)), whole_client, PixelSNE(**SETTINGS), ReadOptions())


def test_a_pattern_without_files_is_refused(tmp_path):
    with pytest.raises(FileError, match="matches no file"):
        expand(f"{tmp_path}/*.parquet")


@pytest.mark.parametrize(("option", "path"), [("--plot", "p.png"), ("--film", "f.webp")])
def test_command_options_that_need_one_machine_are_refused(option, path, tmp_path):
    command = ["embed", "x/*.parquet", "-o", f"{tmp_path}/map", "--cluster", "local"]
    result = CliRunner().invoke(main, [*command, option, path])
    assert result.exit_code == 2
    assert f"{option} needs the map on one machine" in result.output


@pytest.mark.cluster
def test_a_missing_scheduler_is_named(tmp_path, monkeypatch):
    monkeypatch.setattr("pixelsne.distributed.task_runner.SECONDS_TO_CONNECT", 1)
    command = ["embed", "x/*.parquet", "-o", f"{tmp_path}/map", "--cluster", "tcp://127.0.0.1:9"]
    result = CliRunner().invoke(main, command)
    assert result.exit_code == 1
    assert "127.0.0.1:9" in result.output


def test_files_of_one_name_do_not_overwrite_each_other():
    assert targets_of("s3://bucket/map/", ["a/x.parquet", "a/y.csv", "a/z.csv.gz"]) == [
        "s3://bucket/map/x.parquet",
        "s3://bucket/map/y.parquet",
        "s3://bucket/map/z.parquet",
    ]
    numbered = targets_of("/map", ["a/part.parquet", "b/part.parquet"])
    assert numbered == ["/map/part-0.parquet", "/map/part-1.parquet"]
