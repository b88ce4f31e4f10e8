"""HDF5 is read in a child process: its failures are errors of one line, and Ctrl-C always works."""

import io
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import anndata
import h5py
import numpy as np
import pandas as pd
import pytest

from command_line import QUICK, run
from pixelsne.files import hdf5_child, hdf5_process
from pixelsne.files.errors import FileError
from pixelsne.files.read_points import read_points
from pixelsne.files.source import ReadOptions

VALUES = np.random.default_rng(0).normal(size=(40, 5)).astype(np.float32)


@pytest.fixture(scope="module")
def cells(tmp_path_factory):
    path = tmp_path_factory.mktemp("cells") / "cells.h5ad"
    table = pd.DataFrame({"kind": pd.Categorical(["a", "b"] * 20)}, index=[f"cell {row}" for row in range(40)])
    frame = pd.DataFrame({"u": VALUES[:, 0], "v": VALUES[:, 1]}, index=table.index)
    anndata.AnnData(VALUES, obs=table, obsm={"frame": frame}).write_h5ad(path, compression="gzip")
    return path


@pytest.mark.slow
def test_the_child_sends_the_content_of_the_file(cells, monkeypatch):
    small = "import pixelsne.files.hdf5_child as child; child.BLOCK_BYTES = 100; main("
    monkeypatch.setattr(hdf5_process, "PROGRAM", hdf5_process.PROGRAM.replace("main(", small))
    source = read_points(cells)
    np.testing.assert_array_equal(source.values, VALUES)
    assert source.extra_columns.column_names == ["cell", "kind"]
    assert source.extra_columns.column("cell")[39].as_py() == "cell 39"
    np.testing.assert_array_equal(read_points(cells, ReadOptions(representation="frame")).values, VALUES[:, :2])


def test_the_tasks_of_the_child_in_this_process(cells, tmp_path, monkeypatch):
    """In this process, to check what is sent."""
    monkeypatch.setattr(hdf5_child, "limit_seconds", lambda _seconds: None)
    monkeypatch.setattr(hdf5_child, "BLOCK_BYTES", 100)
    sent = io.BytesIO()
    hdf5_child.read({"path": str(cells), "representation": None}, hdf5_child.Sender(sent))
    assert VALUES[:5].tobytes() in sent.getvalue()
    with h5py.File(cells) as file:
        assert [part.shape for part in hdf5_child.matrix_parts(anndata.io, h5py, file["obsm/frame"])[2]] == [(40, 2)]
        with pytest.raises(ValueError, match="where numbers should be"):
            hdf5_child.matrix_parts(anndata.io, h5py, file["obs/_index"])
    copy = tmp_path / "copy.h5ad"
    copy.write_bytes(cells.read_bytes())
    with copy.open("r+b") as file:
        hdf5_child.write_map_into(file, VALUES[:, :2], '{"label": "kind"}', {})
    sent = io.BytesIO()
    hdf5_child.read_metadata({"path": str(copy)}, hdf5_child.Sender(sent))
    assert json.loads(json.loads(sent.getvalue())["metadata_json"]) == {"label": "kind"}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("program", "message"),
    [
        ("import os, signal; os.kill(os.getpid(), signal.SIGSEGV)", r"is damaged: HDF5 failed \(SIGSEGV\)"),
        ("import os, signal; os.kill(os.getpid(), signal.SIGKILL)", "was not read: its reader was killed"),
        ("import sys; sys.exit(3)", r"HDF5 failed \(exit code 3\)"),
        ('print(\'{"problem": "has no X"}\')', "has no X"),
        ('print(\'{"name": "X", "unpacked": 1}\'); print(\'{"kind": "dense", "par', "HDF5 failed"),
        (
            "from pixelsne.files.hdf5_child import limit_seconds\nlimit_seconds(1)\nwhile True: pass",
            "is damaged: HDF5 exceeded its time limit",
        ),
    ],
)
def test_a_failure_of_the_child_is_one_line(program, message, cells, monkeypatch):
    monkeypatch.setattr(hdf5_process, "PROGRAM", program)
    with pytest.raises(FileError, match=rf"cells\.h5ad: .*{message}"):
        read_points(cells)


def test_an_answer_larger_than_the_memory_is_refused(cells, monkeypatch):
    answers = [
        '{"name": "X", "unpacked": 1}',
        '{"kind": "dense", "shape": [9, 9], "parts": [["<f8", [1000000000, 999999]]]}',
    ]
    monkeypatch.setattr(hdf5_process, "PROGRAM", "\n".join(f"print({answer!r})" for answer in answers))
    with pytest.raises(FileError, match="unpacks to"):
        read_points(cells)


@pytest.fixture
def interruptible():
    """Let SIGINT raise KeyboardInterrupt, also if these tests run in the background of a shell, which ignores it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.slow
@pytest.mark.usefixtures("interruptible")
def test_an_interrupt_ends_a_child_that_hangs(cells, tmp_path, monkeypatch):
    started = tmp_path / "started"
    program = f"""
import os, signal, time
signal.signal(signal.SIGINT, signal.SIG_IGN)
open({str(started)!r}, "w").write(str(os.getpid()))
os.kill(os.getppid(), signal.SIGINT)
time.sleep(600)
"""
    monkeypatch.setattr(hdf5_process, "PROGRAM", program)
    with pytest.raises(KeyboardInterrupt):
        read_points(cells)
    with pytest.raises(ProcessLookupError):
        os.kill(int(started.read_text()), 0)


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_the_command_while_hdf5_hangs(number, cells, tmp_path):
    hang = "import os, signal, time; os.kill(os.getppid(), signal.%s); time.sleep(600)"
    program = f"""
from pixelsne.files import hdf5_process
hdf5_process.PROGRAM = {hang % number.name!r}
from pixelsne.cli import main
main(["embed", {str(cells)!r}, "-o", {str(tmp_path / "map.npy")!r}])
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 128 + number, done.stderr
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
def test_hdf5_is_never_loaded_by_the_command(cells, tmp_path):
    program = f"""
import sys
from pixelsne.cli import main
try:
    main(["embed", {str(cells)!r}, "-o", {str(tmp_path / "map.h5ad")!r}, "--perplexity", "5", "--max-iter", "20"])
except SystemExit as end:
    print(end.code, "h5py" in sys.modules)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["0", "False"]
    with h5py.File(tmp_path / "map.h5ad") as file:
        assert file["obsm/X_pixelsne"].shape == (40, 2)
    run("plot", tmp_path / "map.h5ad", "-o", tmp_path / "map.html")


@pytest.mark.slow
def test_a_crash_while_the_map_is_added_leaves_no_file(cells, tmp_path, monkeypatch):
    real = hdf5_process.PROGRAM
    crash = "import os, signal, sys\nif 'handle' in sys.argv[2]: os.kill(os.getpid(), signal.SIGSEGV)\n"
    monkeypatch.setattr(hdf5_process, "PROGRAM", crash + real)
    result = run("embed", cells, "-o", tmp_path / "map.h5ad", *QUICK, expect=1)
    assert f"{cells}: is damaged: HDF5 failed (SIGSEGV)" in result.stderr
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
def test_modules_of_the_working_directory_are_not_imported(cells, tmp_path, monkeypatch):
    Path(tmp_path, "json.py").write_text("raise SystemExit('ran foreign code')")
    monkeypatch.chdir(tmp_path)
    assert len(read_points(cells)) == 40


@pytest.mark.slow
def test_an_h5ad_with_more_cells_than_rows_is_refused(cells, tmp_path):
    path = tmp_path / "odd.h5ad"
    path.write_bytes(cells.read_bytes())
    with h5py.File(path, "r+") as file:
        del file["X"]
        file["X"] = VALUES[:30]
    with pytest.raises(FileError, match=r"odd\.h5ad: is damaged: it has 30 rows of numbers and 40 cells"):
        read_points(path)
