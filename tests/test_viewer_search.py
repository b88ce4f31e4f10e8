"""Search: words in any order and column, numbers, dates, without regard to accents."""

import numpy as np
import pyarrow as pa
import pytest

from browser import Watched
from fruit_page import serve, until
from pixelsne.files.maps import Map

pytestmark = pytest.mark.parametrize("browser", ["canvas"], indirect=True)

N = 60


@pytest.fixture(scope="module")
def library():
    titles = [f"Report {row} on the harbor" for row in range(N)]
    titles[3] = "Crème brûlée à la façon d'Anaïs"
    titles[4] = "Die Straße nach ÅRHUS"
    titles[5] = "Ёлка и чай"
    titles[6] = "한국어 문서"
    titles[8] = "ΟΔΟΣ"
    table = pa.table(
        {
            "title": titles,
            "city": ["Zürich", "Oslo", "Lima"] * (N // 3),
            "price": np.arange(N) / 8,
            "id": np.arange(N) + 123_456_000_000,
            "day": np.datetime64("2020-01-30") + np.arange(N),
        }
    )
    placed = np.random.default_rng(0).uniform(0, 100, (N, 2)).astype(np.float32)
    server = serve(Map(placed, (100, 100), table))
    yield server
    server.close()


@pytest.fixture(scope="module")
def page(browser, library):
    watched = Watched(browser)
    yield watched.open(library.address)
    watched.close()
    assert watched.errors == []


@pytest.mark.parametrize(
    ("typed", "found"),
    [
        ("report 12", 1),
        ("12 report", 1),
        ("HARBOR oslo the", 19),  # of twenty in Oslo, one has another title
        ("oslo zurich", 0),
        ("zurich", 20),
        ("zürich", 20),
        ("creme brulee", 1),
        ("BRÛLÉE anais facon", 1),
        ("arhus", 1),
        ("елка", 1),
        ("한국어", 1),
        ("οδος", 1),
        ("0.875", 1),
        ("7.125", 1),
        ("123456000017", 1),
        ("123,456,000,017", 1),
        ("12345600001", 0),
        ("2020-02", 29),
        ("2020-02-29", 1),
        ("2020-02-31", 0),
        ("2019-14", 0),
        ("2020", N),
        ("2020-02 lima", 10),
        ("   ", None),
    ],
)
def test_what_is_found(page, typed, found):
    page.locator("#search").fill("")
    until(lambda: page.locator("#match-count").inner_text() == "")
    page.locator("#search").fill(typed)
    if found is None:
        page.wait_for_timeout(400)
    expected = "" if found is None else f"{found} found"
    until(lambda: page.locator("#match-count").inner_text() == expected, 10)
