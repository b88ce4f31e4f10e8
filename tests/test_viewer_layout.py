"""The bytes that are sent to the page, and the commands that send them."""

import http.client
import json
import signal
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

from pixelsne import PixelSNE, viewer
from pixelsne.cli import main
from pixelsne.descent_loop import Snapshot
from pixelsne.files.maps import Map
from pixelsne.files.read_map import read_map
from pixelsne.regions import Region, Regions
from pixelsne.screen import Screen
from pixelsne.viewer.column_types import code_bytes, column_of
from pixelsne.viewer.layout import (
    QUANTIZATION_LEVELS,
    Page,
    choose_color,
    choose_text,
    columns_of,
    encode_frame,
    encode_positions,
    page_of,
)
from pixelsne.viewer.live_run import LiveRun
from pixelsne.viewer.server import Server
from pixelsne.viewer.show_map import page_to_show


def test_places_keep_what_lies_between_pixels():
    placed = np.array([[0, 0], [0.5, 0.25], [99.999, 49.999]], dtype=np.float32)
    quantized = np.frombuffer(encode_positions(placed, (100, 50)), dtype="<u2").reshape(-1, 2)
    np.testing.assert_allclose(quantized / QUANTIZATION_LEVELS * [100, 50], placed, atol=100 / QUANTIZATION_LEVELS)
    assert quantized.max() == QUANTIZATION_LEVELS - 1


def test_a_frame_is_where_the_screen_says(random):
    positions = random.normal(0, 30, (1000, 2)).astype(np.float32)
    bounds = (*positions.min(axis=0).tolist(), *positions.max(axis=0).tolist())
    for aspect in ("fill", "equal"):
        screen = Screen.around(bounds, (640, 480), aspect)
        frame = np.frombuffer(encode_frame(positions, screen), dtype="<u2").astype(int)
        expected = np.frombuffer(encode_positions(screen.to_pixels(positions), (640, 480)), dtype="<u2").astype(int)
        assert np.abs(frame - expected).max() <= 1


def test_numbers():
    column = column_of("a", np.append(np.arange(99) / 4, np.nan))
    assert column.kind == "number"
    found = np.frombuffer(column.content, dtype="<f4")
    np.testing.assert_array_equal(found[:-1], np.arange(99) / 4)
    assert np.isnan(found[-1])


def test_large_numbers_keep_all_their_digits():
    ids = np.arange(123_456_789, 123_456_889)
    column = column_of("id", ids)
    assert column.is_float64
    np.testing.assert_array_equal(np.frombuffer(column.content, dtype="<f8"), ids)
    assert not column_of("id", np.arange(100)).is_float64


def test_a_label_is_categories_whatever_it_looks_like():
    table = pa.table({"cluster": np.arange(100) % 20, "": np.arange(100)})
    page = page_of(Map(np.zeros((100, 2), dtype=np.float32), (9, 9), table, {"label": "cluster"}), "t")
    assert [column.kind for column in page.columns] == ["category", "number"]
    assert page.color == "cluster"
    page = page_of(Map(np.zeros((100, 2), dtype=np.float32), (9, 9), table.select([""])), "t")
    assert page.color is None, "row numbers say nothing"


def test_what_colors_a_map_at_first():
    rng = np.random.default_rng(0)
    placed = np.clip(rng.normal(0, 4, (600, 2)) + np.repeat([[20, 20], [80, 80]], 300, axis=0), 0, 99).astype(
        np.float32
    )
    table = pa.table(
        {
            "score": rng.normal(size=600),
            "many": [f"kind {row % 100}" for row in range(600)],
            "few": [f"kind {row % 7}" for row in range(600)],
            "constant": ["one"] * 600,
        }
    )
    for names, expected in [(["score", "many", "few"], "few"), (["score", "many", "constant"], None), ([], None)]:
        page = page_of(Map(placed, (100, 100), table.select(names) if names else None), "t")
        assert page.color == expected
        assert len(page.regions.regions) > 1, "they color the map if no column does"
    assert page_of(Map(placed, (100, 100), table), "t", "score").color == "score"


def test_regions_are_in_the_manifest_and_parts():
    indices = (np.array([0, 1, 0, -1], dtype=np.int32), np.array([3, -1, 2, -1], dtype=np.int32))
    placed = np.array([[1, 1], [9, 4], [2, 1], [5, 5]], dtype=np.float32)
    regions = Regions(
        (
            Region(1, "a", (1.0, 1.0), 2, -1, (0,), "#102030"),
            Region(1, "", (9.0, 4.0), 1, -1, (1,), "#405060"),
            Region(2, "b", (2.0, 1.0), 1, 0, (2,), "#708090"),
            Region(2, "c", (1.0, 1.0), 1, 0, (0,), "#a0b0c0"),
        ),
        indices,
        placed,
    )
    page = Page("t", (10, 5), 4, regions=regions)
    entries = page.manifest()["regions"]
    x, y = int(0.9 * QUANTIZATION_LEVELS), int(0.8 * QUANTIZATION_LEVELS)
    assert entries[1] == {"level": 1, "name": "", "x": x, "y": y, "count": 1, "parent": -1, "color": "#405060"}
    parts = page.parts()
    assert list(parts["region1"]) == [0, 1, 0, 2], "the last code means no region"
    assert list(parts["region2"]) == [1, 2, 0, 2]
    colors = np.frombuffer(parts["regioncolors"], dtype=np.uint8).reshape(-1, 3)
    assert colors[:3].tolist() == [[0xA0, 0xB0, 0xC0], [0x40, 0x50, 0x60], [0x70, 0x80, 0x90]]
    assert "region1" not in Page("t", (10, 5), 4).parts()


def test_examples_are_the_longest_texts():
    table = pa.table(
        {"id": [f"q{row}" for row in range(100)], "story": [f"story {row}, a long one" for row in range(100)]}
    )
    assert choose_text(columns_of(table)) == "story"
    assert choose_text(columns_of(table.select([]))) is None


@pytest.mark.parametrize(("number", "kind"), [(3, "<u1"), (300, "<u2")])
def test_categories(number, kind):
    values = np.array([f"name {index}" for index in np.arange(2 * number) % number])
    column = column_of("a", values)
    assert column.kind == "category"
    codes = np.frombuffer(column.content, dtype=kind)
    assert [column.categories[code] for code in codes[:50]] == values[:50].tolist()


def test_many_categories_have_wide_codes():
    codes = np.array([0, -1, 69_999])
    assert np.frombuffer(code_bytes(codes, 70_000), dtype="<u4").tolist() == [0, 70_000, 69_999]


def test_missing_words_have_the_last_code():
    column = column_of("a", pa.chunked_array([["x", None, "y"]]))
    assert np.frombuffer(column.content, dtype="<u1").tolist() == [0, 2, 1]


def test_texts():
    words = [f"sentence {index} ü \U0001f600" for index in range(6000)]
    column = column_of("a", pa.chunked_array([words]))
    assert column.kind == "text"
    begins = np.frombuffer(column.content, dtype="<u4", count=6001)
    text = column.content[4 * 6001 :]
    assert [text[begins[row] : begins[row + 1]].decode() for row in (0, 5, 5999)] == [words[0], words[5], words[5999]]


def test_long_words_are_texts():
    assert column_of("a", np.array(["prose " * 100, "more " * 100] * 5)).kind == "text"


@pytest.mark.slow
@pytest.mark.parametrize("n", [5, 200, 4000, 6000])
def test_texts_that_are_nearly_all_different_are_no_categories(n):
    titles = [f"The council meets about road number {row}" for row in range(n)]
    titles[1] = titles[0]
    table = pa.table({"title": titles, "rank": np.arange(n) / 7})
    page = page_of(Map(np.zeros((n, 2), dtype=np.float32), (9, 9), table), "t")
    assert [column.kind for column in page.columns] == ["text", "number"]
    assert page.color == "rank"
    assert page_of(Map(np.zeros((n, 2), dtype=np.float32), (9, 9), table.select(["title"])), "t").color is None


def test_identifiers_are_text_and_names_of_few_classes_are_not():
    assert column_of("id", np.array([f"q{row}" for row in range(100)])).kind == "text"
    assert column_of("kind", np.array(["oak", "elm", "ash"])).kind == "category"
    assert column_of("kind", np.array([f"q{row % 50}" for row in range(100)])).kind == "category"
    assert column_of("kind", np.array(["a long name, for a class, of trees", "b"] * 2)).kind == "category"


def test_a_label_whose_numbers_all_differ_is_a_scale():
    assert column_of("age", np.arange(100) / 7, is_label=True).kind == "number"


def test_columns_that_cannot_be_shown_say_why():
    table = pa.table(
        {
            "a": [[1.0], [2.0]],
            "b": [b"x", b"y"],
            "c": ["x", "y"],
            "d": pa.array([{"bytes": b"x", "path": None}] * 2),
            "e": pa.array([{"q": 1}] * 2),
            "f": pa.nulls(2),
            "g": pa.array([None, None], pa.string()),
            "h": [float("nan")] * 2,
            "i": pa.array([[1.0], [2.0]], pa.list_(pa.float64(), 1)),
        }
    )
    found = {column.name: column.reason for column in columns_of(table) if column.kind == "unavailable"}
    empty = dict.fromkeys("fgh", "no values")
    assert found == {
        "a": "lists",
        "b": "bytes",
        "d": "images",
        "e": "values of type struct<q: int64>",
        "i": "lists",
        **empty,
    }
    assert choose_color(columns_of(table), None) == "c"
    assert column_of("numbers", np.full(3, np.nan)).reason == "no values"
    assert columns_of(None) == ()


def test_the_page_of_a_map_begins_with_its_label():
    placed = np.zeros((4, 2), dtype=np.float32)
    table = pa.table({"id": ["a", "b", "c", "d"], "kind": ["x", "y", "x", "y"]})
    assert page_of(Map(placed, (9, 9), table, {"label": "kind"}), "t").color == "kind"
    assert page_of(Map(placed, (9, 9), table), "t").color == "id"
    assert page_of(Map(placed, (9, 9), table), "t", "kind").color == "kind"
    assert page_of(Map(placed, (9, 9)), "t").color is None


@pytest.mark.slow
def test_a_model_is_shown(clusters):
    model = PixelSNE(max_iter=30, perplexity=10, random_state=0).fit(clusters)
    with viewer.show(model, columns={"place": np.arange(600)}, open_browser=False) as view:
        page = view._server.page
        assert page.n == 600
        assert page.color == "place", "after 30 iterations there is one region"
        assert len(view.selection) == 0
        assert page.positions == encode_positions(model.embedding_, (1024, 1024))
        assert "token=" in view.address
    with viewer.show(Map(model.embedding_, (1024, 1024)), open_browser=False) as view:
        assert view._server.page.positions == page.positions
    with pytest.raises(ValueError, match=r"columns\['place'\] has 3 values, the map 600 points"):
        viewer.show(model, columns={"place": [1, 2, 3]}, open_browser=False)


def test_a_paused_run_that_is_stopped_is_not_paused_any_more():
    begun, go_on = threading.Event(), threading.Event()

    def preparing():
        yield Snapshot(0, "reduce", 0.5)
        begun.set()
        go_on.wait()
        yield Snapshot(0, "neighbors", 0.5)

    live = LiveRun(preparing(), 10, lambda: "max_iter")
    live.pause()
    live.start()
    live.stop()
    begun.wait()
    assert live.status()["state"] == "running"
    live.pause()
    assert live.status()["state"] == "running"
    go_on.set()
    live.join()


def test_a_browser_is_started_without_the_key(monkeypatch, clusters):
    """Other users can see the arguments of a process."""
    opened = []
    monkeypatch.setattr("webbrowser.open", opened.append)
    model = PixelSNE(max_iter=30, perplexity=10, random_state=0).fit(clusters)
    with viewer.show(model) as view:
        token = urlsplit(view.address).fragment
    assert token not in opened[0]
    path = Path(urlsplit(opened[0]).path)
    assert token in path.read_text(encoding="utf-8")
    assert path.parent.stat().st_mode & 0o077 == 0


@pytest.mark.parametrize("host", ["0.0.0.0", "::"])  # noqa: S104
def test_hosts_that_no_browser_can_open(host):
    with pytest.raises(ValueError, match="pass one of this machine"):
        Server(page_of(Map(np.zeros((2, 2), dtype=np.float32), (9, 9)), "t"), host=host)


def test_a_host_of_six_parts():
    server = Server(page_of(Map(np.zeros((2, 2), dtype=np.float32), (9, 9)), "t"), host="::1")
    assert server.address.startswith(f"http://[::1]:{server.port}/enter#token=")
    server.close()


def test_a_run_that_fails_is_told():
    def failing():
        yield Snapshot(0, "reduce", 0.0)
        raise ValueError("no more\n room")

    told = []
    live = LiveRun(failing(), 10, lambda: "max_iter", told.append)
    live.start()
    live.join()
    assert told == ["no more room"]
    assert live.status()["state"] == "failed"


# `pixelsne view`


@pytest.fixture
def cells(tmp_path, digits):
    path = tmp_path / "cells.parquet"
    columns = {f"p{index}": column for index, column in enumerate(digits[0][:400].T)}
    pq.write_table(pa.table(columns | {"kind": [f"digit {label}" for label in digits[1][:400]]}), path)
    return path


def start(*arguments):
    command = [sys.executable, "-m", "pixelsne", "view", *map(str, arguments), "--no-browser"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    return process, process.stdout.readline().strip()


@contextmanager
def entered(address):
    """Exchange the token for a cookie, as the login page does."""
    parts = urlsplit(address)
    connection = http.client.HTTPConnection(parts.hostname, parts.port, timeout=10)
    origin = {"Origin": f"http://{parts.netloc}"}
    connection.request("POST", "/enter", parts.fragment.removeprefix("token="), origin)
    answer = connection.getresponse()
    answer.read()
    yield connection, {"Cookie": answer.getheader("Set-Cookie").partition(";")[0], **origin}
    connection.close()


def fetch(connection, path, headers, method="GET"):
    connection.request(method, path, None, headers)
    answer = connection.getresponse()
    return answer.status, answer.read()


@pytest.mark.slow
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_map_is_served_until_somebody_ends_it(number, code, tmp_path):
    placed = np.random.default_rng(0).uniform(0, 100, (20, 2))
    pq.write_table(pa.table({"x": placed[:, 0], "y": placed[:, 1], "kind": ["a", "b"] * 10}), tmp_path / "map.parquet")
    process, address = start(tmp_path / "map.parquet")
    with entered(address) as (connection, headers):
        check_map(connection, headers)
    process.send_signal(number)
    said = process.communicate(timeout=60)[1]
    assert process.returncode == code
    assert urlsplit(address).fragment not in said


def check_map(connection, headers):
    manifest = json.loads(fetch(connection, "/data/manifest", headers)[1])
    assert manifest["title"] == "map.parquet"
    assert manifest["n"] == 20
    assert not manifest["live"]
    assert fetch(connection, "/run/stop", headers, "POST")[0] == 404
    status, content = fetch(connection, "/map.csv", headers)
    assert status == 200
    assert content.startswith(b'"x","y"')


@pytest.mark.slow
def test_a_run_is_served_and_its_map_written(cells, tmp_path):
    output = tmp_path / "out" / "map.parquet"
    process, address = start("--live", cells, "-o", output, "--label", "kind", "--perplexity", "10", "--max-iter", "60")
    with entered(address) as (connection, headers):
        assert json.loads(fetch(connection, "/data/manifest", headers)[1])["live"]
        for _ in range(1200):
            if output.exists():
                break
            time.sleep(0.05)
        assert read_map(output).placed.shape == (400, 2)
        assert fetch(connection, "/map.parquet", headers)[0] == 200
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=60)
    assert process.returncode == 130


@pytest.mark.slow
def test_one_port_serves_one_map(tmp_path):
    placed = np.zeros((3, 2))
    pq.write_table(pa.table({"x": placed[:, 0], "y": placed[:, 1]}), tmp_path / "map.parquet")
    process, address = start(tmp_path / "map.parquet")
    port = urlsplit(address).port
    second, nothing = start(tmp_path / "map.parquet", "--port", port)
    said = second.communicate(timeout=60)[1]
    assert second.returncode == 1
    assert nothing == ""
    assert "choose another with --port" in said
    process.terminate()
    process.communicate(timeout=60)


@pytest.mark.slow
def test_the_address_of_a_tunnel_is_printed(tmp_path):
    pq.write_table(pa.table({"x": np.zeros(3), "y": np.zeros(3)}), tmp_path / "map.parquet")
    process, address = start(tmp_path / "map.parquet", "--url", "https://maps.example")
    assert address.startswith("https://maps.example/enter#token=")
    process.terminate()
    process.communicate(timeout=60)
    process, nothing = start(tmp_path / "map.parquet", "--url", "maps.example/mine")
    said = process.communicate(timeout=60)[1]
    assert process.returncode == 1
    assert nothing == ""
    assert "url must consist of scheme, host and an optional port, got 'maps.example/mine'; pass one like" in said


@pytest.fixture
def fitted(digits):
    return PixelSNE(perplexity=10, max_iter=50, random_state=0).fit(digits[0][:60])


def test_columns_with_gaps_are_shown(fitted):
    kinds = np.array(["a", None, float("nan")] * 20, dtype=object)
    mixed = np.array([1, "b", None] * 20, dtype=object)
    page, one = page_to_show(fitted, {"kind": kinds, "mixed": mixed})
    assert [column.name for column in page.columns] == ["kind", "mixed"]
    assert page.columns[0].categories == ("a",)
    assert one.extra_columns.column("kind").null_count == 40


def test_what_cannot_be_shown_is_refused(fitted, tmp_path):
    with pytest.raises(ValueError, match="'hue' is not a column to color by; there are kind"):
        page_to_show(fitted, {"kind": ["a", "b"] * 30}, color="hue")
    with pytest.raises(ValueError, match=r"columns\['kind'\] has 3 values, the map 60 points"):
        page_to_show(fitted, {"kind": [1, 2, 3]})
    with pytest.raises(ValueError, match=r"call fit or viewer\.watch"):
        page_to_show(PixelSNE())
    with pytest.raises(ValueError, match="columns can only be passed with a model"):
        page_to_show(tmp_path / "map.parquet", {"kind": [1]})


def test_waiting_for_a_run_that_fails_tells(digits):
    broken = digits[0][:60].astype(float)
    broken[3, 3] = np.nan
    with viewer.watch(PixelSNE(), broken, open_browser=False) as view, pytest.raises(RuntimeError, match="NaN"):
        view.wait()


def test_options_of_a_run_are_refused_for_a_finished_map(tmp_path):
    done = CliRunner().invoke(main, ["view", str(tmp_path / "map.parquet"), "--perplexity", "5"])
    assert done.exit_code == 2
    assert "--perplexity is for --live" in done.output


@pytest.mark.slow
def test_a_program_that_ends_during_a_run_ends_quietly():
    program = (
        "import numpy as np\n"
        "from pixelsne import PixelSNE, viewer\n"
        "points = np.random.default_rng(0).normal(size=(3000, 10))\n"
        "view = viewer.watch(PixelSNE(max_iter=100_000, tol=0), points, open_browser=False)\n"
        "import time; time.sleep(1.5)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0
    assert done.stderr == ""
