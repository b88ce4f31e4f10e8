"""The conventions of scikit-learn."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.metrics import pairwise_distances
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from pixelsne import PixelSNE
from pixelsne.choices import METRICS, PRECOMPUTED_METRICS


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:perplexity=30 is too large")
@parametrize_with_checks([PixelSNE()])
def test_estimator_checks_of_scikit_learn(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def small(digits):
    return digits[0][:200]


def quick(**changes):
    return PixelSNE(**({"perplexity": 10, "max_iter": 60, "random_state": 0} | changes))


def test_the_tags_skip_no_check():
    tags = PixelSNE().__sklearn_tags__()
    assert not tags.non_deterministic
    assert not tags.no_validation
    assert tags.input_tags.sparse


def test_pixelsne_in_a_pipeline(small):
    pipeline = make_pipeline(StandardScaler(), quick())
    placed = pipeline.fit_transform(small)
    np.testing.assert_array_equal(pipeline.transform(small[:5]), placed[:5])
    assert list(pipeline.get_feature_names_out()) == ["pixelsne0", "pixelsne1"]


def test_a_clone_draws_the_same_map(small):
    model = quick().fit(small)
    np.testing.assert_array_equal(clone(model).fit(small).embedding_, model.embedding_)


@pytest.mark.parametrize(("output", "frame"), [("pandas", pd.DataFrame), ("polars", pl.DataFrame)])
def test_set_output_returns_frames(output, frame, small):
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
def test_frames_are_fitted_with_their_names(kind, small):
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


SPARSE_FRAMES = {
    "all sparse": lambda frame: frame.astype(pd.SparseDtype(float, fill_value=0.0)),
    "whole numbers": lambda frame: frame.astype(int).astype(pd.SparseDtype(int, fill_value=0)),
    "another fill value": lambda frame: frame.astype(pd.SparseDtype(float, fill_value=1.0)),
    "no fill value": lambda frame: frame.astype(pd.SparseDtype(float)),
    "some columns": lambda frame: frame.astype(dict.fromkeys(frame.columns[::2], pd.SparseDtype(float, 0.0))),
}


@pytest.mark.parametrize("kind", SPARSE_FRAMES)
def test_frames_with_sparse_columns(kind, small):
    dense = frames_of(small)["pandas"]
    frame = SPARSE_FRAMES[kind](dense)
    model = quick().fit(frame)
    np.testing.assert_array_equal(model.embedding_, quick().fit(small).embedding_)
    assert list(model.feature_names_in_) == list(dense.columns)
    np.testing.assert_array_equal(model.transform(frame[:4]), model.embedding_[:4])
    np.testing.assert_array_equal(model.transform(dense[:4]), model.embedding_[:4])


def test_sparse_columns_of_frames_are_not_made_dense(small, monkeypatch):
    frame = SPARSE_FRAMES["all sparse"](frames_of(small)["pandas"])
    monkeypatch.setattr(type(frame.sparse), "to_dense", lambda _: pytest.fail("was made dense"))
    assert quick(metric="manhattan").fit(frame).embedding_.shape == (200, 2)


def test_sparse_columns_are_refused_by_metrics_for_dense_rows(small):
    frame = SPARSE_FRAMES["all sparse"](frames_of(small)["pandas"])
    with pytest.raises(ValueError, match=r"takes no sparse X.*X.sparse.to_dense\(\)"):
        quick(metric="chebyshev").fit(frame)


def test_sparse_columns_that_hold_no_numbers_are_named(small):
    frame = frames_of(small)["pandas"].assign(city=pd.arrays.SparseArray(["Oslo"] * 200))
    with pytest.raises(ValueError, match=r"leave out the columns.*city"):
        quick().fit(frame)


@pytest.mark.parametrize("kind", ["pandas", "sparse", "pyarrow"])
def test_columns_with_equal_names(kind, small):
    names = ["a", "b"] * 32
    frame = pd.DataFrame(small, columns=names)
    if kind == "pyarrow":
        frame = pa.table([pa.array(column) for column in small.T], names=names)
    elif kind == "sparse":
        frame = SPARSE_FRAMES["all sparse"](frame)
    model = quick().fit(frame)
    np.testing.assert_array_equal(model.embedding_, quick().fit(small).embedding_)
    np.testing.assert_array_equal(model.transform(frame[:4]), model.embedding_[:4])
    assert list(model.feature_names_in_[:2]) == ["a (column 0)", "b (column 1)"]


def test_columns_with_equal_names_without_numbers_are_numbered(small):
    frame = pd.DataFrame(small[:, :3], columns=["a", "a", "b"]).astype(object)
    frame.isetitem(1, pd.Series(["Oslo"] * 200, dtype="string"))
    with pytest.raises(ValueError, match=r"leave out the columns a \(column 1\) "):
        quick().fit(frame)


def test_a_model_has_an_html_representation(small):
    assert "PixelSNE" in quick().fit(small)._repr_html_()


def test_a_pickled_model_transforms(small):
    model = quick().fit(small[:150])
    copy = pickle.loads(pickle.dumps(model))  # noqa: S301 - our own data
    np.testing.assert_array_equal(copy.transform(small[150:]), model.transform(small[150:]))


def test_a_failed_fit_leaves_the_model_unfitted(small):
    model = quick().fit(small)
    with pytest.raises(ValueError, match="NaN"):
        model.fit(np.full((20, 3), np.nan))
    with pytest.raises(NotFittedError):
        model.transform(small)
    with pytest.raises(NotFittedError):
        model.get_feature_names_out()


def test_a_clone_keeps_the_initial_model(small):
    start = quick().fit(small)
    model = clone(quick(init=start))
    assert model.init is start
    assert model.fit(small).embedding_.shape == (200, 2)


@pytest.mark.parametrize("empty", [[], [[]], np.empty((0, 3))])
def test_empty_input_is_refused(empty):
    with pytest.raises(ValueError, match=r"array|sample|minimum"):
        quick().fit(empty)


def test_lazy_frames_are_refused_with_a_remedy(small):
    with pytest.raises(ValueError, match=r"X is a lazy frame; give X.collect\(\)"):
        quick().fit(pl.DataFrame(small).lazy())


@pytest.mark.filterwarnings("ignore:Data was converted to boolean")
class TestTags:
    """Input that the tags allow is fitted, and input that they exclude is refused."""

    def valid_input(self, metric, small):
        """Return input that suits the metric."""
        values = small[:, 20:22] / 10 if metric == "haversine" else small + 0.5
        return pairwise_distances(values) if metric in PRECOMPUTED_METRICS else values

    def is_fitted(self, metric, values):
        try:
            placed = quick(metric=metric).fit(values).embedding_
        except (ValueError, TypeError):
            return False
        return placed.shape == (len(placed), 2) and bool(np.isfinite(placed).all())

    @pytest.fixture(params=METRICS)
    def metric(self, request):
        return request.param

    def tags(self, metric):
        return quick(metric=metric).__sklearn_tags__().input_tags

    def test_two_dimensions(self, metric, small):
        values = self.valid_input(metric, small)
        tags = self.tags(metric)
        assert tags.two_d_array == self.is_fitted(metric, values)
        assert tags.one_d_array == self.is_fitted(metric, values[0])
        assert tags.three_d_array == self.is_fitted(metric, values[:, :, None])

    def test_sparse(self, metric, small):
        values = sparse.csr_array(self.valid_input(metric, small))
        assert self.tags(metric).sparse == self.is_fitted(metric, values)

    def test_positive_only(self, metric, small):
        values = self.valid_input(metric, small)
        assert self.tags(metric).positive_only != self.is_fitted(metric, -values)

    def test_pairwise(self, metric, small):
        """The tag pairwise means that a row has a number for every other row."""
        tall = self.valid_input("haversine" if metric == "haversine" else "euclidean", small)
        assert self.tags(metric).pairwise != self.is_fitted(metric, tall)

    def test_missing_values(self, metric, small):
        values = self.valid_input(metric, small).copy()
        values[3, 1] = np.nan
        assert self.tags(metric).allow_nan == self.is_fitted(metric, values)

    @pytest.mark.slow
    def test_strings_and_categories(self, metric, small):
        words = np.full(self.valid_input(metric, small).shape, "Oslo")
        tags = self.tags(metric)
        assert tags.string == self.is_fitted(metric, words)
        assert tags.categorical == self.is_fitted(metric, pd.DataFrame(words).astype("category"))
        assert tags.dict == self.is_fitted(metric, {"a": [1.0, 2.0]})

    def test_precomputed_distances_are_split_by_rows_and_columns(self, small):
        """As scikit-learn's tools split it, which read the tag."""
        from sklearn.utils.metaestimators import _safe_split  # noqa: PLC0415 - the private name may change

        distances = pairwise_distances(small)
        rows, held_out = train_test_split(np.arange(len(small)), random_state=0)
        model = quick(metric="precomputed")
        first, _ = _safe_split(model, distances, None, rows)
        second, _ = _safe_split(model, distances, None, held_out, rows)
        assert model.fit(first).transform(second).shape == (len(held_out), 2)

    def test_an_invalid_metric_is_reported_by_fit_and_not_by_tags(self, small):
        for wrong in (7, None, "nothing"):
            model = PixelSNE(metric=wrong)
            assert model.__sklearn_tags__().input_tags.two_d_array
            with pytest.raises((ValueError, TypeError), match="metric"):
                model.fit(small)
