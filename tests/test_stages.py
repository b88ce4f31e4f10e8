"""The small stages: reduction, initial positions, watched calls."""

import threading
import time

import numpy as np
import pytest
from sklearn.decomposition import PCA

from pixelsne import reduce as reduce_module
from pixelsne.initial_positions import DEFAULT_INIT_SCALE, initial_positions, noise_positions, shrink
from pixelsne.reduce import center_and_rescale, principal_components, reduce
from pixelsne.watched import watched


def test_standardize_centers_and_scales(random):
    values = random.normal(3, 7, (500, 4))
    points = center_and_rescale(values)
    assert points.dtype == np.float32
    np.testing.assert_allclose(points.mean(axis=0), 0, atol=1e-6)
    assert np.square(points).mean() == pytest.approx(1.0, rel=1e-5)
    np.testing.assert_allclose(points, (values - values.mean(axis=0)) / values.std(axis=0).mean(), rtol=0.1, atol=0.1)


@pytest.mark.parametrize("factor", [1e-30, 1.0, 1e30, 1e300])
def test_standardize_neither_overflows_nor_vanishes(factor, random):
    values = random.normal(size=(100, 3))
    np.testing.assert_allclose(center_and_rescale(values * factor), center_and_rescale(values), rtol=1e-5, atol=1e-6)


def test_a_large_offset_does_not_lose_the_variation(random):
    values = random.normal(size=(100, 3))
    np.testing.assert_allclose(center_and_rescale(values + 1e9), center_and_rescale(values), atol=1e-5)


def test_small_integers_do_not_overflow():
    values = np.array([[-128, 127], [127, -128]], dtype=np.int8)
    np.testing.assert_allclose(center_and_rescale(values), [[-1, 1], [1, -1]])


def test_blocks_do_not_change_the_result(random, monkeypatch):
    values = random.normal(size=(1000, 60))
    whole = reduce(values, 5, 0)
    monkeypatch.setattr("pixelsne.reduction.NUMBERS_PER_BLOCK", 700)
    np.testing.assert_allclose(reduce(values, 5, 0), whole, atol=1e-5)


def test_principal_components_against_scikit_learn(digits):
    points = center_and_rescale(digits[0])
    found = principal_components(points, 10, 0)
    expected = PCA(10, svd_solver="full").fit_transform(points.astype(np.float64))
    np.testing.assert_allclose(np.abs(found), np.abs(expected), atol=1e-4)


def test_wide_input_gives_the_same_components_by_iteration(random, monkeypatch):
    points = center_and_rescale(random.normal(size=(100, 3)) @ random.normal(size=(3, 40)))
    narrow = principal_components(points, 3, 0)
    monkeypatch.setattr(reduce_module, "MAX_COVARIANCE_COLUMNS", 10)
    np.testing.assert_allclose(np.abs(principal_components(points, 3, 0)), np.abs(narrow), atol=1e-4)


@pytest.mark.parametrize(
    ("shape", "n_pca", "columns"),
    [((200, 80), 50, 50), ((30, 80), 50, 30), ((200, 20), 50, 20), ((200, 80), None, 80)],
)
def test_reduce_keeps_the_given_number_of_components(shape, n_pca, columns, random):
    assert reduce(random.normal(size=shape), n_pca, 0).shape == (shape[0], columns)


def test_pca_initial_positions(digits):
    points = reduce(digits[0], 50, 0)
    start = initial_positions(points, "pca", 0)
    assert start.std(axis=0)[0] == pytest.approx(DEFAULT_INIT_SCALE, rel=1e-5)
    assert start.std(axis=0)[1] < DEFAULT_INIT_SCALE, "both axes share one scale"
    components = PCA(2).fit_transform(points)
    assert abs(np.corrcoef(start[:, 0], components[:, 0])[0, 1]) > 0.9999
    assert abs(np.corrcoef(start[:, 1], components[:, 1])[0, 1]) > 0.9999


def test_constant_axes_get_noise(random):
    line = np.column_stack([random.normal(size=100), np.zeros(100)])
    start = shrink(line, 0)
    assert start[:, 1].std() == pytest.approx(DEFAULT_INIT_SCALE, rel=0.3)
    for start in (
        shrink(np.ones((100, 2)), 0),
        initial_positions(np.ones((100, 1), dtype=np.float32), "pca", 0),
    ):
        assert (start.std(axis=0) > DEFAULT_INIT_SCALE / 2).all()


def test_outliers_do_not_shrink_the_initial_positions_of_others(random):
    values = random.normal(size=(500, 2))
    before = shrink(values, 0)
    values[:3] *= 1e6
    start = shrink(values, 0)
    assert np.abs(start).max() < 10 * DEFAULT_INIT_SCALE
    np.testing.assert_allclose(start[3:].std(axis=0), before[3:].std(axis=0), rtol=0.3)


def test_noise_has_the_documented_deviation():
    assert noise_positions(10_000, 0).std() == pytest.approx(DEFAULT_INIT_SCALE, rel=0.05)


def finish(generator):
    fractions = []
    while True:
        try:
            fractions.append(next(generator))
        except StopIteration as end:
            return fractions, end.value


def test_watched_returns_the_result_and_yields_fractions():
    fractions, result = finish(watched(lambda _token: time.sleep(0.2) or 42))
    assert result == 42
    assert fractions


def test_watched_raises_the_error_of_the_call():
    def fail(_token):
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        finish(watched(fail))


def test_closing_a_watched_call_cancels_it():
    ended = threading.Event()

    def work(token):
        while not token.cancelled:
            time.sleep(0.01)
        ended.set()

    running = watched(work)
    next(running)
    running.close()
    assert ended.is_set()
