"""Errors of the commands: one line, before time is spent, and no file is lost or overwritten."""

import os
import re
import sys

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from command_line import QUICK, run
from pixelsne.files.read_map import read_map


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["-o", "map.xlsx"], "map.xlsx: is of a kind that is not written here"),
        (["-o", "map.parquet", "--plot", "map.txt"], "map.txt: is of a kind"),
        (["-o", "map.parquet", "--columns", "nothing"], "has no column 'nothing'"),
        (["-o", "map.parquet", "--perplexity", "-3"], "perplexity must be"),
        (["-o", "map.parquet", "--model", "map.parquet"], "would be written by both -o and --model"),
        (["-o", "map.parquet", "--resume", "nothing"], "nothing: no such checkpoint"),
        (["-o", "map.parquet", "--init", "nothing"], "nothing: No such file"),
        (["-o", "/proc/nothing/map.parquet"], "/proc/nothing/map.parquet: cannot be written"),
        (["-o", "map.parquet", "--n-neighbors", "3", "--perplexity", "5"], "n_neighbors=3 is too small"),
    ],
)
def test_an_error_is_one_line_with_the_reason(arguments, message, cells, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    if os.geteuid() == 0 and "/proc" in message:
        arguments = ["-o", "/proc/self/comm/map.parquet"]
        message = "/proc/self/comm/map.parquet: cannot be written"
    result = run("embed", cells, *arguments, "--quiet", expect=1)
    assert message in result.stderr
    assert len(result.stderr.splitlines()) == 1
    assert not list(tmp_path.iterdir())


def test_wrong_usage_exits_with_2(cells):
    run("embed", cells, expect=2)
    run("embed", cells, "-o", "map.parquet", "--resolution", "wide", expect=2)
    run("embed", cells, "-o", "map.parquet", "--metric", "nothing", expect=2)
    run("embed", cells, "-o", "map.parquet", "--perplexity", "many", expect=2)
    run("nothing", expect=2)


def test_a_single_row_is_refused(tmp_path):
    (tmp_path / "one.csv").write_text("a,b\n1,2\n")
    assert "one.csv: has 1 row" in run("embed", tmp_path / "one.csv", "-o", tmp_path / "m.npy", expect=1).stderr


def test_a_missing_input_is_named(tmp_path):
    result = run("embed", tmp_path / "nothing.parquet", "-o", tmp_path / "map.parquet", expect=1)
    assert "nothing.parquet: No such file" in result.stderr


def test_a_fit_beyond_the_memory_is_refused_before_reading(tmp_path, monkeypatch):
    monkeypatch.setattr("pixelsne.memory.available", lambda: 100e6)
    pq.write_table(pa.table({"a": np.zeros(200_000), "b": np.zeros(200_000)}), tmp_path / "many.parquet")
    monkeypatch.setattr("pixelsne.files.columns.fill", lambda *_: pytest.fail("was read"))
    result = run("embed", tmp_path / "many.parquet", "-o", tmp_path / "map.npy", expect=1)
    assert re.search(
        r"many\.parquet: 200,000 points with 30 neighbors each take about 0\.\d GB, 0\.1 GB are available; "
        r"lower n_neighbors to \d",
        result.stderr,
    )


def test_a_missing_library_for_writing_is_reported_before_reading(cells, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "anndata", None)
    monkeypatch.setattr("pixelsne.commands.embed.read_input", lambda *_: pytest.fail("was read"))
    result = run("embed", cells, "-o", tmp_path / "map.h5ad", *QUICK, expect=1)
    assert "pip install 'pixelsne[anndata]'" in result.stderr


def test_colors_are_checked_before_the_fit(cells, tmp_path, monkeypatch):
    monkeypatch.setattr("pixelsne.commands.embed.run_fit", lambda *_: pytest.fail("was run"))
    options = ["--plot", tmp_path / "map.png", "--label", "kind", "--color-as", "numbers"]
    assert "holds no numbers" in run("embed", cells, "-o", tmp_path / "m.npy", *options, *QUICK, expect=1).stderr


def test_the_map_is_kept_when_the_picture_fails(cells, tmp_path, monkeypatch):
    monkeypatch.setattr("pixelsne.commands.results.draw_map", lambda *_: 1 / 0)
    outputs = ["-o", tmp_path / "map.parquet", "--plot", tmp_path / "map.png"]
    result = run("embed", cells, *outputs, *QUICK, expect=1)
    assert result.stderr.strip() == "pixelsne: division by zero"
    assert len(read_map(tmp_path / "map.parquet").placed) == 300


def test_an_input_is_never_overwritten(cells, tmp_path):
    before = cells.read_bytes()
    (tmp_path / "link.parquet").symlink_to(cells)
    for output in (cells, tmp_path / "link.parquet"):
        assert "is an input" in run("embed", cells, "-o", output, *QUICK, expect=1).stderr
    assert cells.read_bytes() == before
