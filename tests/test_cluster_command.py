"""`pixelsne embed --cluster` when it is stopped or fails: files left and messages. Runs without a cluster."""

import signal
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from click.testing import CliRunner

from pixelsne.cli import main
from pixelsne.commands.interrupts import Stopped
from pixelsne.descent_loop import Snapshot
from pixelsne.distributed.checkpoint import RUN
from pixelsne.files.atomic_write import atomic_directory, incomplete_folders
from pixelsne.files.errors import FileError


class Run:
    """A run of two parts on two workers, written after three iterations. `fail` is raised after the first part."""

    def __init__(self, fail=None, checkpoint=None, second_worker_sees_nothing=False):
        self.fail, self.checkpoint, self.second_worker_sees_nothing = fail, checkpoint, second_worker_sees_nothing
        self.partitions, self.runner = SimpleNamespace(rows=20, columns=2, names=("a", "b")), SimpleNamespace(shards=2)
        self.iteration, self.kl, self.stopped_by, self.timings, self.folder = 0, 1.5, "max_iter", {}, None

    def run(self, function, *arguments):
        return {
            "tcp://a": function(*arguments),
            "tcp://b": function(*arguments) and not self.second_worker_sees_nothing,
        }

    def snapshots(self):
        for self.iteration in (1, 2, 3):
            yield Snapshot(self.iteration, "late", self.iteration / 3)

    def write(self, paths, _options, targets, _figures):
        for number, target in enumerate(targets):
            if number == 1 and self.fail is not None:
                raise self.fail
            Path(target).write_text("part", encoding="utf-8")
        return 10 * len(paths)

    def write_checkpoint(self):
        if self.checkpoint is None:
            return False
        (self.checkpoint / RUN).touch()
        return True


@pytest.fixture
def embed(tmp_path, monkeypatch):
    """Return a function that runs the command in a folder with two files of points."""
    monkeypatch.chdir(tmp_path)
    Path("points").mkdir()
    for name in "ab":
        np.save(f"points/{name}.npy", np.zeros((10, 2)))

    def run(work, *options, output="map"):
        @contextmanager
        def connect(*_address):
            yield work

        monkeypatch.setattr("pixelsne.commands.cluster.connect", connect)
        monkeypatch.setattr("pixelsne.commands.cluster.start_files", lambda *_, **__: work)
        return CliRunner().invoke(main, ["embed", "points", "-o", output, "--cluster", "local", *options])

    return run


def names():
    return sorted(path.name for path in Path().iterdir() if path.name != "points")


@pytest.mark.parametrize("fail", [Stopped(signal.SIGINT), OSError(28, "No space left on device", "b.parquet")])
def test_a_failure_while_parts_are_written_leaves_no_file(fail, embed):
    result = embed(Run(fail))
    assert result.exit_code == (130 if isinstance(fail, Stopped) else 1)
    assert names() == []
    if isinstance(fail, Stopped):
        assert result.stderr == "pixelsne: stopped, nothing written; pass --checkpoint FOLDER to be able to resume\n"
    else:
        assert result.stderr == "pixelsne: b.parquet: No space left on device\n"
    assert embed(Run()).exit_code == 0
    assert names() == ["map"]
    assert sorted(path.name for path in Path("map").iterdir()) == ["a.parquet", "b.parquet"]


def test_a_stopped_run_is_saved_in_its_checkpoint(embed, tmp_path):
    checkpoint = tmp_path / "run"
    checkpoint.mkdir()
    result = embed(Run(Stopped(signal.SIGTERM), checkpoint), "--checkpoint", "run")
    assert result.exit_code == 143
    assert result.stderr == (
        "pixelsne: stopped at iteration 3, nothing written; run the same command again to continue from run\n"
    )


def test_a_forced_stop_saves_no_checkpoint(embed, tmp_path):
    checkpoint = tmp_path / "run"
    checkpoint.mkdir()
    forced = Run(Stopped(signal.SIGINT, forced=True), checkpoint)
    result = embed(forced, "--checkpoint", "run")
    assert "stopped before the map began to form, nothing written: there is nothing to resume" in result.stderr
    (checkpoint / RUN).touch()
    result = embed(forced, "--checkpoint", "run")
    assert "stopped, nothing written; run the same command again to continue from run" in result.stderr


def test_a_stop_after_the_last_part_reports_the_complete_map(embed, monkeypatch):
    def rename(path, target):
        target.mkdir()
        path.rmdir()
        raise Stopped(signal.SIGINT)

    monkeypatch.setattr(Path, "rename", rename)
    work = Run()
    monkeypatch.setattr(work, "write", lambda *_: 20)
    result = embed(work)
    assert result.exit_code == 130
    assert result.stderr == "pixelsne: stopped when the map was complete: map\n"
    assert names() == ["map"]


def test_a_stop_reports_parts_left_in_an_object_store(embed, monkeypatch):
    work = Run(Stopped(signal.SIGINT))

    def write(*_):
        raise work.fail

    monkeypatch.setattr(work, "write", write)
    result = embed(work, output="memory://bucket/map")
    assert "stopped, memory://bucket/map may hold parts of the map; pass --checkpoint FOLDER" in result.stderr


def test_leftovers_of_a_killed_run_are_reported(embed):
    leftover = Path(".map.0123456789abcdef")
    leftover.mkdir()
    Path(".map.old").mkdir()
    result = embed(Run())
    assert result.exit_code == 0
    assert result.stderr.startswith(f"pixelsne: {leftover.absolute()}: parts of a map that was not completed; delete")
    assert len(result.stderr.splitlines()) == 1
    assert names() == [leftover.name, ".map.old", "map"]


def test_a_folder_that_a_worker_cannot_see_is_refused_before_the_run(embed, tmp_path):
    result = embed(Run(second_worker_sees_nothing=True), output="deep/map")
    assert result.exit_code == 1
    assert result.stderr == (
        f"pixelsne: {tmp_path}/deep: is not seen by the worker at tcp://b; choose a folder that all machines share\n"
    )
    assert list(Path("deep").iterdir()) == []


@pytest.mark.parametrize("folder", ["map", "./map", "points"])
def test_colliding_folders_are_refused(folder, embed):
    result = embed(Run(), "--checkpoint", folder)
    assert result.exit_code == 1
    assert "give each a different name" in result.stderr or "is an input (INPUT)" in result.stderr


def test_folders_are_written_atomically(tmp_path):
    target = tmp_path / "map"
    with atomic_directory(target) as folder:
        (folder / "part").touch()
        assert not target.exists()
        assert incomplete_folders(target) == [folder]
    assert [path.name for path in target.iterdir()] == ["part"]
    assert incomplete_folders(target) == []


def test_files_are_kept_if_the_folder_exists_by_then(tmp_path):
    target = tmp_path / "map"
    message = r"map: cannot be created: .*; its files are in .*/\.map\.[0-9a-f]{16}"
    with pytest.raises(FileError, match=message), atomic_directory(target) as folder:
        (folder / "part").touch()
        target.mkdir()
        (target / "other").touch()
    assert [path.name for path in folder.iterdir()] == ["part"]
    assert [path.name for path in target.iterdir()] == ["other"]
