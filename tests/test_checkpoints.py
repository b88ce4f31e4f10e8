"""Stopped runs resume to the same bits, and checkpoints of other runs are refused."""

import os
import signal
import subprocess
import sys
import time
import zipfile
from dataclasses import replace

import numpy as np
import pytest
from click.testing import CliRunner

from pixelsne import PixelSNE
from pixelsne.cli import main
from pixelsne.commands.interrupts import Signals, Stopped, handle_signals
from pixelsne.files.archive import read_archive, write_archive
from pixelsne.files.atomic_write import atomic_write
from pixelsne.files.checkpoint import Checkpoint, identity_of, prepared_path, resume
from pixelsne.files.errors import FileError
from pixelsne.files.identity import fingerprint


def make_checkpoint(model, values, path, iterations, fixed=None):
    """Write a checkpoint after `iterations` iterations; return the identity of the run."""
    run = model.make_run(values, fixed=fixed)
    identity = identity_of(values, run.settings, fixed=run.fixed)
    checkpoint = Checkpoint(path, run, identity, 1e9, prepared_exists=False)
    assert not checkpoint.write(), "nothing to keep yet"
    for snapshot in run.snapshots():
        checkpoint.write_if_due(snapshot)
        if snapshot.iteration == iterations:
            break
    assert checkpoint.write()
    return identity


def resume_run(model, values, path, fixed=None):
    run = model.make_run(values, fixed=fixed)
    resume(path, run, identity_of(values, run.settings, fixed=run.fixed))
    for _ in run.snapshots():
        pass
    model.set_results(run)
    return model


MODELS = {
    "exact": {"repulsion": "exact"},
    "field": {"repulsion": "pixel-field"},
    "pixel tree": {"repulsion": "pixel-tree", "neighbors": "rp-forest"},
    "reordered": {"neighbors": "clusters", "repulsion": "pixel-field", "resolution": (300, 200), "aspect": "equal"},
    "paper": {"early_exaggeration_iter": 30, "momentum": (0.5, 0.8), "init": "random", "step_limit": None},
    "settled": {"tol": 1000.0},
    "other metric": {"metric": "cityblock"},
    "cosine": {"metric": "cosine", "n_pca": 10},
}


@pytest.mark.slow
@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("iterations", [1, 57, 100, 119])
def test_a_resumed_run_has_the_same_bits(name, iterations, digits, tmp_path):
    values = digits[0][:700]
    parameters = {"perplexity": 10, "max_iter": 120, "random_state": 3, **MODELS[name]}
    whole = PixelSNE(**parameters, n_jobs=2).fit(values)
    path = tmp_path / "run.ckpt"
    make_checkpoint(PixelSNE(**parameters, n_jobs=1), values, path, min(iterations, whole.n_iter_ - 1))
    resumed = resume_run(PixelSNE(**parameters, n_jobs=2), values, path)
    np.testing.assert_array_equal(resumed.positions_, whole.positions_)
    np.testing.assert_array_equal(resumed.embedding_, whole.embedding_)
    assert resumed.kl_divergence_ == whole.kl_divergence_
    assert resumed.n_iter_ == whole.n_iter_
    assert resumed.stopped_by_ == whole.stopped_by_
    for column, values_before in whole.history_.items():
        np.testing.assert_array_equal(resumed.history_[column], values_before)
    np.testing.assert_array_equal(resumed.transform(digits[0][700:710]), whole.transform(digits[0][700:710]))


@pytest.mark.slow
@pytest.mark.parametrize("neighbors", ["exact", "clusters"])
@pytest.mark.parametrize("holds", [False, True], ids=["free", "fixed"])
def test_a_resumed_run_that_continues_a_map_has_the_same_bits(neighbors, holds, digits, tmp_path):
    values = np.concatenate([digits[0][:500], digits[0][:50]])  # equal rows
    start = PixelSNE(perplexity=10, max_iter=200, random_state=0).fit(values).positions_ + np.float32(3)
    fixed = np.arange(550) % 3 == 0 if holds else None
    parameters = {
        "perplexity": 10,
        "max_iter": 120,
        "tol": 0.2,
        "neighbors": neighbors,
        "init": start,
        "random_state": 3,
    }
    whole = PixelSNE(**parameters, init_scale=None, n_jobs=2).fit(values, fixed=fixed)
    for iterations in (1, 60):
        path = tmp_path / f"run {iterations}"
        make_checkpoint(PixelSNE(**parameters, init_scale=None, n_jobs=1), values, path, iterations, fixed)
        resumed = resume_run(PixelSNE(**parameters, init_scale=None, n_jobs=2), values, path, fixed)
        np.testing.assert_array_equal(resumed.positions_, whole.positions_)
        np.testing.assert_array_equal(resumed.history_["moved"], whole.history_["moved"])
        assert resumed.n_iter_ == whole.n_iter_


def test_checkpoints_of_another_start_or_other_fixed_rows_are_refused(clusters, tmp_path):
    parameters = {"perplexity": 10, "max_iter": 20, "random_state": 0, "init": clusters[:, :2]}
    fixed = np.arange(600) < 100
    make_checkpoint(PixelSNE(**parameters, init_scale=None), clusters, tmp_path / "run", 5, fixed)
    for other in (None, ~fixed):
        with pytest.raises(FileError, match="was made with other fixed rows"):
            resume_run(PixelSNE(**parameters, init_scale=None), clusters, tmp_path / "run", other)
    with pytest.raises(FileError, match=r"was made with init_scale None, this run has 0\.0001"):
        resume_run(PixelSNE(**parameters), clusters, tmp_path / "run")


@pytest.mark.slow
def test_runs_on_precomputed_distances_and_affinities_resume(clusters, tmp_path):
    from sklearn.neighbors import kneighbors_graph  # noqa: PLC0415

    graph = kneighbors_graph(clusters, 30, mode="distance").tocsr()
    affinities = graph.copy()
    affinities.data = np.exp(-affinities.data)
    for metric, values in (("precomputed", graph), ("affinities", affinities + affinities.T)):
        parameters = {"perplexity": 10, "max_iter": 60, "random_state": 0, "metric": metric}
        whole = PixelSNE(**parameters).fit(values)
        make_checkpoint(PixelSNE(**parameters), values, tmp_path / metric, 30)
        np.testing.assert_array_equal(
            resume_run(PixelSNE(**parameters), values, tmp_path / metric).positions_, whole.positions_
        )


def test_a_checkpoint_of_the_last_iteration_resumes(clusters, tmp_path):
    parameters = {"perplexity": 10, "max_iter": 60, "random_state": 0}
    whole = PixelSNE(**parameters).fit(clusters)
    make_checkpoint(PixelSNE(**parameters), clusters, tmp_path / "run", 60)
    np.testing.assert_array_equal(
        resume_run(PixelSNE(**parameters), clusters, tmp_path / "run").positions_, whole.positions_
    )


def test_timings_of_a_resumed_run_add_up(clusters, tmp_path):
    parameters = {"perplexity": 10, "max_iter": 60, "random_state": 0}
    make_checkpoint(PixelSNE(**parameters), clusters, tmp_path / "run", 30)
    before = read_archive(tmp_path / "run")[0]["timings"]
    after = resume_run(PixelSNE(**parameters), clusters, tmp_path / "run").timings_
    assert before["descent"] > 0
    assert after["descent"] > before["descent"]
    assert after["neighbors"] == before["neighbors"]


def test_the_prepared_data_are_written_once(clusters, tmp_path):
    path = tmp_path / "run"
    run = PixelSNE(perplexity=10, max_iter=20, random_state=0).make_run(clusters)
    checkpoint = Checkpoint(path, run, identity_of(clusters, run.settings), 0.0, prepared_exists=False)
    written = set()
    for snapshot in run.snapshots():
        checkpoint.write_if_due(snapshot)
        if snapshot.iteration > 0:
            written.add((prepared_path(path).stat().st_mtime_ns, prepared_path(path).stat().st_ino))
            assert read_archive(path)[0]["iteration"] == snapshot.iteration
    assert len(written) == 1
    assert path.stat().st_size < 40 * len(clusters) + 10_000
    checkpoint.remove()
    assert not list(tmp_path.iterdir())


CHANGES = {
    "perplexity": ({"perplexity": 12}, r"was made with perplexity \[10\.0\], this run has \[12\.0\]"),
    "seed": ({"random_state": 1}, "was made with seed"),
    "resolution": ({"resolution": 512}, r"was made with resolution \[1024, 1024\], this run has \[512, 512\]"),
    "max_iter": ({"max_iter": 70}, "was made with max_iter 60, this run has 70"),
    "init": ({"init": np.zeros((600, 2))}, "was made with init 'pca', this run has 'an array'"),
}


@pytest.mark.parametrize("change", CHANGES)
def test_different_settings_are_refused_by_name(change, clusters, tmp_path):
    parameters = {"perplexity": 10, "max_iter": 60, "random_state": 0}
    make_checkpoint(PixelSNE(**parameters), clusters, tmp_path / "run", 10)
    other, message = CHANGES[change]
    with pytest.raises(FileError, match=message):
        resume_run(PixelSNE(**parameters | other), clusters, tmp_path / "run")


def test_different_data_are_refused(clusters, tmp_path):
    parameters = {"perplexity": 10, "max_iter": 60, "random_state": 0}
    make_checkpoint(PixelSNE(**parameters), clusters, tmp_path / "run", 10)
    changed = clusters.copy()
    changed[500, 3] += 1e-4
    for other, message in (
        (changed, "other data: the same numbers of rows and columns, but other values"),
        (clusters[:-1], "other data: 600 rows, this run has 599"),
        (clusters[:, 1:], "other data: 20 columns, this run has 19"),
        (clusters.astype(np.float64), "other values"),
    ):
        with pytest.raises(FileError, match=message):
            resume_run(PixelSNE(**parameters), other, tmp_path / "run")


def test_equal_arrays_have_equal_fingerprints(clusters, tmp_path):
    np.save(tmp_path / "clusters.npy", np.asfortranarray(clusters))
    assert fingerprint(clusters) == fingerprint(np.load(tmp_path / "clusters.npy", mmap_mode="r"))
    assert fingerprint(clusters) != fingerprint(clusters[::-1])


@pytest.fixture
def checkpointed(clusters, tmp_path):
    model = PixelSNE(perplexity=10, max_iter=60, random_state=0)
    make_checkpoint(model, clusters, tmp_path / "run", 10)
    return model, clusters, tmp_path / "run"


def rewrite(path, change):
    document, arrays = read_archive(path)
    change(document, arrays)
    write_archive(path, document, arrays)


DAMAGES = {
    "no positions": lambda _, arrays: arrays.pop("positions"),
    "NaN": lambda _, arrays: arrays["velocity"].fill(np.nan),
    "fewer points": lambda _, arrays: arrays.update(gains=arrays["gains"][:-1].copy()),
    "later than the end": lambda document, _: document.update(iteration=61, next_step=61),
    "before the start": lambda document, _: document.update(iteration=0),
    "unknown end": lambda document, _: document.update(stopped_by="boredom"),
    "no timings": lambda document, _: document.update(timings={"descent": "long"}),
    "other kind": lambda document, _: document.update(kind="pixelsne model"),
    "newer": lambda document, _: document.update(version=99),
    "no identity": lambda document, _: document.update(run=None),
}
PREPARED_DAMAGES = {
    "column out of range": lambda _, arrays: arrays["p_columns"].__setitem__(0, 600),
    "negative column": lambda _, arrays: arrays["p_columns"].__setitem__(0, -1),
    "falling offsets": lambda _, arrays: arrays["p_offsets"].__setitem__(1, 10**6),
    "fewer values": lambda _, arrays: arrays.update(p_values=arrays["p_values"][:-1].copy()),
    "twisted order": lambda _, arrays: arrays.update(order=np.zeros(600, dtype=np.int32)),
    "fewer points": lambda _, arrays: arrays.update(points=arrays["points"][:-1].copy()),
    "no space": lambda document, _: document.pop("space"),
}


@pytest.mark.parametrize(
    ("in_prepared", "damage"), [*((False, name) for name in DAMAGES), *((True, name) for name in PREPARED_DAMAGES)]
)
def test_damaged_checkpoints_are_refused(in_prepared, damage, checkpointed):
    model, values, path = checkpointed
    rewrite(prepared_path(path) if in_prepared else path, (PREPARED_DAMAGES if in_prepared else DAMAGES)[damage])
    with pytest.raises(ValueError, match="run"):
        resume_run(model, values, path)


@pytest.mark.parametrize("in_prepared", [False, True])
def test_truncated_and_missing_halves_are_refused(in_prepared, checkpointed):
    model, values, path = checkpointed
    one = prepared_path(path) if in_prepared else path
    whole = one.read_bytes()
    one.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(ValueError, match="is damaged"):
        resume_run(model, values, path)
    one.unlink()
    with pytest.raises((FileError, FileNotFoundError), match="run"):
        resume_run(model, values, path)


def test_checkpoints_hold_no_code(checkpointed):
    for path in (checkpointed[2], prepared_path(checkpointed[2])):
        with zipfile.ZipFile(path) as archive:
            assert all(name == "document.json" or name.endswith(".npy") for name in archive.namelist())


# Signals


def test_the_first_signal_is_deferred_and_the_second_is_not():
    signals = Signals()
    with pytest.raises(Stopped) as stopped, signals.deferred():
        signals(signal.SIGTERM, None)
        done = True
    assert done
    assert stopped.value.exit_code == 143
    assert not stopped.value.forced
    with pytest.raises(Stopped) as stopped, signals.deferred():
        signals(signal.SIGINT, None)
        signals(signal.SIGINT, None)
    assert stopped.value.exit_code == 130
    assert stopped.value.forced
    with pytest.raises(Stopped):
        signals(signal.SIGINT, None)


def test_signal_handlers_are_restored():
    before = signal.getsignal(signal.SIGTERM)
    with handle_signals():
        assert signal.getsignal(signal.SIGTERM) is not before
        with pytest.raises(Stopped):
            os.kill(os.getpid(), signal.SIGTERM)
            time.sleep(1)
    assert signal.getsignal(signal.SIGTERM) is before


@pytest.mark.parametrize("unnamed", [True, False])
def test_files_are_written_atomically(unnamed, tmp_path, monkeypatch):
    if not unnamed:
        monkeypatch.setattr("pixelsne.files.atomic_write.open_unnamed", lambda _: None)
    path = tmp_path / "result"
    path.write_text("old")
    with atomic_write(path) as file:
        file.write(b"new")
        file.flush()
        assert path.read_text() == "old"
        if unnamed and hasattr(os, "O_TMPFILE"):
            assert [found.name for found in tmp_path.iterdir()] == ["result"]
    assert path.read_text() == "new"
    assert path.stat().st_mode & 0o777 == 0o666 & ~current_umask()
    with pytest.raises(RuntimeError), atomic_write(path) as file:
        file.write(b"newer")
        raise RuntimeError
    assert path.read_text() == "new"
    assert [found.name for found in tmp_path.iterdir()] == ["result"]


def current_umask():
    mask = os.umask(0)
    os.umask(mask)
    return mask


def save_large(folder):
    path = folder / "large.npy"
    np.save(path, np.random.default_rng(0).normal(size=(20_000, 20)).astype(np.float32))
    return path


@pytest.fixture
def large(tmp_path):
    return save_large(tmp_path)


@pytest.fixture(scope="module")
def map_of_large(tmp_path_factory):
    """The map of a run that is never stopped."""
    folder = tmp_path_factory.mktemp("whole")
    assert code_of(start(save_large(folder), folder / "map.npy")) == 0
    return np.load(folder / "map.npy")


def start(path, output, *arguments):
    command = [sys.executable, "-m", "pixelsne", "embed", str(path), "-o", str(output), "--max-iter", "150", *arguments]
    return subprocess.Popen(command, stderr=subprocess.PIPE, text=True)


def code_of(process):
    process.communicate(timeout=300)
    return process.returncode


def wait_for(path):
    for _ in range(1200):
        if path.exists():
            return
        time.sleep(0.05)
    pytest.fail(f"{path} did not appear")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGKILL, -signal.SIGKILL)]
)
def test_a_stopped_run_resumes_to_the_same_map(number, code, large, map_of_large, tmp_path):
    output, checkpoint = tmp_path / "map.npy", tmp_path / "run.ckpt"
    process = start(large, output, "--checkpoint", str(checkpoint), "--every", "0.01")
    wait_for(checkpoint)
    process.send_signal(number)
    _, stderr = process.communicate(timeout=300)
    assert process.returncode == code
    if number != signal.SIGKILL:
        assert f"--resume {checkpoint}" in stderr
    assert not output.exists()
    again = start(large, output, "--checkpoint", str(checkpoint))
    assert f"exists: continue from it with --resume {checkpoint}" in again.communicate(timeout=300)[1]
    assert again.returncode == 1
    assert code_of(start(large, output, "--resume", str(checkpoint))) == 0
    np.testing.assert_array_equal(np.load(output), map_of_large)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["large.npy", "map.npy"]


@pytest.mark.slow
def test_a_run_stopped_without_a_checkpoint_says_so(large, tmp_path):
    process = start(large, tmp_path / "map.npy", "--progress")
    for line in process.stderr:
        if "unfolding" in line:
            break
    process.send_signal(signal.SIGINT)
    _, stderr = process.communicate(timeout=300)
    assert process.returncode == 130
    assert "nothing written; pass --checkpoint FILE to be able to resume" in stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == ["large.npy"]


def test_a_stop_while_results_are_written_names_the_complete_ones(clusters, tmp_path, monkeypatch):
    np.save(tmp_path / "points.npy", clusters)
    written = [str(tmp_path / name) for name in ("map.npy", "map.png", "run")]
    options = ["-o", written[0], "--plot", written[1], "--checkpoint", written[2]]

    def stop(*_):
        raise Stopped(signal.SIGINT)

    for function, done in (("draw_map", f"complete: {written[0]}"), ("write_map", "none is complete")):
        monkeypatch.setattr(f"pixelsne.commands.results.{function}", stop)
        command = ["embed", str(tmp_path / "points.npy"), *options, "--resume", written[2], "--max-iter", "20"]
        finished = CliRunner().invoke(main, command)
        assert finished.exit_code == 130
        message = f"stopped while results were written, {done}; continue with --resume {written[2]}"
        assert finished.stderr == f"pixelsne: {message}\n"


@pytest.mark.slow
def test_a_resumed_run_may_write_another_checkpoint(large, tmp_path):
    """`--resume A --checkpoint B` continues from A and writes to B."""
    first, second = tmp_path / "first.ckpt", tmp_path / "second.ckpt"
    process = start(large, tmp_path / "map.npy", "--checkpoint", str(first), "--every", "0.01")
    wait_for(first)
    process.kill()
    process.communicate()
    process = start(large, tmp_path / "map.npy", "--resume", str(first), "--checkpoint", str(second), "--every", "0.01")
    wait_for(second)
    process.kill()
    process.communicate()
    assert prepared_path(second).exists()
    assert code_of(start(large, tmp_path / "map.npy", "--resume", str(second))) == 0
    assert not second.exists()
    assert first.exists(), "the other checkpoint must not be removed"


def test_every_setting_is_part_of_the_identity():
    """A new setting must become part of the identity of a run."""
    settings = PixelSNE(random_state=0).make_run(np.eye(100)).settings
    identity = identity_of(np.eye(100), settings)
    assert set(replace(settings).__dataclass_fields__) - {"threads"} <= set(identity)
