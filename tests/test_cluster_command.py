"""`pixelsne embed --cluster` when it is stopped or fails: what is left, and what is said. Without a cluster."""

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
    """Two parts on two workers, written after three iterations; `fail` is raised after the first part."""

    def __init__(self, fail=None, checkpoint=None, blind=False):
        self.fail, self.checkpoint, self.blind = fail, checkpoint, blind
        self.partitions, self.runner = SimpleNamespace(rows=20, columns=2, names=("a", "b")), SimpleNamespace(shards=2)
        self.iteration, self.kl, self.stopped_by, self.timings, self.folder = 0, 1.5, "max_iter", {}, None

    def run(self, function, *arguments):
        return {"tcp://a": function(*arguments), "tcp://b": function(*arguments) and not self.blind}

    def snapshots(self):
        for self.iteration in (1, 2, 3):
            yield Snapshot(self.iteration, "late", self.iteration / 3)

    def write(self, paths, _wanted, targets, _figures):
        for number, target in enumerate(targets):
            if number == 1 and self.fail is not None:
                raise self.fail
            Path(target).write_text("part", encoding="utf-8")
        return 10 * len(paths)

    def keep(self):
        if self.checkpoint is None:
            return False
        (self.checkpoint / RUN).touch()
        return True


@pytest.fixture
def embed(tmp_path, monkeypatch):
    """The command, in a folder with two files of points."""
    monkeypatch.chdir(tmp_path)
    Path("points").mkdir()
    for name in "ab":
        np.save(f"points/{name}.npy", np.zeros((10, 2)))

    def run(work, *options, output="map"):
        @contextmanager
        def connect(*_given):
            yield work

        monkeypatch.setattr("pixelsne.commands.cluster.connect", connect)
        monkeypatch.setattr("pixelsne.commands.cluster.start_files", lambda *_, **__: work)
        return CliRunner().invoke(main, ["embed", "points", "-o", output, "--cluster", "local", *options])

    return run


def names():
    return sorted(path.name for path in Path().iterdir() if path.name != "points")


@pytest.mark.parametrize("fail", [Stopped(signal.SIGINT), OSError(28, "No space left on device", "b.parquet")])
def test_what_is_cut_off_while_it_is_written_leaves_nothing(fail, embed):
    finished = embed(Run(fail))
    assert finished.exit_code == (130 if isinstance(fail, Stopped) else 1)
    assert names() == []
    if isinstance(fail, Stopped):
        assert finished.stderr == "pixelsne: stopped, nothing written; pass --checkpoint FOLDER to be able to resume\n"
    else:
        assert finished.stderr == "pixelsne: b.parquet: No space left on device\n"
    assert embed(Run()).exit_code == 0
    assert names() == ["map"]
    assert sorted(path.name for path in Path("map").iterdir()) == ["a.parquet", "b.parquet"]


def test_a_run_that_is_stopped_is_kept(embed, tmp_path):
    kept = tmp_path / "run"
    kept.mkdir()
    finished = embed(Run(Stopped(signal.SIGTERM), kept), "--checkpoint", "run")
    assert finished.exit_code == 143
    assert finished.stderr == (
        "pixelsne: stopped at iteration 3, nothing written; run the same command again to continue from run\n"
    )


def test_a_run_that_is_stopped_at_once_is_not(embed, tmp_path):
    kept = tmp_path / "run"
    kept.mkdir()
    forced = Run(Stopped(signal.SIGINT, forced=True), kept)
    finished = embed(forced, "--checkpoint", "run")
    assert "stopped before the map began to form, nothing written: there is nothing to resume" in finished.stderr
    (kept / RUN).touch()
    finished = embed(forced, "--checkpoint", "run")
    assert "stopped, nothing written; run the same command again to continue from run" in finished.stderr


def test_a_map_that_is_complete_is_not_denied(embed, monkeypatch):
    def arrive(path, target):
        target.mkdir()
        path.rmdir()
        raise Stopped(signal.SIGINT)

    monkeypatch.setattr(Path, "rename", arrive)
    work = Run()
    monkeypatch.setattr(work, "write", lambda *_: 20)
    finished = embed(work)
    assert finished.exit_code == 130
    assert finished.stderr == "pixelsne: stopped when the map was complete: map\n"
    assert names() == ["map"]


def test_parts_in_an_object_store_are_not_denied(embed, monkeypatch):
    work = Run(Stopped(signal.SIGINT))

    def write(*_):
        raise work.fail

    monkeypatch.setattr(work, "write", write)
    finished = embed(work, output="memory://bucket/map")
    assert "stopped, memory://bucket/map may hold parts of the map; pass --checkpoint FOLDER" in finished.stderr


def test_what_a_kill_has_left_is_told(embed):
    left = Path(".map.0123456789abcdef")
    left.mkdir()
    Path(".map.old").mkdir()
    finished = embed(Run())
    assert finished.exit_code == 0
    assert finished.stderr.startswith(f"pixelsne: {left.absolute()}: parts of a map that was not completed; delete")
    assert len(finished.stderr.splitlines()) == 1
    assert names() == [left.name, ".map.old", "map"]


def test_a_folder_that_a_worker_does_not_see_is_refused_before_the_run(embed, tmp_path):
    finished = embed(Run(blind=True), output="deep/map")
    assert finished.exit_code == 1
    assert finished.stderr == (
        f"pixelsne: {tmp_path}/deep: is not seen by the worker at tcp://b; choose a folder that all machines share\n"
    )
    assert list(Path("deep").iterdir()) == []


@pytest.mark.parametrize("folder", ["map", "./map", "points"])
def test_folders_that_collide_are_refused(folder, embed):
    finished = embed(Run(), "--checkpoint", folder)
    assert finished.exit_code == 1
    assert "give each a different name" in finished.stderr or "is an input (INPUT)" in finished.stderr


def test_a_folder_appears_when_it_is_complete(tmp_path):
    target = tmp_path / "map"
    with atomic_directory(target) as folder:
        (folder / "part").touch()
        assert not target.exists()
        assert incomplete_folders(target) == [folder]
    assert [path.name for path in target.iterdir()] == ["part"]
    assert incomplete_folders(target) == []


def test_a_folder_whose_name_was_taken_keeps_its_files(tmp_path):
    target = tmp_path / "map"
    message = r"map: cannot be created: .*; its files are in .*/\.map\.[0-9a-f]{16}"
    with pytest.raises(FileError, match=message), atomic_directory(target) as folder:
        (folder / "part").touch()
        target.mkdir()
        (target / "other").touch()
    assert [path.name for path in folder.iterdir()] == ["part"]
    assert [path.name for path in target.iterdir()] == ["other"]
