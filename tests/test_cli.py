"""The commands, from the outside."""

import json
import os
import signal
import subprocess
import sys
import time

import click
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

from pixelsne.cli import main
from pixelsne.files.read_map import read_map

QUICK = ["--perplexity", "10", "--max-iter", "60", "--quiet"]


def run(*arguments, expect=0):
    result = CliRunner().invoke(main, [str(argument) for argument in arguments])
    assert result.exit_code == expect, result.output
    return result


@pytest.fixture(scope="module")
def cells(digits, tmp_path_factory):
    path = tmp_path_factory.mktemp("input") / "cells.parquet"
    columns = {f"p{place}": column for place, column in enumerate(digits[0][:300].T)}
    pq.write_table(pa.table(columns | {"kind": [f"digit {label}" for label in digits[1][:300]]}), path)
    return path


@pytest.mark.parametrize("kind", ["parquet", "csv", "tsv", "npy", "npz"])
def test_from_a_file_to_a_map(kind, cells, tmp_path):
    output = tmp_path / "deep" / f"map.{kind}"
    run("embed", cells, "-o", output, "--resolution", "640x480", *QUICK)
    one = read_map(output)
    assert one.placed.shape == (300, 2)
    assert (one.placed >= 0).all()
    assert (one.placed < [640, 480]).all()
    if kind in {"parquet", "csv", "tsv", "npz"}:
        assert "kind" in one.others.column_names


def test_the_parquet_tells_all(cells, tmp_path):
    run("embed", cells, "-o", tmp_path / "map.parquet", "--seed", "7", *QUICK)
    table = pq.read_table(tmp_path / "map.parquet")
    assert table.column_names == ["x", "y", "pixel_x", "pixel_y", "kind"]
    about = json.loads(table.schema.metadata[b"pixelsne"])
    assert about["seed"] == 7
    assert about["settings"]["perplexity"] == 10
    assert about["kl_divergence"] > 0
    assert len(about["columns"]) == 64


def test_the_same_seed_gives_the_same_file(cells, tmp_path):
    for name in ("one", "two"):
        run("embed", cells, "-o", tmp_path / f"{name}.parquet", *QUICK)
    assert (tmp_path / "one.parquet").read_bytes() == (tmp_path / "two.parquet").read_bytes()


def test_a_result_for_machines(cells, tmp_path):
    result = run("embed", cells, "-o", tmp_path / "map.parquet", "--json", "--plot", tmp_path / "map.png", *QUICK)
    told = json.loads(result.stdout)
    assert told["rows"] == 300
    assert told["iterations"] == 60
    assert {"neighbors", "descent", "total"} <= told["timings"].keys()
    assert told["paths"]["picture"].endswith("map.png")


def test_new_rows_on_an_old_map(cells, tmp_path):
    run("embed", cells, "-o", tmp_path / "map.parquet", "--model", tmp_path / "model", *QUICK)
    run("transform", tmp_path / "model", cells, "-o", tmp_path / "again.parquet", "--quiet")
    np.testing.assert_array_equal(
        read_map(tmp_path / "again.parquet").placed, read_map(tmp_path / "map.parquet").placed
    )


def test_scores(cells, tmp_path):
    run("embed", cells, "-o", tmp_path / "map.parquet", "--max-iter", "250", "--perplexity", "10", "--quiet")
    told = json.loads(run("score", cells, tmp_path / "map.parquet", "--label", "kind", "--json").stdout)
    assert told["k"] == [1, 3, 5, 10, 20, 30]
    assert told["knn_accuracy"][3] > 0.85
    assert 0.3 < told["neighborhood_precision"][3] < 1
    assert told["kl_divergence"] > 0
    text = run("score", cells, tmp_path / "map.parquet").stdout
    assert "neighborhood precision" in text
    assert "accuracy" not in text


def test_pictures(cells, tmp_path):
    run("embed", cells, "-o", tmp_path / "map.parquet", *QUICK)
    run("plot", tmp_path / "map.parquet", "-o", tmp_path / "plain.png")
    run(
        "plot", tmp_path / "map.parquet", "-o", tmp_path / "kinds.png", "--color", "kind", "--dark", "--title", "Digits"
    )
    assert (tmp_path / "kinds.png").read_bytes()[:4] == b"\x89PNG"
    result = run("plot", tmp_path / "map.parquet", "-o", tmp_path / "no.png", "--color", "nothing", expect=1)
    assert "has no column 'nothing' to color by; it has kind" in result.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["-o", "map.xlsx"], "map.xlsx: is of a kind that is not written here"),
        (["-o", "map.parquet", "--plot", "map.txt"], "map.txt: is of a kind"),
        (["-o", "map.parquet", "--columns", "nothing"], "has no column 'nothing'"),
        (["-o", "map.parquet", "--metric", "nothing"], "metric='nothing' is unknown"),
        (["-o", "map.parquet", "--perplexity", "-3"], "perplexity must be"),
    ],
)
def test_what_fails_says_why_in_one_line(arguments, message, cells, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = run("embed", cells, *arguments, "--quiet", expect=1)
    assert message in result.stderr
    assert len(result.stderr.splitlines()) == 1
    assert not list(tmp_path.iterdir())


def test_an_input_is_never_written_over(cells):
    before = cells.read_bytes()
    result = run("embed", cells, "-o", cells, *QUICK, expect=1)
    assert "is the input" in result.stderr
    assert cells.read_bytes() == before


def test_usage_is_exit_2(cells):
    run("embed", cells, expect=2)
    run("embed", cells, "-o", "map.parquet", "--resolution", "wide", expect=2)
    run("nothing", expect=2)


def test_a_missing_input(tmp_path):
    result = run("embed", tmp_path / "nothing.parquet", "-o", tmp_path / "map.parquet", expect=1)
    assert "nothing.parquet: No such file" in result.stderr


def every_command():
    return [(name, command) for name, command in main.commands.items()]


@pytest.mark.parametrize(("name", "command"), every_command())
def test_every_command_and_option_has_help_and_an_example(name, command):
    text = run(name, "--help").stdout
    assert f"pixelsne {name}" in text.split("Options:")[0].split("Usage:")[1].split("\n", 1)[1], "no example"
    for option in command.params:
        if isinstance(option, click.Option):
            assert option.help, option.name


def test_version_and_completion():
    assert "pixelsne, version" in run("--version").stdout
    environment = {**os.environ, "_PIXELSNE_COMPLETE": "bash_source"}
    shown = subprocess.run(["pixelsne"], env=environment, capture_output=True, text=True, check=False)
    assert "complete" in shown.stdout


def test_help_imports_nothing_slow():
    code = (
        "import sys; from pixelsne.cli import main\n"
        "try: main(['embed', '--help'])\n"
        "except SystemExit: pass\n"
        "print([name for name in ('numpy', 'scipy', 'sklearn', 'pyarrow', 'rich', 'matplotlib') if name in sys.modules])"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.splitlines()[-1] == "[]"


@pytest.fixture
def large(tmp_path):
    path = tmp_path / "large.npy"
    np.save(path, np.random.default_rng(0).normal(size=(20_000, 20)).astype(np.float32))
    return path


def start(path, output, *arguments):
    command = [sys.executable, "-m", "pixelsne", "embed", str(path), "-o", str(output), "--max-iter", "150", *arguments]
    return subprocess.Popen(command, stderr=subprocess.PIPE, text=True)


def wait_for(path):
    for _ in range(600):
        if path.exists():
            return
        time.sleep(0.05)
    pytest.fail(f"{path} did not appear")


@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGKILL, -signal.SIGKILL)]
)
def test_a_run_that_was_stopped_goes_on_to_the_same_map(number, code, large, tmp_path):
    whole, output, checkpoint = tmp_path / "whole.npy", tmp_path / "map.npy", tmp_path / "run.checkpoint"
    assert start(large, whole).wait(120) == 0
    process = start(large, output, "--checkpoint", str(checkpoint), "--every", "0.01")
    wait_for(checkpoint)
    process.send_signal(number)
    _, said = process.communicate(timeout=60)
    assert process.returncode == code
    if number != signal.SIGKILL:
        assert f"--resume {checkpoint}" in said
    assert not output.exists()
    assert start(large, output, "--resume", str(checkpoint)).wait(120) == 0
    np.testing.assert_array_equal(np.load(output), np.load(whole))
    assert not checkpoint.exists()
    assert not list(tmp_path.glob("*.prepared"))


def test_stopped_without_a_checkpoint(large, tmp_path):
    process = start(large, tmp_path / "map.npy")
    time.sleep(3)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "--checkpoint" in said
    assert sorted(path.name for path in tmp_path.iterdir()) == ["large.npy"]


def test_checkpoints_of_other_runs_are_refused(large, tmp_path):
    checkpoint = tmp_path / "run.checkpoint"
    process = start(large, tmp_path / "map.npy", "--checkpoint", str(checkpoint), "--every", "0.01")
    wait_for(checkpoint)
    process.kill()
    process.wait()
    other = start(large, tmp_path / "map.npy", "--resume", str(checkpoint), "--perplexity", "20")
    assert "was made with perplexity=30.0, this run has 20.0" in other.communicate(timeout=60)[1]
    assert other.returncode == 1
    np.save(large, np.load(large)[::-1])
    other = start(large, tmp_path / "map.npy", "--resume", str(checkpoint))
    assert "is of other data" in other.communicate(timeout=60)[1]
