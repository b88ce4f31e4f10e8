"""Metrics for many rows, by pynndescent, against all pairs. The limit of all pairs is lowered.

Numba compiles for about half a minute per metric, so the tests search by one; METRICS=all searches by every metric.
"""

import os
import subprocess
import sys

import numpy as np
import pytest
from scipy import sparse
from sklearn.metrics import pairwise_distances

from pixelsne import PixelSNE, _core, nn_descent
from pixelsne.choices import OTHER_METRICS
from pixelsne.memory import bytes_by_stage, workload
from pixelsne.settings import settings_of
from pixelsne.spaces import PairwiseMetric

LIMIT = "pixelsne.nn_descent.MAX_POINTS_FOR_ALL_PAIRS"
K = 30
SEARCHED = tuple(nn_descent.NAMES) if os.environ.get("METRICS") == "all" else ("hamming",)


@pytest.fixture
def few_pairs(monkeypatch):
    pytest.importorskip("pynndescent")
    monkeypatch.setattr(LIMIT, 100)


@pytest.fixture(scope="module")
def numbers():
    rng = np.random.default_rng(0)
    return rng.normal(0, 3, (12, 20))[rng.integers(0, 12, 1200)] + rng.normal(size=(1200, 20))


@pytest.fixture(scope="module")
def booleans():
    """1,200 distinct rows of 60 booleans, in 12 groups."""
    rng = np.random.default_rng(1)
    rows = rng.random((1300, 60)) < (rng.random((12, 60)) ** 2)[rng.integers(0, 12, 1300)]
    return np.unique(rows, axis=0)[:1200]


@pytest.fixture
def values_of(numbers, booleans):
    def find(metric):
        if metric == "haversine":
            return numbers[:, :2] / np.abs(numbers[:, :2]).max(axis=0) * [1.5, 3.1]
        if metric in {*nn_descent.OF_BOOLEANS, "hamming"}:
            return booleans
        return np.abs(numbers) if metric == "braycurtis" else numbers

    return find


def neighbors_by(metric, values, k=K, seed=0):
    settings = settings_of(PixelSNE(metric=metric), seed)
    token = _core.ProgressToken()
    return PairwiseMetric.from_input(values, settings, token).neighbors(k, settings, token)


def check_against_all_pairs(found, truth, recall):
    """Compare distances and recall with a matrix of all distances. Any of equally distant neighbors counts."""
    truth = truth.copy()
    np.fill_diagonal(truth, np.inf)
    of_found = np.take_along_axis(truth, found.indices.astype(np.int64), axis=1)
    np.testing.assert_allclose(found.distances, of_found, rtol=1e-3, atol=1e-5)
    assert np.isfinite(of_found).all(), "a point is its own neighbor"
    assert (np.diff(found.distances, axis=1) >= 0).all()
    assert all(len(np.unique(row)) == len(row) for row in found.indices)
    farthest = np.sort(truth, axis=1)[:, found.indices.shape[1] - 1 :][:, :1]
    assert np.mean(of_found <= farthest * (1 + 1e-6) + 1e-9) >= recall


@pytest.mark.slow
@pytest.mark.parametrize("metric", nn_descent.NAMES)
def test_names_mean_the_same_distance(metric, values_of):
    distances = pytest.importorskip("pynndescent.distances").named_distances
    rows = nn_descent.comparable_rows(values_of(metric), metric)[:40]
    truth = pairwise_distances(values_of(metric)[:40], metric=metric)
    found = [[distances[nn_descent.NAMES[metric]](one, other) for other in rows] for one in rows]
    np.testing.assert_allclose(found, truth, rtol=1e-3, atol=1e-5)


@pytest.mark.slow
@pytest.mark.usefixtures("few_pairs")
@pytest.mark.parametrize("metric", SEARCHED)
def test_neighbors_are_those_of_all_pairs(metric, values_of):
    values = values_of(metric)
    found = neighbors_by(metric, values)
    assert found.counts is None
    check_against_all_pairs(found, pairwise_distances(values, metric=metric), 0.97)


def test_every_metric_is_searched_or_refused(monkeypatch, numbers):
    monkeypatch.setattr(LIMIT, 100)
    assert set(OTHER_METRICS) - set(nn_descent.NAMES) == {"russellrao"}
    with pytest.raises(ValueError, match=r"metric='russellrao' compares all pairs of at most 100.*precomputed"):
        PixelSNE(metric="russellrao").fit(numbers > 0)


def test_without_pynndescent_the_error_names_the_extra(monkeypatch, numbers):
    monkeypatch.setattr(LIMIT, 1000)
    monkeypatch.setattr("pixelsne.nn_descent.find_spec", lambda _: None)
    expected = (
        r"metric='chebyshev' compares all pairs of at most 1,000 points, got 1,200; for more, install pynndescent "
    )
    with pytest.raises(ValueError, match=expected + r"\(pip install 'pixelsne\[metrics\]'\), or pass a sparse graph.*"):
        PixelSNE(metric="chebyshev").fit(numbers)
    assert PixelSNE(metric="chebyshev", max_iter=5, random_state=0).fit(numbers[:1000]).embedding_.shape == (1000, 2)


@pytest.mark.slow
@pytest.mark.usefixtures("few_pairs")
class TestSearch:
    @pytest.mark.skipif("METRICS" not in os.environ, reason="METRICS=all: numba compiles for a minute")
    def test_sparse_rows(self, numbers):
        values = np.where(np.abs(numbers) > 2, numbers, 0)
        found = neighbors_by("manhattan", sparse.csr_array(values))
        check_against_all_pairs(found, pairwise_distances(values, metric="manhattan"), 0.97)

    def test_a_large_offset_does_not_change_the_neighbors(self, numbers):
        found, shifted = (neighbors_by("manhattan", values) for values in (numbers, numbers + 1e9))
        assert np.mean(found.indices == shifted.indices) > 0.99

    def test_hamming_compares_values_that_float32_cannot_distinguish(self, booleans):
        identifiers = 2**40 + booleans.astype(np.int64)
        found, of_booleans = (neighbors_by("hamming", values) for values in (identifiers, booleans))
        np.testing.assert_array_equal(found.distances, of_booleans.distances)

    def test_few_neighbors(self, booleans):
        truth = pairwise_distances(booleans, metric="hamming")
        check_against_all_pairs(neighbors_by("hamming", booleans, k=5), truth, 0.97)

    def test_the_seed_decides(self, booleans):
        first, second = (neighbors_by("hamming", booleans, seed=3) for _ in range(2))
        np.testing.assert_array_equal(first.indices, second.indices)
        np.testing.assert_array_equal(first.distances, second.distances)

    def test_a_map_and_new_rows(self, booleans, tmp_path):
        model = PixelSNE(metric="hamming", perplexity=10, max_iter=100, random_state=0).fit(booleans[:1100])
        np.testing.assert_array_equal(model.transform(booleans[:20]), model.embedding_[:20])
        model.save(tmp_path / "model")
        placed = PixelSNE.load(tmp_path / "model").transform(booleans[1100:])
        np.testing.assert_array_equal(placed, model.transform(booleans[1100:]))
        nearest = pairwise_distances(booleans[1100:], booleans[:1100], metric="hamming").argmin(axis=1)
        unit = np.ptp(model.embedding_, axis=0).max()
        assert np.median(np.linalg.norm(placed - model.embedding_[nearest], axis=1)) < 0.1 * unit

    def test_few_distinct_rows_are_compared_in_pairs(self, booleans, monkeypatch):
        monkeypatch.setattr("pixelsne.nn_descent.search", lambda *_: pytest.fail("searched"))
        values = np.tile(booleans[:90], (3, 1))
        model = PixelSNE(metric="hamming", perplexity=5, max_iter=20, random_state=0).fit(values)
        assert model.embedding_.shape == (270, 2)


def test_rows_of_zeros(monkeypatch, numbers, booleans):
    monkeypatch.setattr(LIMIT, 100)
    monkeypatch.setattr("pixelsne.nn_descent.find_neighbors_by_nn_descent", lambda *_: "found")
    monkeypatch.setattr("pixelsne.nn_descent.check_available", lambda *_: None)
    values, rows = np.abs(numbers), booleans.copy()
    values[70] = rows[70] = 0
    with pytest.raises(ValueError, match="metric='braycurtis' is not defined between row 70"):
        neighbors_by("braycurtis", values)
    assert neighbors_by("jaccard", rows) == neighbors_by("canberra", values) == "found"


def test_values_beyond_float32_are_refused(monkeypatch, numbers):
    monkeypatch.setattr(LIMIT, 100)
    with pytest.raises(ValueError, match=r"metric='canberra' is computed in float32.*up to 1e\+300.*divide X"):
        nn_descent.comparable_rows(np.full((200, 2), 1e300), "canberra")
    with pytest.raises(ValueError, match=r"metric='manhattan' is computed in float32"):
        nn_descent.comparable_rows(sparse.csr_array(np.full((200, 2), 1e300)), "manhattan")
    np.testing.assert_allclose(
        nn_descent.comparable_rows(numbers + 1e7, "l1"), numbers - numbers.mean(axis=0), atol=1e-5
    )


def test_lists_without_the_point_itself():
    indices = np.array([[0, 1, 2, 3], [2, 1, 0, -1], [3, 0, 1, 2]])
    distances = np.array([[0, 1, 2, 3], [0, 0, 5, np.inf], [1, 2, 2, 2]], dtype=np.float32)
    found = nn_descent.without_itself(indices, distances, 2)
    np.testing.assert_array_equal(found.indices, [[1, 2], [2, 0], [3, 0]])
    np.testing.assert_array_equal(found.distances, [[1, 2], [0, 5], [1, 2]])
    assert found.counts is None
    longer = nn_descent.without_itself(indices, distances, 3)
    np.testing.assert_array_equal(longer.indices, [[1, 2, 3], [2, 0, 0], [3, 0, 1]])
    np.testing.assert_array_equal(longer.counts, [3, 2, 3])
    with pytest.raises(ValueError, match="pynndescent found no neighbors of row 1"):
        nn_descent.without_itself(np.array([[0, 1], [1, -1]]), np.zeros((2, 2)), 1)


def test_memory_of_the_search():
    settings = settings_of(PixelSNE(metric="jaccard"))
    few, many = (workload(np.broadcast_to(True, (n, 100)), settings, 90) for n in (30_000, 30_001))
    assert (few.search, many.search) == ("precomputed", "nn-descent")
    assert bytes_by_stage(many)["neighbors"] > bytes_by_stage(few)["neighbors"]


def test_numba_is_imported_when_it_is_needed():
    code = (
        "import sys, numpy as np; from pixelsne import PixelSNE\n"
        "PixelSNE(metric='hamming', max_iter=2, perplexity=3).fit(np.random.default_rng(0).random((50, 9)) > 0.5)\n"
        "print([name for name in ('numba', 'pynndescent') if name in sys.modules])"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.splitlines()[-1] == "[]"


@pytest.mark.slow
@pytest.mark.skipif("METRICS" not in os.environ, reason="METRICS=all: numba compiles twice")
def test_the_same_bits_at_any_thread_count(booleans, tmp_path):
    pytest.importorskip("pynndescent")
    np.save(tmp_path / "values.npy", booleans)
    code = (
        "import sys, numpy as np; from pixelsne import PixelSNE, nn_descent\n"
        "nn_descent.MAX_POINTS_FOR_ALL_PAIRS = 100\n"
        "model = PixelSNE(metric='jaccard', perplexity=10, max_iter=20, random_state=0, n_jobs=int(sys.argv[1]))\n"
        "np.save(sys.argv[2], model.fit(np.load('values.npy')).positions_)"
    )
    for threads in (1, 7):
        environment = {**os.environ, "NUMBA_NUM_THREADS": str(threads)}
        command = [sys.executable, "-c", code, str(threads), f"{threads}.npy"]
        subprocess.run(command, check=True, cwd=tmp_path, env=environment)
    np.testing.assert_array_equal(np.load(tmp_path / "1.npy"), np.load(tmp_path / "7.npy"))
