"""New points on a fitted map."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from scipy import sparse
from sklearn.metrics import pairwise_distances
from sklearn.neighbors import KNeighborsClassifier, NearestNeighbors, kneighbors_graph

import reference
from pixelsne import PixelSNE, _core, quality


@pytest.fixture(scope="module")
def halves(digits):
    """Digits in random order: fitted rows, new rows, and their labels."""
    order = np.random.default_rng(0).permutation(len(digits[0]))
    values, labels = digits[0][order], digits[1][order]
    return values[:1300], values[1300:], labels[:1300], labels[1300:]


@pytest.fixture(scope="module")
def model(halves):
    return PixelSNE(random_state=0).fit(halves[0])


def test_new_points_are_placed_near_their_class(model, halves):
    _, new, labels, new_labels = halves
    placed = model.transform(new)
    classifier = KNeighborsClassifier(10).fit(model.embedding_, labels)
    own = quality.knn_accuracy(model.embedding_, labels, 10)
    assert classifier.score(placed, new_labels) > own - 0.02


def test_fitted_rows_keep_their_positions(model, halves):
    before = model.embedding_.copy()
    np.testing.assert_array_equal(model.transform(halves[0]), before)
    np.testing.assert_array_equal(model.embedding_, before)


@pytest.mark.slow
@pytest.mark.parametrize("d", [10, 64, 300])
def test_new_rows_do_not_affect_each_other(d):
    rng = np.random.default_rng(d)
    values = rng.normal(size=(500, d)) * np.linspace(1, 3, d)
    model = PixelSNE(perplexity=10, max_iter=100, random_state=0).fit(values[:400])
    together = model.transform(values[400:])
    one_by_one = np.concatenate([model.transform(values[row : row + 1]) for row in range(400, 500)])
    np.testing.assert_array_equal(one_by_one, together)
    np.testing.assert_array_equal(model.transform(values[400:][::-1])[::-1], together)
    np.testing.assert_array_equal(model.transform(values[:400]), model.embedding_)


@pytest.mark.parametrize("n_jobs", [1, 2, 5])
def test_same_bits_at_any_thread_count(n_jobs, model, halves):
    expected = model.transform(halves[1])
    np.testing.assert_array_equal(model.set_params(n_jobs=n_jobs).transform(halves[1]), expected)
    model.set_params(n_jobs=-1)


def test_transform_from_several_threads(model, halves):
    parts = np.array_split(halves[1], 8)
    with ThreadPoolExecutor(4) as pool:
        placed = list(pool.map(model.transform, parts))
    np.testing.assert_array_equal(np.concatenate(placed), model.transform(halves[1]))


@pytest.mark.parametrize("factor", [1e6, 1e30, 1e300])
def test_distant_points_stay_on_the_screen(factor, model, halves):
    placed = model.transform(halves[1] * factor)
    assert np.isfinite(placed).all()
    assert (placed >= 0).all()
    assert (placed < 1024).all()


def test_a_different_number_of_columns_is_refused(model, halves):
    with pytest.raises(ValueError, match="64 features"):
        model.transform(halves[1][:, :20])


def conditional(rng, m, n, k):
    neighbors = np.stack([rng.choice(n, k, replace=False) for _ in range(m)]).astype(np.int32)
    weights = rng.random((m, k)).astype(np.float32)
    return neighbors, weights / weights.sum(axis=1, keepdims=True)


@pytest.mark.parametrize(("n", "span"), [(300, 20.0), (5000, 3.0), (5000, 60.0)])
def test_new_points_are_placed_at_the_lowest_cost(n, span):
    """Against the reference: no step in any direction lowers the cost, and no start is much better."""
    rng = np.random.default_rng(n)
    positions = rng.uniform(0, span, (n, 2)).astype(np.float32)
    neighbors, weights = conditional(rng, 20, n, 8)
    placed = _core.place_new_points(positions, neighbors, weights, _core.ProgressToken(), 2)
    for row in range(len(placed)):
        cost = lambda position: reference.placing_cost(position, positions, neighbors[row], weights[row])  # noqa: B023, E731
        lowest = cost(placed[row])
        around = [cost(placed[row] + 0.1 * np.array([np.cos(a), np.sin(a)])) for a in np.linspace(0, 2 * np.pi, 8)]
        assert lowest < min(around) + 2e-3
        assert lowest < min(cost(positions[neighbor]) for neighbor in neighbors[row]) + 2e-3


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:Data was converted to boolean")
@pytest.mark.parametrize("metric", ["manhattan", "correlation", "russellrao"])
def test_transform_with_other_metrics(metric, halves):
    """Correlation is not quite 0 between equal rows, and Russell-Rao not at all."""
    old, new, *_ = halves
    model = PixelSNE(metric=metric, random_state=0, max_iter=150).fit(old)
    np.testing.assert_array_equal(model.transform(old[:20]), model.embedding_[:20])
    assert np.isfinite(model.transform(new[:20])).all()


@pytest.mark.slow
def test_transform_with_precomputed_distances(halves):
    old, new, *_ = halves
    by_matrix = PixelSNE(metric="precomputed", random_state=0, max_iter=150).fit(pairwise_distances(old))
    np.testing.assert_array_equal(by_matrix.transform(pairwise_distances(old[:20], old)), by_matrix.embedding_[:20])
    assert np.isfinite(by_matrix.transform(pairwise_distances(new[:20], old))).all()


@pytest.mark.slow
def test_transform_with_affinities_is_refused(halves):
    graph = kneighbors_graph(halves[0], 20)
    model = PixelSNE(metric="affinities", max_iter=50).fit(graph)
    with pytest.raises(ValueError, match="cannot place new points"):
        model.transform(graph[:5])


@pytest.mark.slow
def test_a_map_started_from_a_model_keeps_its_arrangement(model, halves):
    """A map started from an older map has the points in similar positions."""
    old, new, *_ = halves
    grown = PixelSNE(random_state=1, init=model).fit(np.concatenate([old, new]))
    shares = [np.corrcoef(grown.embedding_[: len(old), axis], model.embedding_[:, axis])[0, 1] for axis in (0, 1)]
    assert min(shares) > 0.9
    independent = PixelSNE(random_state=1, init="random").fit(np.concatenate([old, new]))
    independent_shares = [
        np.corrcoef(independent.embedding_[: len(old), axis], model.embedding_[:, axis])[0, 1] for axis in (0, 1)
    ]
    assert min(shares) > max(independent_shares)


@pytest.mark.slow
def test_a_short_row_of_a_graph_does_not_affect_other_rows(halves):
    old, new, *_ = halves
    searcher = NearestNeighbors(n_neighbors=90).fit(old)
    model = PixelSNE(metric="precomputed", random_state=0, max_iter=150).fit(searcher.kneighbors_graph(mode="distance"))
    graph = searcher.kneighbors_graph(new[:10], mode="distance")
    expected = model.transform(graph)
    graph.data[graph.indptr[3] + 40 : graph.indptr[4]] = -1  # row 3 keeps only 40
    short = sparse.csr_array(graph)
    keep = short.data >= 0
    counts = np.add.reduceat(keep, short.indptr[:-1])
    cut = sparse.csr_array(
        (short.data[keep], short.indices[keep], np.concatenate([[0], np.cumsum(counts)])), shape=short.shape
    )
    placed = model.transform(cut)
    other_rows = np.arange(10) != 3
    np.testing.assert_array_equal(placed[other_rows], expected[other_rows])
    assert np.isfinite(placed).all()
