"""Metrics other than the Euclidean one, and precomputed distances and affinities."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.metrics import pairwise_distances
from sklearn.neighbors import KNeighborsTransformer, kneighbors_graph
from sklearn.preprocessing import normalize

from pixelsne import PixelSNE, _core, quality
from pixelsne.affinities import calibrate
from pixelsne.choices import OTHER_METRICS
from pixelsne.graphs import neighbors_in_graph, neighbors_in_matrix, precomputed_affinities
from pixelsne.neighbors import find_neighbors
from pixelsne.spaces import METRICS_FOR_SPARSE


def quick(**changes):
    return PixelSNE(**({"perplexity": 10, "max_iter": 100, "random_state": 0} | changes))


@pytest.fixture(scope="module")
def values(digits):
    return digits[0][:400]


def test_cosine_equals_euclidean_between_unit_rows(values):
    scaled = values * np.random.default_rng(0).uniform(0.1, 10, (len(values), 1))
    by_cosine = quick(metric="cosine").fit(scaled)._fitted_map.space.points
    by_direction = quick().fit(normalize(values))._fitted_map.space.points
    # Components of nearly equal variance may mix; distances do not depend on that.
    np.testing.assert_allclose(pairwise_distances(by_cosine), pairwise_distances(by_direction), atol=1e-5)


BOOLEAN_METRICS = ("dice", "jaccard", "rogerstanimoto", "russellrao", "sokalsneath", "yule")


@pytest.mark.parametrize("metric", OTHER_METRICS)
def test_other_metrics_find_the_neighbors_they_define(metric, values):
    points = np.radians(values[:, 20:22]) if metric == "haversine" else values + 0.5
    points = values > 8 if metric in BOOLEAN_METRICS else points
    model = quick(metric=metric).fit(points)
    found = model._fitted_map.space.neighbors_of(points[:50], 5, 1, _core.ProgressToken()).distances
    truth = np.sort(pairwise_distances(points[:50], points, metric=metric), axis=1)[:, :5]
    np.testing.assert_allclose(found, truth, rtol=1e-5, atol=1e-6)
    assert np.isfinite(model.embedding_).all()


def test_manhattan_maps_keep_manhattan_neighbors(values):
    placed = quick(metric="manhattan", max_iter=350).fit_transform(values)
    truth = np.argsort(pairwise_distances(values, metric="manhattan"), axis=1)[:, 1:11]
    near = np.argsort(pairwise_distances(placed), axis=1)[:, 1:11]
    assert np.mean([len(np.intersect1d(*pair)) / 10 for pair in zip(truth, near, strict=True)]) > 0.5


@pytest.mark.parametrize("metric", METRICS_FOR_SPARSE)
@pytest.mark.parametrize("fitted", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("new", [np.asarray, sparse.csr_array, sparse.csc_array], ids=["dense", "csr", "csc"])
def test_new_rows_may_be_sparse_or_dense(metric, fitted, new, values):
    model = quick(metric=metric, max_iter=30).fit(fitted(values))
    np.testing.assert_array_equal(model.transform(new(values[:20])), model.embedding_[:20])
    new_rows = np.round(values[:20] * 0.7 + 1)
    np.testing.assert_allclose(model.transform(new(new_rows)), model.transform(fitted(new_rows)), atol=1e-3)


def test_stored_zeros_and_split_entries_have_no_effect(values):
    """Explicit zeros and duplicate entries do not change a sparse row."""
    model = quick(metric="manhattan", max_iter=30).fit(sparse.csr_array(values))
    row = values[7]
    columns = np.tile(np.arange(len(row)), 2)
    for dtype in (np.int32, np.int64):
        entries, ends = np.concatenate([row - 1, np.ones_like(row)]), np.array([0, len(columns)], dtype)
        split = sparse.csr_array((entries, columns.astype(dtype), ends), shape=(1, len(row)))
        np.testing.assert_array_equal(model.transform(split), model.embedding_[7:8])
        assert split.nnz == len(columns)  # the input is not changed
        np.testing.assert_array_equal(split.data[len(row) :], 1)


@pytest.mark.parametrize("metric", sorted(set(OTHER_METRICS) - {*METRICS_FOR_SPARSE, "haversine"}))
def test_metrics_for_dense_rows_refuse_sparse_new_rows(metric, values):
    points = values > 8 if metric in BOOLEAN_METRICS else values + 0.5
    model = quick(metric=metric, max_iter=10).fit(points[:60])
    with pytest.raises(ValueError, match=r"takes no sparse X; use X.toarray\(\)"):
        model.transform(sparse.csr_array(points[:3]))


def test_where_a_metric_is_not_defined(values):
    with pytest.raises(ValueError, match="metric='braycurtis' is not defined between row 400"):
        quick(metric="braycurtis").fit(np.vstack([values, np.zeros((2, 64))]))


def test_correlation_is_euclidean_between_centered_directions(values):
    """Squared distances are twice 1 - r, up to one scale; neither a factor nor an offset of a row matters."""
    random = np.random.default_rng(0)
    changed = values * random.uniform(0.1, 10, (len(values), 1)) + random.normal(0, 100, (len(values), 1))
    model = quick(metric="correlation", n_pca=None).fit(changed)
    found = pairwise_distances(model._fitted_map.space.points[:50]) ** 2
    truth = 2 * pairwise_distances(values[:50], metric="correlation")
    scale = model._fitted_map.space.reduction.scale**2
    np.testing.assert_allclose(found * scale, truth, atol=1e-5)
    np.testing.assert_array_equal(model.transform(changed[:20]), model.embedding_[:20])


def test_constant_rows_are_equally_far_from_all_others_by_correlation(values):
    points = np.vstack([values, np.full((2, values.shape[1]), 0.1)])
    model = quick(metric="correlation", n_pca=None).fit(points)
    space = model._fitted_map.space
    distances = pairwise_distances(space.points)[-1] * space.reduction.scale
    np.testing.assert_allclose(distances[: len(values)], 1.0, atol=1e-5)
    np.testing.assert_array_equal(space.points[-1], space.points[-2])


def test_correlation_refuses_sparse_rows(values):
    with pytest.raises(ValueError, match=r"metric='correlation' takes no sparse X; use X.toarray\(\)"):
        quick(metric="correlation").fit(sparse.csr_array(values))
    model = quick(metric="correlation", max_iter=10).fit(values[:60])
    with pytest.raises(ValueError, match=r"metric='correlation' takes no sparse X"):
        model.transform(sparse.csr_array(values[:3]))


def test_metrics_for_dense_rows_refuse_sparse_input(values):
    assert np.isfinite(quick(metric="manhattan").fit_transform(sparse.csr_array(values))).all()
    with pytest.raises(ValueError, match=r"metric='chebyshev' takes no sparse X; use X.toarray\(\)"):
        quick(metric="chebyshev").fit(sparse.csr_array(values))


@pytest.mark.parametrize("unit", [1e-300, 1e-30, 1e30, 1e300])
def test_distances_in_any_unit_give_the_same_affinities(unit, values):
    distances = pairwise_distances(values)
    truth, found = (calibrate(neighbors_in_matrix(distances * one, 30), (10.0,), 1) for one in (1.0, unit))
    np.testing.assert_array_equal(found.indices, truth.indices)
    np.testing.assert_allclose(found.values, truth.values, rtol=1e-3, atol=1e-6)
    assert np.isfinite(quick(metric="precomputed").fit_transform(distances * unit)).all()


def test_neighbors_in_a_distance_matrix(values):
    points = values.astype(np.float32)
    found = neighbors_in_matrix(pairwise_distances(points), 15)
    truth = find_neighbors(points, 15, "exact", 0, 1)
    np.testing.assert_allclose(found.distances, truth.distances, rtol=1e-4)
    assert np.mean(found.indices == truth.indices) > 0.99


@pytest.mark.parametrize("includes_itself", [False, True])
def test_neighbors_in_a_graph(includes_itself, values):
    if includes_itself:
        graph = KNeighborsTransformer(n_neighbors=15, mode="distance").fit_transform(values)
    else:
        graph = kneighbors_graph(values, 15, mode="distance")
    found = neighbors_in_graph(graph, 15)
    truth = neighbors_in_matrix(pairwise_distances(values), 15)
    np.testing.assert_allclose(found.distances, truth.distances, rtol=1e-3, atol=1e-3)


@pytest.mark.slow
def test_precomputed_distances_give_good_maps(values, digits):
    graph = kneighbors_graph(values, 30, mode="distance")
    labels = digits[1][: len(values)]
    for matrix in (pairwise_distances(values), graph):
        placed = quick(metric="precomputed", max_iter=350).fit_transform(matrix)
        assert quality.knn_accuracy(placed, labels, 10) > 0.9


def test_precomputed_affinities_give_good_maps(values, digits):
    graph = kneighbors_graph(values, 20)
    placed = quick(metric="affinities", max_iter=350).fit_transform(graph)
    assert quality.knn_accuracy(placed, digits[1][: len(values)], 10) > 0.9


def test_affinities_become_symmetric_and_sum_to_one():
    matrix = sparse.csr_array(np.array([[5.0, 1, 0], [0, 0, 3], [0, 0, 0]]))
    joint = precomputed_affinities(matrix)
    dense = sparse.csr_array((joint.values, joint.columns, joint.offsets), shape=(3, 3)).toarray()
    np.testing.assert_allclose(dense, [[0, 1 / 8, 0], [1 / 8, 0, 3 / 8], [0, 3 / 8, 0]])


@pytest.mark.parametrize(
    ("metric", "matrix", "message"),
    [
        ("precomputed", np.ones((10, 9)), "square"),
        ("precomputed", -np.ones((10, 10)), "not negative"),
        ("precomputed", sparse.csr_array((10, 10)), "has no neighbors"),
        ("affinities", np.ones((10, 9)), "square"),
        ("affinities", -np.ones((10, 10)), "not negative"),
        ("affinities", np.eye(10), "above 0"),
        ("mahalanobis", np.ones((10, 9)), "metric='mahalanobis' is unknown"),
    ],
)
def test_invalid_precomputed_input_is_refused(metric, matrix, message):
    with pytest.raises(ValueError, match=message):
        quick(metric=metric, perplexity=2).fit(matrix)


@pytest.mark.slow
@pytest.mark.parametrize("parts", [2, 3, 4, 6, 12])
@pytest.mark.parametrize("init", ["pca", "middles"])
def test_a_graph_of_disconnected_parts(parts, init, random):
    """The leading eigenvectors of such a graph are constant on its parts. A user's start may be, too."""
    labels = np.arange(600) % parts
    accuracies, ratios = [], []
    for _ in range(3):  # among so few points a run may end in a slightly worse minimum, or with a point on a wrong side
        values = random.normal(size=(600, 20)) + 50 * random.normal(size=(parts, 20))[labels]
        graph = kneighbors_graph(values, 30, mode="distance")
        start = random.normal(size=(parts, 2))[labels] if init == "middles" else init
        model = quick(metric="precomputed", init=start, max_iter=350).fit(graph)
        accuracies.append(quality.knn_accuracy(model.embedding_, labels, 10))
        ratios.append(model.kl_divergence_ / quick(n_pca=None, max_iter=350).fit(values).kl_divergence_)
    assert np.mean(accuracies) > 0.998
    assert np.mean(ratios) < 1.02
