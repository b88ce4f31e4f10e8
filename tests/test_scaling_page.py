"""docs/scaling.md contains the measured figures."""

from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


@pytest.fixture
def model(monkeypatch):
    if not (ROOT / "benchmarks" / "results").exists():
        pytest.skip("no benchmarks here: this is not a clone")
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    import cluster_model  # noqa: PLC0415 - on the path only now

    return cluster_model


def test_the_page_has_the_tables_of_the_model(model):
    page = model.PAGE.read_text(encoding="utf-8")
    assert model.page_with(page, model.measure_constants()) == page


def test_more_workers_have_fewer_points_each(model):
    constants = model.measure_constants()
    few, many = (model.iteration(10**8, workers, 8, model.LINK, constants) for workers in (16, 256))
    assert few["points"] == pytest.approx(16 * many["points"])
    assert few["field"] == many["field"]
    assert few["halo"] < many["halo"]
    assert [model.levels(workers) for workers in (1, 2, 8, 9, 64, 65)] == [0, 1, 1, 2, 2, 3]
