"""`pixelsne view --live`: the effect of Ctrl-C."""

import os
import signal

import pyarrow.parquet as pq
import pytest

from command_line import run
from pixelsne.descent_loop import Snapshot
from pixelsne.files.read_map import read_map
from pixelsne.viewer import watch_run

FIT_SNAPSHOTS = watch_run.snapshots_of
LONG = ["--no-browser", "--max-iter", "100000", "--tol", "0", "--perplexity", "10"]


@pytest.fixture
def interrupted(monkeypatch):
    """Send Ctrl-C to this process at iteration 20 of a live run."""

    def snapshots(model, values, **arguments):
        for snapshot in FIT_SNAPSHOTS(model, values, **arguments):
            if snapshot.iteration == 20:
                os.kill(os.getpid(), signal.SIGINT)
            yield snapshot

    monkeypatch.setattr(watch_run, "snapshots_of", snapshots)


@pytest.mark.slow
@pytest.mark.usefixtures("interrupted")
def test_ctrl_c_keeps_the_map_so_far(cells, tmp_path):
    result = run("view", "--live", cells, "-o", tmp_path / "map.parquet", "--label", "kind", *LONG, expect=130)
    one = read_map(tmp_path / "map.parquet")
    assert len(one.placed) == 300
    assert 20 <= one.metadata["iterations"] < 100_000
    assert one.extra_columns["kind"].equals(pq.read_table(cells)["kind"])
    assert f"the map is in {tmp_path / 'map.parquet'}" in result.stderr
    assert f"stopped at iteration {one.metadata['iterations']}" in result.stderr


@pytest.mark.slow
@pytest.mark.usefixtures("interrupted")
def test_ctrl_c_without_an_output_says_how_to_keep_the_map(cells, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = run("view", "--live", cells, *LONG, expect=130)
    assert "nothing written; pass -o MAP to write the map" in result.stderr
    assert not list(tmp_path.iterdir())


def test_ctrl_c_before_the_descent_writes_nothing(cells, tmp_path, monkeypatch):
    def snapshots(*_, **__):
        yield Snapshot(0, "reduce", 0.5)
        os.kill(os.getpid(), signal.SIGINT)
        while True:
            yield Snapshot(0, "neighbors", 0.5)

    monkeypatch.setattr(watch_run, "snapshots_of", snapshots)
    result = run("view", "--live", cells, "-o", tmp_path / "map.parquet", *LONG, expect=130)
    assert "stopped before the map began to form, nothing written" in result.stderr
    assert not list(tmp_path.iterdir())
