"""Fixtures of several files. They import slow modules only when they are used."""

from urllib.parse import urlsplit

import numpy as np
import pytest
from hypothesis import settings
from sklearn.datasets import load_digits

from browser import Watched, launched
from pixelsne.affinities import joint_affinities
from pixelsne.neighbors import find_neighbors

# No test depends on the clock: on a busy machine, an example may take any time.
settings.register_profile("pixelsne", deadline=None)
settings.load_profile("pixelsne")

# Markers of tests that use a fixture, so that none is forgotten.
MARKERS = {"browser": "browser", "client": "cluster"}


def pytest_collection_modifyitems(items):
    for item in items:
        for fixture in MARKERS.keys() & set(item.fixturenames):
            item.add_marker(MARKERS[fixture])


# Points


@pytest.fixture(scope="session")
def digits():
    """1,797 handwritten digits (64 columns) and their labels."""
    return load_digits(return_X_y=True)


@pytest.fixture
def random():
    return np.random.default_rng(7)


@pytest.fixture(scope="session")
def clusters():
    """600 points in 8 Gaussian clusters, 20 dimensions, float32."""
    rng = np.random.default_rng(1)
    centers = rng.normal(0, 5, (8, 20))
    return (centers[rng.integers(0, 8, 600)] + rng.normal(0, 1, (600, 20))).astype(np.float32)


@pytest.fixture(scope="session")
def cluster_affinities(clusters):
    return joint_affinities(find_neighbors(clusters, 30, "exact", 0, 2), (10.0,), 2)


@pytest.fixture(scope="session")
def groups():
    """4,000 points in 12 groups, 20 dimensions."""
    rng = np.random.default_rng(3)
    return (rng.normal(0, 4, (12, 20))[rng.integers(0, 12, 4000)] + rng.normal(size=(4000, 20))).astype(np.float32)


# Files for the commands


@pytest.fixture(scope="session")
def cells(digits, tmp_path_factory):
    """300 digits with their kind, an age, and a column called x."""
    import pyarrow as pa  # noqa: PLC0415 - tests of the core do not need it
    import pyarrow.parquet as pq  # noqa: PLC0415

    values, labels = digits
    path = tmp_path_factory.mktemp("input") / "cells.parquet"
    columns = {f"p{index}": column for index, column in enumerate(values[:300].T)}
    extra = {"kind": [f"digit {label}" for label in labels[:300]], "age": np.arange(300) / 7, "x": ["a"] * 300}
    pq.write_table(pa.table(columns | extra), path)
    return path


@pytest.fixture(scope="session")
def finished(cells, tmp_path_factory):
    """A map of the cells by all columns except their age."""
    from command_line import run  # noqa: PLC0415 - tests of the core do not need it

    path = tmp_path_factory.mktemp("output") / "map.parquet"
    pixels = ",".join(f"p{index}" for index in range(64))
    run("embed", cells, "-o", path, "--columns", pixels, "--label", "kind", "--perplexity", "10", "--quiet")
    return path


# The page


@pytest.fixture(scope="module", params=["canvas", "webgl"])
def browser(request):
    with launched(request.param) as browser:
        yield browser


@pytest.fixture(scope="session")
def shown():
    """A map of fruit, and the kind of each row."""
    from fruit_page import make_map  # noqa: PLC0415 - tests of the core do not need it

    return make_map()


@pytest.fixture(scope="module")
def server(shown):
    from fruit_page import serve  # noqa: PLC0415 - tests of the core do not need it

    server = serve(shown[0])
    yield server
    server.close()


@pytest.fixture
def watched(browser):
    watched = Watched(browser)
    yield watched
    watched.close()
    assert watched.errors == []
    assert watched.dialogs == [], "a label ran as code"
    hosts = {urlsplit(url).hostname for url in watched.requests if not url.startswith(("data:", "blob:", "file:"))}
    assert hosts <= {"127.0.0.1"}, "a request left the machine"


@pytest.fixture
def page(watched, server, browser):
    page = watched.open(server.address)
    assert page.evaluate("document.documentElement.dataset.ready") == browser.drawing
    return page
