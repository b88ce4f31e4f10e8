"""Runs that are watched, stopped and left."""

import contextlib
import os
import pty
import subprocess
import sys
import threading

import numpy as np
import pytest

from pixelsne import PixelSNE, Screen, _core

QUICK = {"max_iter": 60, "early_exaggeration_iter": 30, "random_state": 0}


def test_callback_stops_and_keeps_the_map(digits):
    seen = []

    def stop(snapshot):
        seen.append(snapshot)
        return snapshot.iteration == 20

    model = PixelSNE(random_state=0, callback=stop).fit(digits[0])
    assert model.n_iter_ == 20
    assert model.stopped_by_ == "callback"
    assert list(dict.fromkeys(snapshot.phase for snapshot in seen)) == [
        "reduce",
        "neighbors",
        "affinities",
        "early",
    ]


def test_ctrl_c_keeps_the_map_so_far(digits):
    def interrupt(snapshot):
        if snapshot.iteration == 20:
            raise KeyboardInterrupt

    model = PixelSNE(random_state=0, callback=interrupt).fit(digits[0])
    assert (model.n_iter_, model.stopped_by_) == (20, "interrupt")
    assert "descent" in model.timings_


def test_ctrl_c_before_the_descent_is_raised(digits):
    def interrupt(snapshot):
        if snapshot.phase == "neighbors":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        PixelSNE(callback=interrupt).fit(digits[0])


@pytest.mark.slow
def test_iter_fit_is_fit(digits):
    model = PixelSNE(**QUICK)
    snapshots = list(model.iter_fit(digits[0]))
    assert snapshots[-1].iteration == 60
    assert np.array_equal(model.embedding_, PixelSNE(**QUICK).fit_transform(digits[0]))


def test_an_abandoned_iter_fit_keeps_the_map_so_far(digits):
    model = PixelSNE(**QUICK)
    snapshots = model.iter_fit(digits[0])
    for snapshot in snapshots:
        if snapshot.iteration == 10:
            break
    snapshots.close()
    assert (model.n_iter_, model.stopped_by_) == (10, "callback")


@pytest.mark.slow
def test_verbose_writes_lines_where_stderr_is_a_file(digits, capfd, monkeypatch):
    for name in ("FORCE_COLOR", "TTY_COMPATIBLE"):
        monkeypatch.delenv(name, raising=False)
    PixelSNE(verbose=True, **QUICK).fit(digits[0])
    out, err = capfd.readouterr()
    assert out == ""
    lines = err.splitlines()
    assert [name for name in ("reducing", "neighbors", "affinities", "unfolding", "settling") if name in err] == [
        "reducing",
        "neighbors",
        "affinities",
        "unfolding",
        "settling",
    ]
    assert "iteration 60" in lines[-1]
    assert len(lines) < 30
    assert "\x1b" not in err, "no codes for terminals in a file"


def read_to_the_end(terminal):
    """A terminal whose other side is closed ends with an error."""
    parts = []
    with os.fdopen(terminal, "rb", buffering=0) as file, contextlib.suppress(OSError):
        while part := file.read(65_536):
            parts.append(part)
    return b"".join(parts).decode()


@pytest.mark.slow
def test_verbose_shows_one_bar_in_a_terminal():
    code = """
import numpy as np
from pixelsne import PixelSNE
PixelSNE(verbose=True, perplexity=5, max_iter=60).fit(np.random.default_rng(0).normal(size=(300, 5)))
"""
    parent, child = pty.openpty()
    environment = {**os.environ, "TERM": "xterm-256color", "COLUMNS": "100"}
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=child, env=environment)
    os.close(child)
    deadline = threading.Timer(120, process.kill)
    deadline.start()
    shown = read_to_the_end(parent)
    deadline.cancel()
    out, _ = process.communicate()
    assert process.returncode == 0
    assert out == b""
    assert "iteration 60" in shown
    assert "KL" in shown
    assert "left" in shown


def test_a_numpy_true_stops_too(digits):
    model = PixelSNE(random_state=0, callback=lambda snapshot: np.bool_(snapshot.iteration == 5)).fit(digits[0])
    assert (model.n_iter_, model.stopped_by_) == (5, "callback")


def test_true_before_there_is_a_map_stops_at_the_first_iteration(digits):
    model = PixelSNE(random_state=0, callback=lambda _snapshot: True).fit(digits[0])
    assert (model.n_iter_, model.stopped_by_) == (1, "callback")


def test_a_run_that_fails_teaches_nothing(digits):
    model = PixelSNE(learning_rate=1e30, step_limit=None, random_state=0)
    with pytest.raises(FloatingPointError):
        list(model.iter_fit(digits[0]))
    assert not hasattr(model, "embedding_")


@pytest.mark.slow
@pytest.mark.parametrize("last", [1, 30])
@pytest.mark.parametrize("when", ["before", "after"])
def test_an_interrupt_around_a_step_leaves_a_map_that_fits_its_screen(digits, monkeypatch, when, last):
    """A signal that arrives inside the core is raised as the call returns, the screen not yet renewed."""
    real_step, calls = _core.step, []

    def interrupted_step(*arguments):
        calls.append(1)
        if len(calls) == last and when == "before":
            raise KeyboardInterrupt
        bounds = real_step(*arguments)
        if len(calls) == last:
            raise KeyboardInterrupt
        return bounds

    monkeypatch.setattr(_core, "step", interrupted_step)
    model = PixelSNE(random_state=0).fit(digits[0])
    assert model.stopped_by_ == "interrupt"
    assert np.isfinite(model.kl_divergence_)
    expected = Screen.around(_core.bounds(model.positions_, 1), (1024, 1024), "equal").to_pixels(model.positions_)
    assert np.array_equal(model.embedding_, expected)


@pytest.mark.slow
def test_a_run_left_open_does_not_abort_the_interpreter():
    code = """
import numpy as np
from pixelsne import PixelSNE
snapshots = PixelSNE(neighbors="exact").iter_fit(np.random.default_rng(0).normal(size=(30_000, 50)))
for snapshot in snapshots:
    if snapshot.phase == "neighbors" and snapshot.fraction > 0:
        break
"""
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=False)
    assert result.returncode == 0, result.stderr
