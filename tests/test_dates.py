"""Dates are drawn with a color bar, in pictures and on the page, with dates as its ticks."""

import datetime as dt
import io

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from command_line import run
from pixelsne.coloring import choose_coloring
from pixelsne.dates import DAY, as_dates, date_ticks
from pixelsne.files.maps import Map
from pixelsne.files.write_map import write_map
from pixelsne.plot import PlotStyle, save_picture
from pixelsne.viewer.column_types import column_of
from pixelsne.viewer.layout import page_of

DAYS = np.datetime64("1995-03-01") + np.arange(3000)
MILLISECONDS = DAYS.astype("datetime64[ms]").astype(np.int64)

KINDS = {
    "days": DAYS,
    "nanoseconds": DAYS.astype("datetime64[ns]"),
    "dates of Python": np.array(DAYS.tolist(), dtype=object),
    "times of Python": np.array(DAYS.astype("datetime64[us]").tolist(), dtype=object),
    "a column": pa.chunked_array([pa.array(DAYS)]),
    "times in a column": pa.chunked_array([pa.array(DAYS.astype("datetime64[us]"))]),
    "a dictionary": pa.chunked_array([pa.array(DAYS).dictionary_encode()]),
    "a series with a zone": np.asarray(pd.Series(DAYS).dt.tz_localize("Asia/Tokyo")),
    "a column with a zone": pa.chunked_array([pa.array(pd.Series(DAYS).dt.tz_localize("Asia/Tokyo"))]),
}


@pytest.mark.parametrize("kind", KINDS)
def test_every_type_of_date_gets_a_color_bar(kind):
    np.testing.assert_array_equal(as_dates(KINDS[kind]), MILLISECONDS)
    for color_as in ("auto", "label", "numbers"):
        coloring = choose_coloring(KINDS[kind], "born", color_as)
        assert coloring.bar.dates
        assert coloring.legend == ()
    column = column_of("born", KINDS[kind], is_label=True)
    assert column.kind == "date"
    np.testing.assert_array_equal(np.frombuffer(column.content, "<f8"), MILLISECONDS)


def test_dates_may_be_categories_on_request():
    coloring = choose_coloring(DAYS, "born", "categories")
    assert coloring.bar is None
    assert coloring.legend[-1][0] == "2,981 others"


@pytest.mark.parametrize("values", [["a", "b"], [1.5, 2.0], [dt.date(2020, 1, 1), "later"]])
def test_values_that_are_no_dates(values):
    assert as_dates(np.array(values, dtype=object)) is None
    assert as_dates(pa.chunked_array([pa.array(list(map(str, values)))])) is None


def test_missing_dates_are_gray():
    dates = np.array(["2020-01-01", "NaT", "2021-01-01"], dtype="datetime64[D]")
    assert np.isnan(as_dates(dates)).tolist() == [False, True, False]
    assert np.isnan(as_dates(pa.chunked_array([pa.array(dates)]))).tolist() == [False, True, False]
    assert [name for name, _ in choose_coloring(dates).legend] == ["no value"]


@pytest.mark.parametrize(
    ("first", "last", "expected"),
    [
        ("1990-06-01", "2020-02-01", ["2000", "2010"]),
        ("2020-01-15", "2020-06-20", ["2020-02", "2020-03"]),
        ("2020-03-01", "2020-03-20", ["2020-03-05", "2020-03-09"]),
        ("2020-03-01T08:00", "2020-03-01T11:00", ["2020-03-01 09:00"]),
    ],
)
def test_ticks_are_round_dates(first, last, expected):
    low, high = (float(as_dates(np.array([end], dtype="datetime64[ms]"))[0]) for end in (first, last))
    ticks, names = date_ticks(low, high)
    assert set(expected) <= set(names)
    assert 2 <= len(names) <= 8
    assert all(low <= tick <= high for tick in ticks)
    np.testing.assert_array_equal(as_dates(np.array(names, dtype="datetime64[ms]")), ticks)


def test_years_beyond_the_range_of_datetime():
    far = np.array(["0000-01-01", "9999-12-31", "12345-06-07"], dtype="datetime64[s]")
    coloring = choose_coloring(far)
    assert len(date_ticks(coloring.bar.low, coloring.bar.high)[1]) == 2
    assert np.isfinite(as_dates(np.array([2**62], dtype="datetime64[s]"))).all()
    assert coloring.bar.high - coloring.bar.low > 10_000 * 365 * DAY


def test_a_picture_has_dates_beside_its_color_bar():
    file = io.BytesIO()
    pixels = np.random.default_rng(0).integers(0, 256, (3000, 2)).astype(np.int32)
    save_picture(file, pixels, (256, 256), DAYS, name="born", style=PlotStyle(magnify=2), kind="svg")
    text = file.getvalue().decode()
    assert ">1998</text>" in text
    assert "others" not in text


def test_equal_dates_have_a_color_bar_of_one_day():
    same = np.full(5, np.datetime64("2020-02-02"))
    bar = choose_coloring(same).bar
    assert bar.high - bar.low == DAY
    save_picture(io.BytesIO(), np.zeros((5, 2), dtype=np.int32), (64, 64), same, kind="png")


def test_a_date_label_has_a_color_bar_from_file_to_picture(tmp_path):
    placed = np.random.default_rng(0).uniform(0, 64, (3000, 2)).astype(np.float32)
    one = Map(placed, (64, 64), pa.table({"born": DAYS}), {"label": "born"})
    assert page_of(one, "t").color == "born"
    write_map(tmp_path / "map.parquet", one)
    run("plot", tmp_path / "map.parquet", "-o", tmp_path / "map.svg", "--magnify", "2")
    text = (tmp_path / "map.svg").read_text(encoding="utf-8")
    assert ">1998</text>" in text
    assert "others" not in text
