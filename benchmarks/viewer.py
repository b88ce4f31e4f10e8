"""Measure the viewer: `viewer.py [DATA] [--sizes 100000,1000000]`, DATA as in compare_peers.py, for the live run.

Measures, in headless Chromium and with both renderers, the seconds from the request for the data to the first picture,
and the milliseconds between frames while the map is dragged. Also measures how much longer a run takes if it is watched
by nobody, by a plain websocket client, by a client that never reads, or by Chromium on the same machine.
"""

import argparse
import base64
import json
import os
import socket
import statistics
import struct
import sys
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from browser import Watched, launched
from measure import Clock, Rows, load_source, save, source_name
from pixelsne import PixelSNE, viewer
from pixelsne.regions import find_regions, with_names
from pixelsne.viewer.column_types import column_of
from pixelsne.viewer.layout import Page, encode_positions
from pixelsne.viewer.server import Server

RESOLUTION = (1024, 1024)
DRAG = 60  # moves of the mouse
ALL_ARE_DRAWN = "document.documentElement.dataset.drawnPoints === document.documentElement.dataset.allPoints"

FRAMES = """async () => {
  const gaps = [];
  let last = performance.now();
  window.measuring = true;
  window.labelTimes = [];
  await new Promise((resolve) => {
    const step = (now) => {
      gaps.push(now - last);
      last = now;
      window.labelTimes.push(Number(document.documentElement.dataset.labelTime));
      if (window.measuring) requestAnimationFrame(step); else resolve();
    };
    requestAnimationFrame(step);
  });
  return gaps.slice(2);
}"""


def page_with(n: int) -> Page:
    rng = np.random.default_rng(0)
    kinds = rng.integers(0, 10, n)
    centers = rng.uniform(150, 870, (10, 2))
    placed = np.clip(centers[kinds] + rng.normal(0, 45, (n, 2)), 0, 1023.9).astype(np.float32)
    columns = (column_of("kind", kinds), column_of("score", rng.normal(size=n)))
    found = find_regions(placed, RESOLUTION)
    regions = with_names(found, [f"a name of region {index}" for index in range(len(found.regions))])
    return Page("points", RESOLUTION, n, columns, encode_positions(placed, RESOLUTION), "kind", regions=regions)


def measure_drawing(drawing: str, n: int) -> Rows:
    server = Server(page_with(n))
    server.start()
    with launched(drawing) as browser:
        watched = Watched(browser, 1280, 800)
        page = watched.open(server.address)  # the first request reads from disk
        page.reload()
        page.wait_for_selector("html[data-first-frame-time]")
        first = float(page.evaluate("document.documentElement.dataset.firstFrameTime")) / 1000
        page.wait_for_timeout(1500)
        gaps, labels = drag(page)
        rest = seconds_until_complete(page)
        watched.close()
    server.close()
    return [
        {
            "points": f"{n:,}",
            "drawn by": drawing,
            "first picture, s": first,
            "frame, ms (median)": statistics.median(gaps),
            "frame, ms (worst)": max(gaps),
            "all points again, s after rest": rest,
            "labels in a frame, ms (median)": labels,
        }
    ]


def drag(page: Any) -> tuple[list[float], float]:
    """Return the milliseconds between frames while the mouse drags the map, and the median of those for labels."""
    page.evaluate(f"() => {{ window.result = ({FRAMES})(); }}")
    page.mouse.move(640, 400)
    page.mouse.down()
    for step in range(DRAG):
        page.mouse.move(640 + 4 * step, 400 + 2 * step)
        page.wait_for_timeout(16)
    page.mouse.up()
    page.evaluate("window.measuring = false")
    return list(page.evaluate("window.result")), statistics.median(page.evaluate("window.labelTimes"))


def seconds_until_complete(page: Any) -> float:
    began = time.perf_counter()
    while not page.evaluate(ALL_ARE_DRAWN):
        if time.perf_counter() - began > 20:
            return float("nan")
        time.sleep(0.02)
    return time.perf_counter() - began


class Reader(threading.Thread):
    """A plain websocket client."""

    def __init__(self, server: Server, *, reads: bool) -> None:
        super().__init__(daemon=True)
        self._reads = reads
        self.frames = 0
        self._socket = socket.create_connection(("127.0.0.1", server.port))
        lines = [
            "GET /live HTTP/1.1",
            f"Host: 127.0.0.1:{server.port}",
            f"Origin: http://127.0.0.1:{server.port}",
            f"Cookie: pixelsne-{server.port}={server._secrets.cookie}",  # noqa: SLF001 - an authorized client
            "Upgrade: websocket",
            "Connection: Upgrade",
            f"Sec-WebSocket-Key: {base64.b64encode(os.urandom(16)).decode()}",
            "Sec-WebSocket-Version: 13",
        ]
        self._socket.sendall(("\r\n".join(lines) + "\r\n\r\n").encode())

    def run(self) -> None:
        stream = self._socket.makefile("rb")
        while stream.readline() not in {b"\r\n", b""}:
            pass
        while self._reads:
            head = stream.read(2)
            if len(head) < 2 or head[0] & 15 == 8:
                return
            size = head[1] & 127
            if size > 125:
                size = struct.unpack(">H" if size == 126 else ">Q", stream.read(2 if size == 126 else 8))[0]
            stream.read(size)
            self.frames += head[0] & 15 == 2


def run_once(values: np.ndarray, watching: str) -> tuple[float, float]:
    """Return the seconds of the run, and the frames per second that were seen."""
    model = PixelSNE(random_state=0)
    if watching == "nobody":
        with Clock() as clock:
            for _ in model.iter_fit(values):
                pass
        return clock.seconds, 0.0
    view = viewer.watch(model, values, open_browser=False)
    server = view._server  # noqa: SLF001 - its clients are made here
    began = time.perf_counter()
    if watching == "Chromium":
        with launched("canvas") as browser:
            watched = Watched(browser, 1280, 800)
            page = watched.open(server.address)
            page.wait_for_selector("html[data-run=finished]", timeout=600_000)
            seconds = sum(model.timings_.values())
            frames = int(page.evaluate("document.documentElement.dataset.positions"))
            watched.close()
    else:
        reader = Reader(server, reads=watching == "a client")
        reader.start()
        view.wait()
        seconds, frames = time.perf_counter() - began, reader.frames
    view.close()
    return seconds, frames / model.timings_["descent"]


def measure_live(source: str, repetitions: int) -> Rows:
    values = load_source(source)[0]
    rows: Rows = []
    watchers = ("nobody", "a client", "a client that never reads", "Chromium")
    run_once(values, "nobody")  # warm up
    measured = [{watching: run_once(values, watching) for watching in watchers} for _ in range(repetitions)]
    for watching in watchers:
        results = [one[watching] for one in measured]
        rows.append(
            {
                "run": source_name(source),
                "watched by": watching,
                "seconds": statistics.median(seconds for seconds, _ in results),
                "frames a second": statistics.median(frames for _, frames in results),
            }
        )
        rows[-1]["more than nobody"] = rows[-1]["seconds"] / rows[0]["seconds"] - 1
        print(rows[-1], flush=True)
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", nargs="?", default="clusters")
    parser.add_argument("--sizes", default="100000,1000000")
    parser.add_argument("--repetitions", type=int, default=5)
    options = parser.parse_args()
    sizes = [int(size) for size in options.sizes.split(",")]
    drawn = [row for n in sizes for drawing in ("canvas", "webgl") for row in measure_drawing(drawing, n)]
    print(json.dumps(drawn, indent=1), flush=True)
    save("viewer_drawing", "The page: first picture and frames while dragging", drawn)
    save("viewer_live", "Cost of watching a run", measure_live(options.data, options.repetitions))


if __name__ == "__main__":
    main()
