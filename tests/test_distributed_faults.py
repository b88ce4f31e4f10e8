"""What goes wrong on a cluster, or is stopped there: what users are told, and what is left."""

import os
import pickle
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from pixelsne import PixelSNE
from pixelsne.choices import CORE_METRICS
from pixelsne.cli import main
from pixelsne.distributed.checkpoint import has_run
from pixelsne.distributed.entry import begin, distributed_settings, start_files
from pixelsne.distributed.pipeline import ITERATIONS_BETWEEN_CHECKPOINTS, Partitions
from pixelsne.distributed.task_runner import TaskRunner
from pixelsne.files.errors import FileError
from pixelsne.files.source import ReadOptions


class Workers:
    """All that a runner asks of a client about where tasks go."""

    def __init__(self, *names):
        self.names, self.wishes = list(names), []

    def nthreads(self):
        return dict.fromkeys(self.names, 1)

    def submit(self, _function, *_arguments, key, workers=None, **_more):
        self.wishes.append(workers)
        return key


def test_errors_about_files_travel_from_workers():
    error = pickle.loads(pickle.dumps(FileError("part.csv", "has no column 'a'")))  # noqa: S301 - our own
    assert isinstance(error, FileError)
    assert str(error) == "part.csv: has no column 'a'"


def test_shards_left_out_keep_no_worker_busy():
    client = Workers("a", "b", "c", "d")
    runner = TaskRunner(client, 4)
    runner.limit_shards(2)
    client.names.remove("a")
    runner.assign_workers()
    runner.each("tell", print, [1, 2])
    assert client.wishes == [["c"], ["b"]]  # not both at b, while c and d have nothing to do


def test_one_shard_of_many_workers_stays_where_it_is():
    client = Workers("a", "b")
    runner = TaskRunner(client, 2)
    runner.limit_shards(1)
    runner.each("tell", print, [1])
    client.names.remove("a")
    runner.assign_workers()
    runner.each("tell", print, [1])  # no wish: after its death the task would wait for this worker
    assert client.wishes == [["a"], None]


def test_a_cluster_without_workers_is_told_what_to_do():
    with pytest.raises(RuntimeError, match=r"no workers: start some, as by `dask worker .*wait_for_workers"):
        TaskRunner(Workers(), 0)


@pytest.mark.parametrize(("rows", "words"), [(0, "X has 0 rows"), (1, "X has 1 row")])
def test_a_map_needs_two_rows(rows, words):
    with pytest.raises(ValueError, match=f"{words}; a map needs at least 2"):
        begin(Partitions([], [rows], 3, 12), TaskRunner(Workers("a"), 1), PixelSNE(), None, None)


@pytest.mark.parametrize(("start", "words"), [(PixelSNE(), "a fitted model"), (np.zeros((9, 2)), "an array")])
def test_a_start_from_another_map_is_refused_before_anything_is_read(start, words):
    with pytest.raises(ValueError, match=f"init={words} is not distributed; use 'pca' or 'random'"):
        start_files(["nowhere.npy"], Workers("a"), PixelSNE(init=start), ReadOptions())


def test_every_metric_of_the_core_is_distributed():
    for metric in CORE_METRICS:
        assert distributed_settings(PixelSNE(metric=metric)).metric == metric


def test_on_the_command_line_a_start_is_refused_by_its_option(tmp_path):
    command = ["embed", "x/*.parquet", "-o", f"{tmp_path}/map", "--cluster", "local", "--init", "old.pixelsne"]
    finished = CliRunner().invoke(main, command)
    assert finished.exit_code == 2
    assert "--init old.pixelsne is for one machine: pass pca or random, or omit --cluster" in finished.output


@pytest.mark.parametrize(
    ("option", "reason"), [("--every", "a checkpoint every 25 iterations"), ("--jobs", "use the threads")]
)
def test_what_a_cluster_would_ignore_is_refused(option, reason, tmp_path):
    assert ITERATIONS_BETWEEN_CHECKPOINTS == 25
    command = ["embed", "x/*.parquet", "-o", f"{tmp_path}/map", "--cluster", "local", option, "2"]
    finished = CliRunner().invoke(main, command)
    assert finished.exit_code == 2
    assert f"{option} is for one machine" in finished.output
    assert reason in finished.output


@pytest.mark.parametrize(("source", "output"), [("points", "map.npy"), ("points", "points"), ("p.csv", "points")])
def test_without_a_cluster_a_folder_is_refused(source, output, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("points").mkdir()
    finished = CliRunner().invoke(main, ["embed", source, "-o", output])
    assert finished.exit_code == 1
    remedy = ", or add --cluster local to embed all its files" if source == "points" else ""
    assert finished.stderr == f"pixelsne: points: is a folder; give the name of a file{remedy}\n"


@pytest.fixture
def parts(tmp_path):
    rng = np.random.default_rng(0)
    (tmp_path / "parts").mkdir()
    for name in "ab":
        np.save(tmp_path / "parts" / f"{name}.npy", rng.normal(size=(1500, 10)).astype(np.float32))
    return tmp_path


@pytest.mark.cluster
def test_ctrl_c_at_a_terminal_keeps_the_run(parts):
    """A terminal sends it to the workers, too."""
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
        said = process.communicate(timeout=120)[1]
    finally:
        process.kill()
    assert process.returncode == 130
    assert re.search(r"pixelsne: stopped at iteration \d+, nothing written; .* to continue from run", said)
    assert sorted(path.name for path in parts.iterdir()) == ["parts", "run"]
    assert has_run(parts / "run")
