"""Live runs in a real browser: finished, stopped, failed, disconnected, and with a stalled client."""

import itertools
import socket
import threading
import time

import numpy as np
import pytest

from browser import Watched
from fruit_page import camera_of, picture, position_updates, settle, until
from pixelsne import PixelSNE, viewer
from pixelsne.viewer import watch_run
from pixelsne.viewer.layout import Page, columns_of, encode_positions
from pixelsne.viewer.live_run import Frame, LiveRun
from pixelsne.viewer.security import Secrets
from pixelsne.viewer.serving import serve


@pytest.fixture
def points():
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 5, 4000)
    return rng.normal(0, 4, (5, 20))[labels] + rng.normal(size=(4000, 20)), labels


def test_a_run_from_start_to_end(watched, points, monkeypatch):
    values, labels = points
    opened = threading.Event()

    def slow_until_opened(model, values, **arguments):
        for snapshot in model.iter_fit(values, **arguments):
            yield snapshot
            opened.wait(0.05)

    monkeypatch.setattr(watch_run, "snapshots_of", slow_until_opened)
    model = PixelSNE(max_iter=1500, tol=0, random_state=0)
    view = viewer.watch(model, values, columns={"label": labels.astype(str)}, open_browser=False)
    page = watched.open(view.address)
    until(lambda: position_updates(page) > 2)
    page.locator("#pause").click()
    page.wait_for_selector("html[data-run=paused]")
    opened.set()
    settle(page)
    iteration = page.locator("#run-status").inner_text()
    assert "paused" in iteration
    page.wait_for_timeout(700)
    assert page.locator("#run-status").inner_text() == iteration
    page.locator("#pause").click()
    page.wait_for_selector("html[data-run=finished]", timeout=120_000)
    assert "finished · iteration 1,500 · KL" in page.locator("#run-status").inner_text()
    view.wait()
    expected = PixelSNE(max_iter=1500, tol=0, random_state=0).fit_transform(values)
    np.testing.assert_array_equal(model.embedding_, expected)
    settle(page)
    assert page.locator("#pause").is_hidden()
    watched.page.close()
    view.close()


def test_a_run_is_stopped_and_kept(watched, points):
    model = PixelSNE(max_iter=100_000, tol=0, random_state=0)
    view = viewer.watch(model, points[0], open_browser=False)
    page = watched.open(view.address)
    until(lambda: position_updates(page) > 2)
    page.locator("#stop").click()
    page.wait_for_selector("html[data-run=stopped]", timeout=60_000)
    assert "stopped, the map is kept" in page.locator("#run-status").inner_text()
    view.wait()
    assert model.stopped_by_ == "callback"
    assert 0 < model.n_iter_ < 100_000
    watched.page.close()
    view.close()


def test_a_run_that_fails_says_why(watched):
    values = np.zeros((100, 3))
    values[5, 1] = np.nan
    view = viewer.watch(PixelSNE(), values, open_browser=False)
    page = watched.open(view.address)
    page.wait_for_selector("html[data-run=failed]", timeout=60_000)
    assert "NaN" in page.locator("#run-status").inner_text()
    watched.page.close()
    view.close()


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def test_a_server_that_comes_back(browser, points):
    """When the server is restarted, the page says so, keeps the map and reconnects."""
    watched = Watched(browser)
    port, keys = free_port(), Secrets()
    settings = {"max_iter": 100_000, "tol": 0, "random_state": 0}

    def start():
        return viewer.watch(PixelSNE(**settings), points[0], open_browser=False, port=port, keys=keys)

    view = start()
    page = watched.open(view.address)
    until(lambda: position_updates(page) > 2)
    view.close()
    page.wait_for_selector("html[data-connection=lost]", timeout=30_000)
    assert "connection to pixelsne is lost" in page.locator("#message").inner_text()
    frozen = position_updates(page)
    assert (picture(page).min(axis=2) < 0.8).mean() > 0.001, "the picture stays"
    view = start()
    page.wait_for_selector("html[data-connection=open]", timeout=30_000)
    assert page.locator("#message").is_hidden()
    until(lambda: position_updates(page) > frozen + 2)
    view.close()
    watched.close()


@pytest.mark.slow
def test_a_stalled_page_costs_nothing(points):
    """A client connects and never reads: frames are dropped, the run continues."""
    model = PixelSNE(max_iter=600, tol=0, random_state=0)
    view = viewer.watch(model, points[0], open_browser=False)
    server = view._server
    with socket.create_connection(("127.0.0.1", server.port)) as connection:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        lines = [
            "GET /live HTTP/1.1",
            f"Host: 127.0.0.1:{server.port}",
            f"Origin: http://127.0.0.1:{server.port}",
            f"Cookie: pixelsne-{server.port}={server._secrets.cookie}",
            "Upgrade: websocket",
            "Connection: Upgrade",
            "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
            "Sec-WebSocket-Version: 13",
        ]
        connection.sendall(("\r\n".join(lines) + "\r\n\r\n").encode())
        finished = threading.Thread(target=view.wait)
        finished.start()
        finished.join(timeout=120)
        assert not finished.is_alive()
    assert model.n_iter_ == 600
    view.close()


@pytest.mark.slow
def test_leaving_ends_the_run(points):
    view = viewer.watch(PixelSNE(max_iter=100_000, tol=0), points[0], open_browser=False)
    time.sleep(0.5)
    view.close()
    view.wait()
    assert not any(thread.name == "pixelsne-live" and thread.is_alive() for thread in threading.enumerate())


def test_the_clock_stops_with_the_run(monkeypatch):
    clock = itertools.count(100.0, 7.0)
    monkeypatch.setattr("pixelsne.viewer.live_run.time.monotonic", lambda: next(clock))
    for failing in (False, True):
        live = LiveRun(failing_run() if failing else iter_nothing(), 10, lambda: "max_iter")
        live.start()
        live.join()
        first = live.status()
        assert first["state"] == ("failed" if failing else "finished")
        assert first["seconds"] > 0
        assert live.status() == live.status() == first


def iter_nothing():
    yield from ()


def failing_run():
    yield from ()
    raise ValueError("no more")


def test_labels_stay_while_points_move(browser, shown):
    """Frames come faster than a transition takes: labels stay visible and follow their points."""
    one, kinds = shown
    columns = columns_of(one.extra_columns.select(["kind"]), {"kind"})
    live = LiveRun(iter_nothing(), 10, lambda: "max_iter")
    page_of_run = Page("fruit", one.resolution, 900, columns, b"", "kind")
    view = serve(page_of_run, live, None, open_browser=False, port=0)
    watched = Watched(browser)
    watched.page.add_init_script(COUNT_LABELS)
    page = watched.open(view.address)
    stop = threading.Event()

    def move():
        for number in itertools.count(1):
            shift = np.array([40 * np.sin(number / 5), 0])
            live._frame = Frame(number, number, encode_positions((one.placed + shift).clip(0, 599), one.resolution))
            if stop.wait(0.05):
                return

    mover = threading.Thread(target=move)
    mover.start()
    until(lambda: max(page.evaluate("window.labels"), default=0) > 0)
    page.evaluate("window.labels = []")
    until(lambda: len(page.evaluate("window.labels")) > 20)
    counts = page.evaluate("window.labels")
    stop.set()
    mover.join()
    watched.close()
    view.close()
    assert min(counts) == len(set(kinds)), "in every picture, every label"


def test_a_link_shows_the_same_part_of_a_run(browser, shown):
    """The zoom is relative to the bounds of the points, which arrive after the page."""
    one = shown[0]
    live = LiveRun(iter_nothing(), 10, lambda: "max_iter")
    view = serve(Page("fruit", one.resolution, 900), live, None, open_browser=False, port=0)
    live.join()
    live._frame = Frame(1, 1, encode_positions(one.placed * np.float32(0.3), one.resolution))
    scales = []
    for link in ("", "&x=60&y=60&zoom=3"):
        watched = Watched(browser)
        page = watched.open(view.address + link)
        until(lambda page=page: position_updates(page) > 0)
        scales.append(camera_of(page)[0])
        watched.close()
    view.close()
    assert scales[1] == pytest.approx(3 * scales[0], rel=0.01)


# Counts the labels that are fully visible on each picture: those between one clearing of the overlay and the next.
COUNT_LABELS = """
  window.labels = [];
  let count = 0;
  const { clearRect, drawImage } = CanvasRenderingContext2D.prototype;
  CanvasRenderingContext2D.prototype.clearRect = function (...box) {
    if (this.canvas.id === "overlay") {
      if (document.documentElement.dataset.positions !== undefined) window.labels.push(count);
      count = 0;
    }
    return clearRect.apply(this, box);
  };
  CanvasRenderingContext2D.prototype.drawImage = function (...image) {
    if (this.canvas.id === "overlay" && this.globalAlpha === 1) count++;
    return drawImage.apply(this, image);
  };
"""
