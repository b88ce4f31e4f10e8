"""One contract for every search, then the guarantees of each."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pixelsne import _core
from pixelsne.neighbors import (
    SEARCHES,
    Neighbors,
    choose_cluster_parameters,
    choose_search,
    exact_seconds,
    find_neighbors,
)
from reference import nearest

EXACT_SEARCHES = ["exact", "vp-tree"]
APPROXIMATE_SEARCHES = ["rp-forest", "clusters"]


def make_points(kind, n, d, seed):
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(n, d))
    if kind == "duplicates":
        points = points[rng.integers(0, max(1, n // 10), n)]
    elif kind == "constant":
        points[:] = 3.0
    elif kind == "line":
        points[:] = np.linspace(0, 1, n)[:, None]
    elif kind == "outlier":
        points[0] = 1e6
    return points.astype(np.float32)


def recall(found, truth):
    shared = [len(np.intersect1d(a, b)) for a, b in zip(found, truth, strict=True)]
    return np.mean(shared) / truth.shape[1]


def check_contract(points, k, neighbors):
    """Check that each point has k distinct neighbors, nearest first, with true distances."""
    n = len(points)
    indices, distances = neighbors.indices, neighbors.distances
    assert indices.shape == distances.shape == (n, k)
    assert indices.dtype == np.int32
    assert distances.dtype == np.float32
    assert indices.min() >= 0
    assert indices.max() < n
    assert (indices != np.arange(n)[:, None]).all(), "a point is its own neighbor"
    assert (np.diff(np.sort(indices, axis=1), axis=1) > 0).all(), "a neighbor is reported twice"
    assert (np.diff(distances, axis=1) >= 0).all()
    true = np.linalg.norm(points[:, None].astype(np.float64) - points[indices], axis=2)
    np.testing.assert_allclose(distances, true, rtol=1e-5, atol=1e-6 * max(1.0, np.abs(points).max()))


@pytest.mark.parametrize("kind", ["normal", "duplicates", "constant", "line", "outlier"])
@pytest.mark.parametrize(("n", "d", "k"), [(2, 1, 1), (3, 2, 2), (50, 3, 49), (301, 17, 40), (1000, 50, 10)])
@pytest.mark.parametrize("method", SEARCHES)
def test_contract(method, n, d, k, kind):
    points = make_points(kind, n, d, seed=n)
    check_contract(points, k, find_neighbors(points, k, method, 0, 2))


@pytest.mark.slow
@settings(max_examples=40)
@given(
    method=st.sampled_from(sorted(SEARCHES)),
    n=st.integers(2, 400),
    d=st.integers(1, 40),
    seed=st.integers(0, 1000),
    data=st.data(),
)
def test_contract_holds_for_any_shape(method, n, d, seed, data):
    k = data.draw(st.integers(1, n - 1))
    points = make_points(data.draw(st.sampled_from(["normal", "duplicates", "line"])), n, d, seed)
    check_contract(points, k, find_neighbors(points, k, method, seed, 2))


@pytest.mark.parametrize("method", EXACT_SEARCHES)
@pytest.mark.parametrize("kind", ["normal", "duplicates", "line", "outlier"])
def test_exact_searches_find_the_nearest(method, kind):
    points = make_points(kind, 700, 13, seed=3)
    _, true = nearest(points, 50)
    found = find_neighbors(points, 50, method, 0, 2)
    np.testing.assert_allclose(found.distances, true, rtol=1e-5, atol=1e-6 * np.abs(points).max())


def test_vp_tree_equals_exact_on_the_digits(digits):
    """Without ties, indices are equal. The searches add up in a different order, so distances differ by rounding."""
    points = (digits[0] + np.random.default_rng(0).normal(0, 1e-2, digits[0].shape)).astype(np.float32)
    exact = find_neighbors(points, 90, "exact", 0, 2)
    tree = find_neighbors(points, 90, "vp-tree", 0, 2)
    np.testing.assert_allclose(tree.distances, exact.distances, rtol=1e-5)
    assert recall(tree.indices, exact.indices) > 0.9999


@pytest.mark.parametrize("method", APPROXIMATE_SEARCHES)
def test_recall_on_the_digits(method, digits):
    points = digits[0].astype(np.float32)
    truth = find_neighbors(points, 90, "exact", 0, 2).indices
    assert recall(find_neighbors(points, 90, method, 0, 2).indices, truth) >= 0.95


@pytest.mark.slow
@pytest.mark.parametrize("method", APPROXIMATE_SEARCHES)
@pytest.mark.parametrize(("n", "d", "k"), [(20_000, 50, 30), (10_000, 8, 15)])
def test_recall_on_clusters(method, n, d, k):
    rng = np.random.default_rng(2)
    centers = rng.normal(0, 2, (50, d))
    points = (centers[rng.integers(0, 50, n)] + rng.normal(0, 1, (n, d))).astype(np.float32)
    truth = find_neighbors(points, k, "exact", 0, 2).indices
    assert recall(find_neighbors(points, k, method, 0, 2).indices, truth) >= 0.95


def search_clusters(points, k, rows=None, **changes):
    """Run the core's search with small clusters, so that few points make many. By default all clusters are probed."""
    effort = {"seed": 0, "size": 40, "recall": 1.0, "max_probes": len(points), "reach": 0, "threads": 2} | changes
    n_queries = len(points) if rows is None else len(rows)
    return _core.cluster_neighbors(
        points, rows, k, **effort, n_queries=n_queries, reorder=False, token=_core.ProgressToken()
    )[:2]


def test_clusters_of_chosen_rows_are_those_of_a_copy():
    points = make_points("normal", 900, 7, seed=0)
    rows = np.random.default_rng(0).permutation(900)[:700].astype(np.int32)
    for found, expected in zip(
        search_clusters(points, 10, rows, recall=0.9, max_probes=5, reach=5),
        search_clusters(points[rows], 10, recall=0.9, max_probes=5, reach=5),
        strict=True,
    ):
        np.testing.assert_array_equal(found, expected)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["normal", "line", "outlier"])
@pytest.mark.parametrize("d", [1, 7, 16, 50])
def test_clusters_agree_with_the_reference_when_all_are_probed(kind, d):
    """Products replace differences without changing the neighbors or the precision of distances."""
    points = make_points(kind, 900, d, seed=d)
    indices, distances = search_clusters(points, 30)
    true_indices, true = nearest(points, 30)
    np.testing.assert_allclose(distances, true, rtol=1e-4, atol=1e-6 * np.abs(points).max())
    if kind == "normal":
        assert recall(indices, true_indices) > 0.999


def test_clusters_are_precise_within_a_tight_group():
    """The groups are a ten-thousandth as wide as their distances, so products alone would be noise."""
    rng = np.random.default_rng(0)
    points = (rng.integers(0, 2, (600, 6)) + rng.normal(0, 1e-4, (600, 6))).astype(np.float32)
    _, distances = search_clusters(points, 3, size=300)
    np.testing.assert_allclose(distances, nearest(points, 3)[1], rtol=2e-3)


def test_clusters_are_precise_far_from_the_origin():
    points = make_points("normal", 800, 10, seed=1) + np.float32(1000)
    _, true = nearest(points, 20)
    np.testing.assert_allclose(search_clusters(points, 20)[1], true, rtol=1e-3)


@pytest.mark.slow
@pytest.mark.parametrize("target", [0.7, 0.9, 0.98])
def test_clusters_reach_the_target_recall(target):
    """As precisely as 192 sampled points allow, and not much more, because that would cost time."""
    points = make_points("normal", 3000, 12, seed=4)
    found = recall(search_clusters(points, 20, recall=target)[0], nearest(points, 20)[0])
    assert target - 0.04 < found < target + 0.08


@pytest.mark.slow
def test_exploring_raises_the_recall():
    points = make_points("normal", 3000, 12, seed=4)
    truth = nearest(points, 20)[0]
    plain, explored = (
        recall(search_clusters(points, 20, recall=0.999, max_probes=4, reach=reach)[0], truth) for reach in (0, 15)
    )
    assert explored > plain + 0.1


@pytest.mark.parametrize("kind", ["duplicates", "constant", "line", "outlier"])
def test_clusters_smaller_than_k_are_combined(kind):
    points = make_points(kind, 500, 4, seed=2)
    indices, distances = search_clusters(points, 150, size=5, recall=0.5, max_probes=1, reach=3)
    check_contract(points, 150, Neighbors(indices, distances))


def test_points_with_more_duplicates_than_k():
    points = np.repeat(make_points("normal", 40, 9, seed=0), 100, axis=0)
    found = find_neighbors(points, 30, "clusters", 0, 2)
    check_contract(points, 30, found)
    assert (found.distances == 0).all()


@pytest.mark.parametrize("method", SEARCHES)
def test_same_bits_at_any_thread_count(method, digits):
    points = digits[0].astype(np.float32)
    first = find_neighbors(points, 40, method, 5, 1)
    for threads in (2, 7):
        again = find_neighbors(points, 40, method, 5, threads)
        assert np.array_equal(first.indices, again.indices)
        assert np.array_equal(first.distances, again.distances)


def test_the_seed_changes_the_forest(digits):
    points = digits[0].astype(np.float32)
    forests = [
        _core.rp_forest_neighbors(points, 40, seed, 2, 100, 0, 1, _core.ProgressToken(), 2)[0] for seed in (0, 1)
    ]
    assert not np.array_equal(*forests)


@pytest.mark.parametrize("method", SEARCHES)
def test_a_cancelled_token_ends_the_search(method, digits):
    token = _core.ProgressToken()
    token.cancel()
    with pytest.raises(_core.Cancelled):
        find_neighbors(digits[0].astype(np.float32), 40, method, 0, 2, token)


@pytest.mark.parametrize("method", SEARCHES)
def test_progress_never_exceeds_one(method, clusters):
    token = _core.ProgressToken()
    find_neighbors(clusters, 20, method, 0, 2, token)
    assert 0.3 < token.fraction <= 1.0


def test_auto_compares_all_pairs_up_to_two_seconds():
    """The choice depends on the input's shape only, so that every machine computes the same map."""
    assert choose_search("auto", 1000, 50, 90) == "exact"
    assert choose_search("auto", 40_000, 50, 30) == "exact"
    assert choose_search("auto", 40_000, 300, 30) == "clusters"
    assert choose_search("auto", 60_000, 50, 30) == "clusters"
    assert choose_search("auto", 1_000_000, 2, 90) == "clusters"
    assert choose_search("auto", 200_000, 50, 50_000) == "exact"
    assert exact_seconds(20_000, 50, 30) < exact_seconds(20_000, 50, 90) < exact_seconds(20_000, 100, 90)


def test_cluster_probes_are_limited_by_the_time_of_all_pairs():
    """Each of 60,000 points without clusters must be compared with most others."""
    assert choose_cluster_parameters(60_000, 50, 30).probes > 100
    assert choose_cluster_parameters(1_000_000, 50, 30).probes == 130
    assert choose_cluster_parameters(1_000_000, 50, 90).probes == 171


def test_exact_neighbors_in_cluster_order():
    points = make_points("normal", 6000, 5, seed=1)
    plain, reordered = (find_neighbors(points, 10, "exact", 0, 2, reorder=reorder) for reorder in (False, True))
    assert plain.order is None
    assert np.array_equal(np.sort(reordered.order), np.arange(6000))
    assert np.array_equal(reordered.order[reordered.indices], plain.indices[reordered.order])


def noise_between_clusters(n, d, seed):
    """Return 100 tight clusters. The first hundredth of the points lies between them."""
    rng = np.random.default_rng(seed)
    points = rng.uniform(-1, 1, (100, d))[rng.integers(0, 100, n)] + rng.normal(0, 0.1, (n, d))
    points[: n // 100] = rng.uniform(-1, 1, (n // 100, d))
    return points.astype(np.float32)


def recall_per_row(found, distances, truth):
    """Return each row's share of its k true neighbors. Any neighbor as near as the k-th counts."""
    assert found.shape == distances.shape == truth.shape
    return (distances <= truth[:, -1:] * (1 + 1e-6)).mean(axis=1)


@pytest.mark.slow
@pytest.mark.parametrize("k", [30, 90])
def test_points_between_clusters_find_their_neighbors(k):
    """They have few neighbors in each cluster, and are too few to affect the mean recall."""
    points = noise_between_clusters(20_000, 50, seed=0)
    found = find_neighbors(points, k, "clusters", 0, 2)
    rows = np.arange(300)
    truth = _core.neighbors_of_queries(points[rows], points, k + 1, _core.ProgressToken(), 2)[1][:, 1:]
    recalls = recall_per_row(found.indices[rows], found.distances[rows], truth)
    assert np.percentile(recalls[:200], 1) > 0.9
    assert np.percentile(recalls[200:], 1) > 0.9


@pytest.mark.slow
def test_points_far_from_their_cluster_use_the_second_pass():
    """There are so many small clusters that the first pass covers only the nearest ones."""
    points = noise_between_clusters(6000, 20, seed=1)
    truth = find_neighbors(points, 20, "exact", 0, 2).distances
    found = search_clusters(points, 20, size=15, recall=0.99, max_probes=60)
    assert np.percentile(recall_per_row(*found, truth)[:60], 1) > 0.85
    found = search_clusters(points, 20, size=15, recall=0.99, max_probes=60, reach=5)
    check_contract(points, 20, Neighbors(*found))
    for threads in (1, 7):
        again = search_clusters(points, 20, size=15, recall=0.99, max_probes=60, reach=5, threads=threads)
        assert all(np.array_equal(*arrays) for arrays in zip(again, found, strict=True))


def recall_with_few_probes(points):
    found = search_clusters(points, 20, size=64, recall=0.999, max_probes=15)
    return recall_per_row(*found, find_neighbors(points, 20, "exact", 0, 2).distances)


def test_distant_outliers_do_not_lower_the_recall_of_others():
    """Centers at 1e15 must not hide the differences of the other centers."""
    points = make_points("normal", 6000, 12, seed=0)
    before = recall_with_few_probes(points)
    points[:5] *= np.float32(1e15)
    after = recall_with_few_probes(points)
    assert after[5:].mean() > before.mean() - 0.004
    assert after[:5].min() == 1.0


def test_heavy_tailed_data_have_high_recall_everywhere():
    points = np.random.default_rng(0).standard_t(2, (6000, 12)).astype(np.float32)
    found = search_clusters(points, 20, size=64, recall=0.99, max_probes=60)
    recalls = recall_per_row(*found, find_neighbors(points, 20, "exact", 0, 2).distances)
    assert np.percentile(recalls, 1) >= 0.85
    assert recalls.mean() > 0.985
