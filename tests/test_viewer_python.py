"""`viewer.show` and `viewer.watch` as Python calls them."""

import io

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv
import pytest

from pixelsne import PixelSNE, viewer
from pixelsne.viewer.columns import table_of
from pixelsne.viewer.live_run import LiveRun
from pixelsne.viewer.serving import map_bytes
from pixelsne.viewer.watch_run import current_map

NAMES = [f"kind {index % 3}" for index in range(600)]
SIZES = np.arange(600) / 7
COLUMNS = {"kind": NAMES, "size": SIZES}
QUICK = {"perplexity": 10, "max_iter": 30, "random_state": 0}


@pytest.fixture(scope="module")
def fitted(clusters):
    return PixelSNE(**QUICK).fit(clusters)


@pytest.mark.parametrize(
    "columns",
    [
        COLUMNS,
        pd.DataFrame(COLUMNS),
        pd.DataFrame(COLUMNS, index=range(1000, 1600)),
        pd.DataFrame(COLUMNS).astype({"kind": "category"}),
        pl.DataFrame(COLUMNS),
        pl.DataFrame(COLUMNS).with_columns(pl.col("kind").cast(pl.Categorical)),
        pa.table(COLUMNS),
        {"kind": pl.Series(NAMES), "size": pd.Series(SIZES)},
    ],
    ids=[
        "dictionary",
        "pandas",
        "pandas, indexed",
        "pandas, categories",
        "polars",
        "polars, categories",
        "pyarrow",
        "columns",
    ],
)
def test_frames_of_columns(columns, fitted):
    with viewer.show(fitted, columns=columns, color="kind", open_browser=False) as view:
        shown = {column.name: column for column in view._server.page.columns}
    assert shown["kind"].categories == ("kind 0", "kind 1", "kind 2")
    assert np.array_equal(np.frombuffer(shown["kind"].content, dtype="u1"), np.arange(600) % 3)
    assert shown["size"].kind == "number"


def test_columns_of_one_name_are_told_apart():
    frame = pd.DataFrame([[1, "a"], [2, "b"]], columns=["x", "x"])
    assert table_of(frame, 2).column_names == ["x (column 0)", "x (column 1)"]


@pytest.mark.parametrize(
    ("columns", "words"),
    [
        (pd.DataFrame({"kind": NAMES[:5]}), r"columns\['kind'\] has 5 values, the map 600 points"),
        (["a", "b"], "a dictionary of arrays, a data frame or a pyarrow table, got list"),
    ],
)
def test_columns_that_do_not_fit(columns, words, fitted):
    with pytest.raises((TypeError, ValueError), match=words):
        viewer.show(fitted, columns=columns, open_browser=False)


def test_a_notebook_cell_says_where_selections_arrive(fitted):
    with viewer.show(fitted, open_browser=False) as view:
        cell = view._repr_html_()
        assert "does not reach Python" in cell
        assert f'href="{view.address}"' in cell


# Saving while a run goes on


def saved(view):
    """Return the positions that "Save map" writes."""
    table = pyarrow.csv.read_csv(io.BytesIO(view._server._write_rows(None, "csv")))
    return np.column_stack([table["x"], table["y"]])


@pytest.mark.slow
@pytest.mark.parametrize("fitted_before", [False, True])
def test_a_map_is_saved_while_it_forms(clusters, fitted_before):
    model = PixelSNE(**QUICK | {"max_iter": 100_000, "tol": 0.0, "n_jobs": 1})
    if fitted_before:
        model.set_params(max_iter=30).fit(clusters[:300])
        model.set_params(max_iter=100_000)
    with viewer.watch(model, clusters, open_browser=False) as view:
        live = view._server.live
        while live.positions() is None:
            live.frame_after(0)
        live.pause()
        first = saved(view)
        assert first.shape == (600, 2)
        assert np.ptp(first, axis=0).max() > 100
        live.stop()
        view.wait()
        np.testing.assert_allclose(saved(view), model.embedding_, atol=0.1)


def test_before_there_is_a_map_nothing_is_saved():
    live = LiveRun(iter(()), 10, lambda: "max_iter")
    with pytest.raises(ValueError, match="the run is still preparing"):
        map_bytes(current_map(PixelSNE(), live, (64, 64), None), None, "csv")
