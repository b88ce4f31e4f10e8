"""What scikit-learn asks of its citizens."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from pixelsne import PixelSNE


@pytest.mark.filterwarnings("ignore:perplexity=30 is too large")
@parametrize_with_checks([PixelSNE()])
def test_scikit_learns_own_checks(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def small(digits):
    return digits[0][:200]


def quick(**changes):
    return PixelSNE(**({"perplexity": 10, "max_iter": 60, "random_state": 0} | changes))


def test_the_defaults_skip_no_check():
    tags = PixelSNE().__sklearn_tags__()
    assert not tags.non_deterministic
    assert not tags.no_validation
    assert tags.input_tags.sparse


def test_in_a_pipeline(small):
    pipeline = make_pipeline(StandardScaler(), quick())
    placed = pipeline.fit_transform(small)
    np.testing.assert_array_equal(pipeline.transform(small[:5]), placed[:5])
    assert list(pipeline.get_feature_names_out()) == ["pixelsne0", "pixelsne1"]


def test_a_clone_draws_the_same_map(small):
    model = quick().fit(small)
    np.testing.assert_array_equal(clone(model).fit(small).embedding_, model.embedding_)


@pytest.mark.parametrize(("output", "frame"), [("pandas", pd.DataFrame), ("polars", pl.DataFrame)])
def test_output_as_frames(output, frame, small):
    model = quick().set_output(transform=output)
    for placed in (model.fit_transform(small), model.transform(small[:3])):
        assert isinstance(placed, frame)
        assert list(placed.columns) == ["pixelsne0", "pixelsne1"]


def frames_of(values):
    names = [f"column {index}" for index in range(values.shape[1])]
    table = pd.DataFrame(values, columns=names)
    return {
        "pandas": table,
        "polars": pl.from_pandas(table),
        "pyarrow": pa.Table.from_pandas(table),
    }


@pytest.mark.parametrize("kind", ["pandas", "polars", "pyarrow"])
def test_frames_go_in_with_their_names(kind, small):
    frame = frames_of(small)[kind]
    model = quick().fit(frame)
    np.testing.assert_array_equal(model.embedding_, quick().fit(small).embedding_)
    assert list(model.feature_names_in_)[:2] == ["column 0", "column 1"]
    np.testing.assert_array_equal(model.transform(frame[:4]), model.embedding_[:4])


@pytest.mark.parametrize("kind", ["pandas", "polars", "pyarrow"])
def test_columns_that_hold_no_numbers_are_named(kind, small):
    table = pd.DataFrame(small).rename(columns=str).assign(city="Oslo")
    frame = {"pandas": table, "polars": pl.from_pandas(table), "pyarrow": pa.Table.from_pandas(table)}[kind]
    with pytest.raises(ValueError, match=r"leave out the columns.*city"):
        quick().fit(frame)


def test_as_html(small):
    assert "PixelSNE" in quick().fit(small)._repr_html_()


def test_a_pickled_model_transforms(small):
    model = quick().fit(small[:150])
    copy = pickle.loads(pickle.dumps(model))  # noqa: S301 - our own
    np.testing.assert_array_equal(copy.transform(small[150:]), model.transform(small[150:]))


def test_a_fit_that_fails_leaves_no_map(small):
    model = quick().fit(small)
    with pytest.raises(ValueError, match="NaN"):
        model.fit(np.full((20, 3), np.nan))
    with pytest.raises(NotFittedError):
        model.transform(small)
    with pytest.raises(NotFittedError):
        model.get_feature_names_out()


def test_a_map_to_start_from_survives_cloning(small):
    start = quick().fit(small)
    model = clone(quick(init=start))
    assert model.init is start
    assert model.fit(small).embedding_.shape == (200, 2)


@pytest.mark.parametrize("nothing", [[], [[]], np.empty((0, 3))])
def test_nothing_is_refused(nothing):
    with pytest.raises(ValueError, match=r"array|sample|minimum"):
        quick().fit(nothing)


def test_lazy_frames_are_named(small):
    with pytest.raises(ValueError, match=r"X is a lazy frame; give X.collect\(\)"):
        quick().fit(pl.DataFrame(small).lazy())
