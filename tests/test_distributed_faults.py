"""Failures and interrupts on a cluster: messages, and the files left."""

import os
import pickle
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import dask.array
import numpy as np
import pytest
from click.testing import CliRunner

from pixelsne import PixelSNE
from pixelsne.choices import CORE_METRICS
from pixelsne.cli import main
from pixelsne.distributed.checkpoint import has_run
from pixelsne.distributed.entry import distributed_settings, make_run, start, start_files
from pixelsne.distributed.pipeline import ITERATIONS_BETWEEN_CHECKPOINTS, Partitions
from pixelsne.distributed.task_runner import TaskRunner
from pixelsne.files.errors import FileError
from pixelsne.files.source import ReadOptions


class Workers:
    """The part of a client that a runner uses to place tasks."""

    def __init__(self, *names):
        self.names, self.requested_workers = list(names), []

    def nthreads(self):
        return dict.fromkeys(self.names, 1)

    def submit(self, _function, *_arguments, key, workers=None, **_more):
        self.requested_workers.append(workers)
        return key


def test_file_errors_can_be_pickled():
    error = pickle.loads(pickle.dumps(FileError("part.csv", "has no column 'a'")))  # noqa: S301 - our own data
    assert isinstance(error, FileError)
    assert str(error) == "part.csv: has no column 'a'"


def test_workers_without_a_shard_take_over():
    client = Workers("a", "b", "c", "d")
    runner = TaskRunner(client, 4)
    runner.limit_shards(2)
    client.names.remove("a")
    runner.assign_workers()
    runner.map_shards("summarize", print, [1, 2])
    assert client.requested_workers == [["c"], ["b"]]  # not both on b while c and d are idle


def test_a_single_shard_is_not_bound_to_a_lost_worker():
    client = Workers("a", "b")
    runner = TaskRunner(client, 2)
    runner.limit_shards(1)
    runner.map_shards("summarize", print, [1])
    client.names.remove("a")
    runner.assign_workers()
    runner.map_shards("summarize", print, [1])  # no request: after its death the task would wait for this worker
    assert client.requested_workers == [["a"], None]


def test_a_cluster_without_workers_is_refused():
    with pytest.raises(RuntimeError, match=r"no workers; start some with `dask worker .*wait_for_workers"):
        TaskRunner(Workers(), 0)


@pytest.mark.parametrize(("rows", "words"), [(0, "X has 0 rows"), (1, "X has 1 row")])
def test_a_map_needs_two_rows(rows, words):
    with pytest.raises(ValueError, match=f"{words}; a map needs at least 2"):
        make_run(Partitions([], [rows], 3, 12), TaskRunner(Workers("a"), 1), PixelSNE(), None, None)


@pytest.mark.parametrize(("start", "words"), [(PixelSNE(), "a fitted model"), (np.zeros((9, 2)), "an array")])
def test_a_start_from_another_map_is_refused_before_reading(start, words):
    with pytest.raises(ValueError, match=f"init={words} is not distributed; use 'pca' or 'random'"):
        start_files(["nowhere.npy"], Workers("a"), PixelSNE(init=start), ReadOptions())


def test_fixed_rows_are_refused_on_a_cluster():
    values = dask.array.zeros((100, 3))
    with pytest.raises(ValueError, match="fixed is not distributed; fit on one machine, or without fixed"):
        PixelSNE(init=np.zeros((100, 2)), init_scale=None).fit(values, fixed=np.arange(100) < 5)
    with pytest.raises(ValueError, match="init=an array is not distributed"):
        start(values, Workers("a"), PixelSNE(init=np.zeros((100, 2)), init_scale=None))
    with pytest.raises(ValueError, match="init_scale=None continues from positions, got init='pca'"):
        start(values, Workers("a"), PixelSNE(init_scale=None))


def test_every_metric_of_the_core_is_distributed():
    for metric in CORE_METRICS:
        assert distributed_settings(PixelSNE(metric=metric)).metric == metric


def test_the_command_refuses_a_model_as_a_start(tmp_path):
    command = ["embed", "x/*.parquet", "-o", f"{tmp_path}/map", "--cluster", "local", "--init", "old.pixelsne"]
    result = CliRunner().invoke(main, command)
    assert result.exit_code == 2
    assert "--init old.pixelsne is for one machine: pass pca or random, or omit --cluster" in result.output


@pytest.mark.parametrize(
    ("option", "reason"), [("--every", "a checkpoint every 25 iterations"), ("--jobs", "use the threads")]
)
def test_options_that_a_cluster_ignores_are_refused(option, reason, tmp_path):
    assert ITERATIONS_BETWEEN_CHECKPOINTS == 25
    command = ["embed", "x/*.parquet", "-o", f"{tmp_path}/map", "--cluster", "local", option, "2"]
    result = CliRunner().invoke(main, command)
    assert result.exit_code == 2
    assert f"{option} is for one machine" in result.output
    assert reason in result.output


@pytest.mark.parametrize(("source", "output"), [("points", "map.npy"), ("points", "points"), ("p.csv", "points")])
def test_a_folder_is_refused_without_a_cluster(source, output, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("points").mkdir()
    result = CliRunner().invoke(main, ["embed", source, "-o", output])
    assert result.exit_code == 1
    remedy = ", or add --cluster local to embed all its files" if source == "points" else ""
    assert result.stderr == f"pixelsne: points: is a folder; give the name of a file{remedy}\n"


@pytest.fixture
def parts(tmp_path):
    rng = np.random.default_rng(0)
    (tmp_path / "parts").mkdir()
    for name in "ab":
        np.save(tmp_path / "parts" / f"{name}.npy", rng.normal(size=(1500, 10)).astype(np.float32))
    return tmp_path


@pytest.mark.cluster
def test_ctrl_c_at_a_terminal_saves_the_checkpoint(parts):
    """A terminal sends the signal to the workers, too."""
    command = [sys.executable, "-m", "pixelsne", "embed", "parts", "-o", "map", "--cluster", "local"]
    options = ["--checkpoint", "run", "--perplexity", "12", "--max-iter", "5000", "--tol", "0"]
    process = subprocess.Popen(
        [*command, *options], cwd=parts, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    try:
        until = time.monotonic() + 240
        while not list(parts.glob("run/stand-0000[1-9]*")):
            assert process.poll() is None, process.communicate()
            assert time.monotonic() < until
            time.sleep(0.05)
        os.killpg(process.pid, signal.SIGINT)
        stderr = process.communicate(timeout=120)[1]
    finally:
        process.kill()
    assert process.returncode == 130
    assert re.search(r"pixelsne: stopped at iteration \d+, nothing written; .* to continue from run", stderr)
    assert sorted(path.name for path in parts.iterdir()) == ["parts", "run"]
    assert has_run(parts / "run")
