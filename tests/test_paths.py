"""Paths that commands read and write: collisions and paths that cannot be written are refused before the run."""

import errno
import fcntl
import json
import os
import socket
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from command_line import QUICK, run
from pixelsne import PixelSNE
from pixelsne.files import atomic_write as module
from pixelsne.files.archive import DamagedFileError, write_archive
from pixelsne.files.atomic_write import atomic_write, remove_stale_links
from pixelsne.files.errors import FileError
from pixelsne.files.paths import check_disk_space, check_writable, file_identity
from pixelsne.files.read_map import read_map
from pixelsne.files.read_points import read_points


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def points(folder):
    np.save(folder / "points.npy", np.random.default_rng(0).normal(size=(60, 4)))
    return folder / "points.npy"


def refused(*arguments):
    """Run a command that must fail before it reads, and return its message."""
    return run("embed", *arguments, *QUICK, expect=1).stderr


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--checkpoint", "ck", "--model", "ck.prepared"], "--model and --checkpoint (.prepared)"),
        (["--checkpoint", "sub/../ck", "--model", "ck.prepared"], "--model and --checkpoint (.prepared)"),
        (["--resume", "ck", "--model", "ck"], "--model and --checkpoint;"),
        (["--checkpoint", "map.npy"], "-o and --checkpoint;"),
        (["--html", "link.html", "--plot", "link.png"], "--plot and --html"),
        (["--model", "hard.model", "--checkpoint", "other"], "is an input (INPUT) that --model would overwrite"),
        (["--model", "same.model"], "is an input (INPUT)"),
        (["--init", "run.prepared", "--checkpoint", "run"], "is an input (--init)"),
        (["--checkpoint", "new", "--resume", "ck", "--model", "ck.prepared"], "is an input (--resume (.prepared))"),
        (["--checkpoint", "ck.prepared", "--resume", "ck"], "is an input (--resume (.prepared))"),
    ],
)
def test_colliding_paths_are_refused(options, message, points, folder, monkeypatch):
    monkeypatch.setattr("pixelsne.commands.embed.read_input", lambda *_: pytest.fail("was read"))
    (folder / "sub").mkdir()
    for name in ("link.html", "link.png"):
        (folder / name).symlink_to("nothing yet")
    os.link(points, folder / "hard.model")
    (folder / "same.model").symlink_to(points)
    (folder / "run.prepared").write_bytes(b"precious")
    (folder / "ck").write_bytes(b"precious")
    assert message in refused(points, "-o", "map.npy", *options)
    assert (folder / "run.prepared").read_bytes() == b"precious"


def test_all_names_of_a_file_have_one_identity(folder):
    (folder / "here").symlink_to(folder)
    assert file_identity(Path("here/x/new")) == file_identity(Path("x/../x/new"))
    assert file_identity(Path("a")) != file_identity(Path("b"))


def test_outputs_that_are_not_regular_files_are_refused(points, folder):
    os.mkfifo("fifo.npy")
    server = socket.socket(socket.AF_UNIX)
    server.bind("socket.npy")
    (folder / "null.npy").symlink_to("/dev/null")
    for name, kind in (("fifo.npy", "a FIFO"), ("socket.npy", "a socket"), ("null.npy", "a device")):
        assert f"{name}: is {kind}; give the name of a regular file" in refused(points, "-o", name)
        assert f"{name}: is {kind}" in refused(name, "-o", "map.npy")
        with pytest.raises(FileError, match=kind), atomic_write(Path(name)):
            pass
    server.close()
    assert Path("/dev/null").is_char_device()


def test_writing_through_a_symlink_keeps_the_link(points, folder):
    (folder / "data").mkdir()
    (folder / "data" / "old.npy").write_bytes(b"old")
    for name in ("old.npy", "new.npy"):
        link = folder / f"link-{name}"
        link.symlink_to(f"data/{name}")
        run("embed", points, "-o", link, *QUICK)
        assert link.is_symlink()
        assert np.load(folder / "data" / name).shape == (60, 2)
    (folder / "loop.npy").symlink_to("loop.npy")
    assert "is a symbolic link to itself" in refused(points, "-o", "loop.npy")


def test_too_long_names_are_refused_before_the_fit(points, monkeypatch):
    monkeypatch.setattr("pixelsne.commands.embed.read_input", lambda *_: pytest.fail("was read"))
    for options in (["-o", "m" * 260 + ".npy"], ["-o", "m.npy", "--checkpoint", "c" * 250]):
        assert "250 bytes" in (stderr := refused(points, *options)) or "255 bytes" in stderr or "too long" in stderr


def test_a_long_name_can_be_overwritten(points):
    name = "m" * 251 + ".npy"
    for _ in range(2):
        run("embed", points, "-o", name, *QUICK)
    assert read_map(name).placed.shape == (60, 2)


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EACCES, errno.EROFS])
def test_a_folder_that_cannot_be_written_is_refused_before_the_fit(number, points, monkeypatch):
    def fail(*_):
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr("pixelsne.files.paths.os.fsync", fail)
    monkeypatch.setattr("pixelsne.commands.embed.read_input", lambda *_: pytest.fail("was read"))
    stderr = refused(points, "-o", "map.npy")
    assert "map.npy: cannot be written" in stderr
    assert os.strerror(number) in stderr


def test_results_larger_than_the_disk_are_refused_before_the_fit(points, monkeypatch):
    monkeypatch.setattr("pixelsne.commands.embed.run_fit", lambda *_: pytest.fail("was run"))
    monkeypatch.setattr("pixelsne.files.paths.shutil.disk_usage", lambda _: Free)
    assert "map.npy: cannot be written: results take at least" in refused(points, "-o", "map.npy")
    with pytest.raises(FileError, match=r"two: cannot be written"):
        check_disk_space({Path("one"): 60, Path("two"): 60})


class Free:
    free = 100


def test_the_check_leaves_no_file(folder):
    check_writable(folder / "new" / "folder" / "map.npy")
    assert list(folder.iterdir()) == []


@pytest.mark.slow
def test_a_full_disk_does_not_end_a_run_with_checkpoints(points, folder, monkeypatch):
    real, calls = module.flush, []

    def fail_sometimes(file):
        calls.append(1)
        if len(calls) in {1, 3, 4}:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        real(file)

    monkeypatch.setattr(module, "flush", fail_sometimes)
    options = ["--perplexity", "10", "--max-iter", "60", "--checkpoint", "ck", "--every", "0"]
    stderr = run("embed", points, "-o", "map.npy", *options).stderr
    assert stderr.count("ck: no checkpoint written: No space left on device; the run continues and tries again") == 3
    expected = PixelSNE(perplexity=10, max_iter=60, random_state=0).fit_transform(np.load(points))
    np.testing.assert_array_equal(np.load(folder / "map.npy"), expected)
    assert {path.name for path in folder.iterdir()} == {"points.npy", "map.npy"}


def test_an_error_of_a_full_disk_names_the_file(points, folder, monkeypatch):
    def fail(_file):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(module, "flush", fail)
    assert refused(points, "-o", "map.npy") == "pixelsne: map.npy: No space left on device\n"
    with pytest.raises(OSError, match="is the disk full") as caught, atomic_write(Path("other")):
        raise OSError("8 requested and 2 written")
    assert caught.value.filename == "other"
    assert {path.name for path in folder.iterdir()} == {"points.npy"}


def write(path, content):
    with atomic_write(path) as file:
        file.write(content)


@pytest.fixture
def unnamed(folder):
    handle = module.open_unnamed(folder)
    if handle is None:
        pytest.skip("this file system has no files without a name")
    os.close(handle)


@pytest.mark.usefixtures("unnamed")
def test_a_new_file_never_has_a_temporary_name(folder, monkeypatch):
    monkeypatch.setattr(module, "hidden_name", lambda _: pytest.fail("a kill could leave this behind"))
    write(folder / "new", b"1")
    assert (folder / "new").read_bytes() == b"1"


@pytest.mark.usefixtures("unnamed")
def test_leftovers_of_killed_writers_are_removed(folder):
    write(folder / "map", b"1")
    stale, foreign, other = folder / f".map.{'a' * 16}", folder / ".map.backup", folder / f".mapx.{'a' * 16}"
    alive, link = folder / f".map.{'b' * 16}", folder / f".map.{'c' * 16}"
    for path in (stale, foreign, other, alive):
        path.write_bytes(b"0")
    link.symlink_to(foreign)
    (folder / f".map.{'d' * 16}").mkdir()
    with alive.open("rb") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        write(folder / "map", b"2")
        assert not stale.exists()
        assert alive.exists()
    remove_stale_links(folder / "map")
    assert {path.name for path in folder.iterdir()} == {"map", foreign.name, other.name, link.name, f".map.{'d' * 16}"}
    assert (folder / "map").read_bytes() == b"2"


@pytest.mark.usefixtures("unnamed")
def test_a_temporary_name_is_locked_while_its_writer_lives(folder, monkeypatch):
    write(folder / "map", b"1")
    real, seen = os.replace, []

    def check_link(second, name, **folders):
        remove_stale_links(folder / "map")
        seen.append((folder / second).exists())
        real(second, name, **folders)

    monkeypatch.setattr(module.os, "replace", check_link)
    write(folder / "map", b"2")
    assert seen == [True]


DEEP = '{"a":' * 100_000 + "1" + "}" * 100_000


def test_deeply_nested_json_is_an_error_with_the_file():
    table = pa.table({"x": [1.0, 2.0], "y": [1.0, 2.0]}).replace_schema_metadata({"pixelsne": DEEP})
    pq.write_table(table, "map.parquet")
    assert "map.parquet: is damaged" in run("plot", "map.parquet", "-o", "map.png", expect=1).stderr
    np.savez("map.npz", embedding=np.ones((3, 2)), pixelsne=np.array(DEEP))
    with pytest.raises(FileError, match=r"map\.npz: is damaged"):
        read_map("map.npz")
    write_archive("model", {"kind": "pixelsne model", "version": 1, "parameters": nested(900)}, {})
    with pytest.raises(DamagedFileError, match="model is damaged"):
        PixelSNE.load("model")


def nested(depth):
    return json.loads("[" * depth + "]" * depth)


def test_any_error_of_a_reader_names_the_file(monkeypatch):
    np.save("values.npy", np.eye(3))
    monkeypatch.setattr("pixelsne.files.numpy_format.matrix_source", lambda *_: 1 / 0)
    with pytest.raises(FileError, match=r"values\.npy: cannot be read: division by zero"):
        read_points("values.npy")


@pytest.mark.slow
def test_dates_out_of_range_are_shown():
    far = pa.array([4_000_000, 1, None] * 20, pa.int32()).view(pa.date32())
    columns = {
        "a": np.random.default_rng(0).normal(size=60),
        "b": np.random.default_rng(1).normal(size=60),
        "day": far,
        "moment": pa.array([2**62, 1, None] * 20, pa.int64()).view(pa.timestamp("us")),
        "zone": pa.array([5, 6, None] * 20, pa.int64()).view(pa.timestamp("ms", "Nowhere/Land")),
        "span": pa.array([2**60, 1, None] * 20, pa.int64()).view(pa.duration("s")),
        "days": pa.ListArray.from_arrays(np.arange(61), far),
    }
    pq.write_table(pa.table(columns), "points.parquet")
    for output in ("map.parquet", "map.npz", "map.csv", "map.h5ad"):
        pictures = ["--html", "map.html", "--plot", "map.png", "--label", "day"]
        run("embed", "points.parquet", "-o", output, "--columns", "a,b", *pictures, *QUICK)
    from pixelsne.viewer.layout import columns_of  # noqa: PLC0415 - imported where it is used

    shown = {column.name: column for column in columns_of(read_map("map.parquet").extra_columns)}
    days = np.frombuffer(shown["day"].content, dtype="<f8") / 86_400_000
    assert shown["day"].kind == shown["moment"].kind == "date"
    np.testing.assert_array_equal(days[:3], [4_000_000, 1, np.nan])
