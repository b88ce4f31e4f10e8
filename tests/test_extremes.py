"""Fill values among ordinary values: the other rows are not affected, and the user is warned."""

import warnings

import numpy as np
import pytest
from scipy import sparse

from pixelsne import PixelSNE, _core, quality
from pixelsne.comparison import shared_neighbors
from pixelsne.extremes import EXTREME
from pixelsne.neighbors import find_neighbors
from pixelsne.reduce import fit_reduction

ROWS = 700
SHAPES = {"at most 50": 50, "more": 64, "more than 2,048": 2100}


def fill_row(values):
    values[77] = 1e20
    return [77]


def fill_rows(values):
    rows = np.arange(5, len(values), 100)
    values[rows] = 1e12
    return rows


def fill_cell(values):
    values[77, 20] = 9.97e36
    return [77]


KINDS = {"a row of 1e20": fill_row, "1 % of rows at 1e12": fill_rows, "a cell at 9.97e36": fill_cell}


def some_digits(digits, columns):
    values = np.zeros((ROWS, columns))
    values[:, :64] = digits[0][:ROWS, :columns]
    return values


def add_fill_values(values, kind):
    """Return a copy with fill values, and a mask of the rows without them."""
    filled, ordinary_rows = values.copy(), np.ones(len(values), dtype=bool)
    ordinary_rows[KINDS[kind](filled)] = False
    return filled, ordinary_rows


def quick(**parameters):
    return PixelSNE(perplexity=15, max_iter=250, random_state=0, **parameters)


def shared_share(points, reference):
    found, true = (find_neighbors(np.ascontiguousarray(one), 10, "exact", 0, 1).indices for one in (points, reference))
    return shared_neighbors(found, true).mean() / 10


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.*would dominate")
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("columns", SHAPES.values(), ids=SHAPES)
@pytest.mark.parametrize("make", [np.array, sparse.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
def test_ordinary_rows_keep_their_neighbors(digits, kind, columns, make, metric):
    values = some_digits(digits, columns)
    filled, ordinary_rows = add_fill_values(values, kind)
    token = _core.ProgressToken()
    reduced, expected = (
        fit_reduction(make(one), 50, 0, token, metric=metric).apply(make(one), token, 1) for one in (filled, values)
    )
    assert np.isfinite(reduced).all()
    assert shared_share(reduced[ordinary_rows], expected[ordinary_rows]) > 0.95


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.*would dominate")
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("neighbors", ["exact", "clusters"])
@pytest.mark.parametrize("columns", [50, 64])
def test_the_map_of_ordinary_rows_is_as_good_as_without_fill_values(digits, kind, neighbors, columns):
    values, labels = some_digits(digits, columns), digits[1][:ROWS]
    filled, ordinary_rows = add_fill_values(values, kind)
    embedding = quick(neighbors=neighbors).fit(filled).embedding_[ordinary_rows]
    expected = quick(neighbors=neighbors).fit(values[ordinary_rows]).embedding_
    assert len(np.unique(embedding.astype(int), axis=0)) > 0.95 * len(np.unique(expected.astype(int), axis=0))
    precisions = (quality.neighborhood_precision(values[ordinary_rows], one, 10) for one in (embedding, expected))
    accuracies = (quality.knn_accuracy(one, labels[ordinary_rows], 10) for one in (embedding, expected))
    for ours, reference in (precisions, accuracies):
        assert ours > reference - 0.03


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        ("a row of 1e20", ["64 values of X in one row", "1e+20 in row 77, column 0"]),
        ("1 % of rows at 1e12", ["448 values of X in 7 rows", "1e+12 in row 5, column 0"]),
        ("a cell at 9.97e36", ["one value of X in one row", "9.97e+36 in row 77, column 20"]),
    ],
)
@pytest.mark.parametrize("make", [np.array, sparse.csr_array], ids=["dense", "sparse"])
def test_one_warning_names_row_column_and_value(digits, kind, words, make):
    filled, _ = add_fill_values(some_digits(digits, 64), kind)
    with pytest.warns(UserWarning, match="would dominate the scale") as warned:
        quick().set_params(max_iter=1).fit(make(filled))
    assert len(warned) == 1
    for word in words:
        assert word in str(warned[0].message)


def test_fill_values_in_many_rows_give_a_warning(digits):
    values = some_digits(digits, 64)
    values[::3, 5] = 9.97e36
    with pytest.warns(UserWarning, match=r"such as 9\.97e\+36 in column 5 .* in about 33 % of the rows"):
        quick().set_params(max_iter=1).fit(values)


@pytest.mark.slow
@pytest.mark.parametrize(
    "make",
    [
        lambda random: random.lognormal(0, 4, (3000, 8)),
        lambda random: random.poisson(random.gamma(0.1, 100, (500, 300))),
        lambda random: np.eye(400)[random.integers(400, size=1000)],
        lambda random: np.column_stack([random.normal(size=(500, 20)), 1.7e18 + 1e15 * random.normal(size=500)]),
        lambda random: np.exp(-random.gamma(2, 20, (500, 60))),
        lambda random: np.vstack([np.zeros((600, 10)), random.normal(size=(20, 10))]),
        lambda random: sparse.random_array((500, 5000), density=0.002, rng=random, format="csr"),
    ],
    ids=["log-normal", "counts", "one-hot", "time stamps", "probabilities", "mostly zeros", "sparse text"],
)
def test_ordinary_data_are_not_changed(random, make):
    values = make(random)
    reduction = fit_reduction(values, 50, 0, _core.ProgressToken())
    assert reduction.preprocessing.ordinary is None
    assert reduction.warning == ""
    assert reduction.preprocessing.unit == abs(values).max()


def test_only_values_beyond_the_threshold_are_replaced(random):
    values = random.normal(size=(500, 4))
    usual = np.quantile(np.abs(values - np.median(values, axis=0)).max(axis=1), 0.9, method="lower")
    values[3, 2] = 0.99 * EXTREME * usual
    assert fit_reduction(values, None, 0, _core.ProgressToken()).preprocessing.ordinary is None
    values[3, 2] = 1.01 * EXTREME * usual
    ordinary = fit_reduction(values, None, 0, _core.ProgressToken()).preprocessing.ordinary
    rest = np.delete(values, 3, axis=0)
    assert (ordinary.low[2], ordinary.high[2]) == (rest[:, 2].min(), rest[:, 2].max())
    assert (ordinary.high[[0, 1, 3]] > 1e300).all(), "columns without extreme values have no limits"


def test_negative_fill_values_become_the_minimum(random):
    values = random.normal(size=(500, 4))
    values[3, 2] = -1e30
    reduction = fit_reduction(values, None, 0, _core.ProgressToken())
    points = reduction.apply(values, _core.ProgressToken(), 1)
    assert points[3, 2] == points[:, 2].min()


@pytest.mark.parametrize("n", [2, 3, 5, 12])
def test_few_rows_with_fill_values_give_a_finite_map(n, random):
    values = random.normal(size=(n, 60))
    values[n - 1] = 1e20
    with warnings.catch_warnings(action="ignore"):
        assert np.isfinite(quick().fit(values).embedding_).all()


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.*would dominate")
def test_transform_treats_fill_values_like_fit(digits, tmp_path):
    filled, ordinary_rows = add_fill_values(some_digits(digits, 64), "a row of 1e20")
    model = quick().fit(filled)
    model.save(tmp_path / "model")
    loaded = PixelSNE.load(tmp_path / "model")
    assert loaded.n_pca_ == model.n_pca_ == 50
    assert (model.transform(filled) == model.embedding_).all()
    assert (loaded.transform(filled) == model.embedding_).all()
    new = digits[0][ROWS : ROWS + 50].copy()
    before = model.transform(new)
    new[7] = 1e25
    again = loaded.transform(new)
    assert np.isfinite(again).all()
    assert (np.delete(again, 7, axis=0) == np.delete(before, 7, axis=0)).all()
    assert ordinary_rows.sum() == ROWS - 1


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.*would dominate")
def test_same_bits_at_any_thread_count(digits):
    filled, _ = add_fill_values(some_digits(digits, 64), "1 % of rows at 1e12")
    first, second = (quick(n_jobs=jobs).set_params(max_iter=50).fit(filled).positions_ for jobs in (1, 3))
    assert (first == second).all()
