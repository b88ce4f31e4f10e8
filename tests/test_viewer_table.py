"""The table of selected rows: scrolling through ten million rows, widths of columns, sorting."""

import numpy as np
import pyarrow as pa
import pytest

from browser import Watched
from fruit_page import CENTERS, drag_around, serve, until
from pixelsne.files.maps import Map
from pixelsne.viewer.files import static_files

pytestmark = pytest.mark.parametrize("browser", ["canvas"], indirect=True)

N = 10_000_000
LINE = 28

# The table alone, with columns that are worked out from the row.
MAKE_TABLE = f"""async () => {{
  const {{ Table }} = await import("/static/table.js");
  const column = {{
    name: "half", load: async () => {{}}, format: (row) => `half of ${{row}}`,
    type: {{ sortKey: (_column, row) => -row }},
  }};
  window.table = new Table(document.getElementById("table"), [column], () => {{}});
  await window.table.show(Uint32Array.from({{ length: {N} }}, (_, row) => row));
}}"""
HTML = """<!doctype html><link rel="stylesheet" href="/static/style.css">
<section id="drawer"><div id="table" tabindex="0"></div></section>"""


@pytest.fixture
def alone(browser):
    watched = Watched(browser, 900, 600)
    files = static_files()
    kinds = {"css": "text/css", "js": "text/javascript"}

    def answer(route):
        name = route.request.url.rsplit("/", 1)[1]
        if name in files:
            route.fulfill(body=files[name], content_type=kinds[name.rsplit(".", 1)[1]])
        else:
            route.fulfill(body=HTML, content_type="text/html")

    watched.page.route("**/*", answer)
    watched.page.goto("http://localhost/")
    watched.page.evaluate(MAKE_TABLE)
    yield watched.page
    watched.close()
    assert watched.errors == []


SEEN = """() => {
  const box = document.getElementById("table").getBoundingClientRect();
  const lines = [...document.querySelectorAll(".table-body .line")];
  const seen = lines.map((line) => [line.getBoundingClientRect(), line.children[0].textContent])
    .filter(([{ top, bottom }]) => top >= box.top + 20 && bottom <= box.bottom + 1);
  return seen.sort((one, other) => one[0].top - other[0].top).map(([, row]) => Number(row));
}"""


def rows_seen(page):
    """Return the row numbers of the visible lines, from top to bottom; -1 before they are drawn."""
    return page.evaluate(SEEN) or [-1]


def test_the_last_of_ten_million_rows_is_reached(alone):
    assert rows_seen(alone)[0] == 0
    alone.evaluate("document.getElementById('table').scrollTop = 1e9")
    until(lambda: rows_seen(alone)[-1:] == [N - 1])
    alone.evaluate("document.getElementById('table').scrollTop /= 2")
    until(lambda: abs(rows_seen(alone)[0] - N / 2) < 1000)
    alone.evaluate("document.getElementById('table').scrollTop = 0")
    until(lambda: rows_seen(alone)[:1] == [0])


def test_every_row_of_ten_million_can_be_seen(alone):
    """Wheel and keys move by lines, wherever the scroll bar is."""
    alone.evaluate("document.getElementById('table').scrollTop = 4e6")
    until(lambda: rows_seen(alone)[0] > N / 3)
    alone.locator("#table").hover()
    before = rows_seen(alone)
    alone.mouse.wheel(0, 5 * LINE)
    until(lambda: rows_seen(alone)[0] == before[5])
    alone.locator("#table").focus()
    alone.keyboard.press("ArrowDown")
    until(lambda: rows_seen(alone)[0] == before[6])
    alone.keyboard.press("PageUp")
    until(lambda: rows_seen(alone)[-1] in before[4:8])
    alone.keyboard.press("End")
    until(lambda: rows_seen(alone)[-1] == N - 1)
    alone.mouse.wheel(0, -3 * LINE)
    until(lambda: rows_seen(alone)[-1] == N - 4)
    alone.mouse.wheel(0, 9 * LINE)
    until(lambda: rows_seen(alone)[-1] == N - 1)
    alone.keyboard.press("Home")
    until(lambda: rows_seen(alone)[0] == 0)


def test_screen_readers_know_where_they_are(alone):
    assert alone.locator("[role=table]").get_attribute("aria-rowcount") == str(N + 1)
    alone.evaluate("document.getElementById('table').scrollTop = 1e9")
    until(lambda: alone.locator(f".line[aria-rowindex='{N + 1}']").count() == 1)


@pytest.fixture(scope="module")
def sortable():
    n = 400
    rng = np.random.default_rng(0)
    words = [f"Ärger {row}" if row % 3 == 0 else "" if row % 3 == 1 else f"b {row}" for row in range(n)]
    table = pa.table(
        {
            "kind": ["b", "a", None, "c"] * (n // 4),
            "score": np.where(np.arange(n) % 5 == 0, np.nan, rng.permutation(n)),
            "day": np.datetime64("2020-01-01") + rng.permutation(n),
            "title": words,
            "story": [f"a long story of {row} " * 8 for row in range(n)],
        }
    )
    placed = np.clip(CENTERS[0] + rng.normal(0, 14, (n, 2)), 0, None).astype(np.float32)
    one = Map(placed, (600, 400), table)
    server = serve(one)
    yield server, table
    server.close()


@pytest.fixture
def selected(browser, sortable):
    watched = Watched(browser, 1280, 800)
    page = watched.open(sortable[0].address)
    page.keyboard.press("l")
    drag_around(page, CENTERS[0], 70)
    until(lambda: "story of 0" in page.locator("#table").inner_text())
    yield page
    watched.close()
    assert watched.errors == []


def in_order(page, column):
    heading = page.locator(f"[role=columnheader]:has-text('{column}')")
    heading.locator("button").click()
    return heading.get_attribute("aria-sort"), rows_seen(page)


@pytest.mark.parametrize("column", ["kind", "score", "day", "title"])
def test_a_click_on_a_heading_sorts(selected, sortable, column):
    values = sortable[1].column(column).to_pylist()
    known = [row for row, value in enumerate(values) if value not in {None, ""} and value == value]  # noqa: PLR0124
    key = (lambda row: values[row].lower().replace("ä", "a")) if column == "title" else values.__getitem__
    up = sorted(known, key=key)
    down = sorted(known, key=key, reverse=True)
    for direction, expected in (("ascending", up), ("descending", down)):
        order, rows = in_order(selected, column)
        assert order == direction
        assert rows == expected[: len(rows)]
        assert len(rows) >= 8
    selected.evaluate("document.getElementById('table').scrollTop = 1e9")
    last = max(set(range(400)) - set(known)) if len(known) < 400 else down[-1]
    until(lambda: rows_seen(selected)[-1:] == [last])
    assert in_order(selected, column) == ("none", list(range(len(rows))))
    assert selected.locator("[role=columnheader]").first.get_attribute("aria-sort") == "ascending"


def test_columns_use_the_room(selected):
    boxes = [one.bounding_box() for one in selected.locator(".table-body .line").first.locator("[role=cell]").all()]
    widths = [box["width"] for box in boxes]
    assert widths[1] < 120, "a short word needs little"
    assert widths[-1] > 600, "a long text takes what is left"
    assert boxes[-1]["x"] + boxes[-1]["width"] >= 1270
    heads = [one.bounding_box() for one in selected.locator("[role=columnheader]").all()]
    assert [box["x"] for box in heads] == [box["x"] for box in boxes], "below their names"
    cut = selected.evaluate(
        "[...document.querySelectorAll('.table-body [role=cell]')].map((one) => one.scrollWidth > one.clientWidth)"
    )
    assert sum(cut) / len(cut) < 0.2
