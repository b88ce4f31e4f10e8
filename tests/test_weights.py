"""Weights of rows: a fit with them against a set in which rows are really repeated."""

import warnings
from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse
from sklearn.metrics import pairwise_distances
from sklearn.neighbors import kneighbors_graph

import reference
from pixelsne import PixelSNE, _core, quality
from pixelsne.affinities import Affinities, calibrate, symmetrize
from pixelsne.duplicates import Duplicates
from pixelsne.files.archive import read_archive, write_archive
from pixelsne.files.checkpoint import Checkpoint, identity_of, prepared_path, resume
from pixelsne.files.errors import FileError
from pixelsne.memory import Workload, estimate
from pixelsne.neighbors import find_neighbors
from pixelsne.pipeline import Prepared
from pixelsne.settings import settings_of
from pixelsne.watched import run_to_completion
from pixelsne.weights import MIN_WEIGHT, PointWeights, kl_term, weigh, weigh_affinities, weights_of_points

QUICK = {"perplexity": 10, "max_iter": 60, "random_state": 0}


def fit(values, weights=None, **parameters):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # few rows lower the perplexity
        return PixelSNE(**QUICK | parameters).fit(values, weights=weights)


@pytest.fixture(scope="module")
def conditional_affinities(clusters):
    """The conditional affinities of 60 points, and the same as a dense matrix."""
    conditional = calibrate(find_neighbors(clusters[:60], 15, "exact", 0, 1), (5.0,), 1)
    dense = np.zeros((60, 60))
    np.put_along_axis(dense, conditional.indices.astype(np.int64), conditional.values.astype(np.float64), axis=1)
    return conditional, dense


@pytest.fixture
def counts(random):
    return np.where(random.random(60) < 0.3, random.integers(2, 20, 60), 1)


def weigh_copy(conditional, weights):
    """Call `weigh` on a copy, because it changes its argument."""
    return weigh(replace(conditional, values=conditional.values.copy()), weights)


def prepare(conditional, weights):
    """Return P and the weights of points, as a run computes them."""
    values, inner_pairs = weights_of_points(np.asarray(weights, dtype=np.float64), None, 0)
    weighted, shares = weigh_copy(conditional, values)
    return symmetrize(weighted, 1), PointWeights(values.astype(np.float32), inner_pairs, shares)


def forces(affinities, weights, positions):
    """Return the pull and push on one copy of each row, and the normalizer, all for weights relative to their mean."""
    pull, push = np.empty_like(positions), np.empty_like(positions)
    _core.Attraction(affinities.offsets, affinities.columns, affinities.values).forces(positions, pull, 1)
    normalizer = _core.exact_repulsion(positions, push, 1, weights.values) + weights.inner_pairs
    return pull / weights.values[:, None], push, normalizer


def test_affinities_against_repeated_rows(conditional_affinities, counts):
    conditional, dense = conditional_affinities
    joint = reference.dense(prepare(conditional, counts)[0])
    np.testing.assert_allclose(joint, reference.Repeated(dense, counts).joint_of_rows(), rtol=1e-4, atol=1e-10)
    assert joint.sum() == pytest.approx(1.0, rel=1e-5)


@pytest.mark.parametrize("scale", [0.01, 1.0, 10.0])
def test_forces_and_divergence_against_repeated_rows(conditional_affinities, counts, random, scale):
    conditional, dense = conditional_affinities
    positions = (scale * random.normal(size=(60, 2))).astype(np.float32)
    repeated, (affinities, weights) = reference.Repeated(dense, counts), prepare(conditional, counts)
    pull, push, normalizer = forces(affinities, weights, positions)
    mean, (true_push, true_normalizer) = counts.mean(), repeated.push(positions)
    true_pull = repeated.pull(positions)
    np.testing.assert_allclose(pull / mean, true_pull, rtol=1e-3, atol=1e-4 * np.abs(true_pull).max())
    np.testing.assert_allclose(push * mean, true_push, rtol=1e-3, atol=1e-4 * np.abs(true_push).max())
    assert normalizer * mean**2 == pytest.approx(true_normalizer, rel=1e-5)
    prepared, settings = Prepared(None, affinities, None, None, weights), settings_of(PixelSNE())
    assert prepared.kl_divergence(positions, settings) == pytest.approx(repeated.kl_divergence(positions), rel=1e-4)


@pytest.mark.parametrize("fractional", [False, True])
def test_the_force_is_the_gradient_of_the_divergence(conditional_affinities, counts, random, fractional):
    conditional, _ = conditional_affinities
    row_weights = random.exponential(2, 60) if fractional else counts
    positions = random.normal(0, 3, (60, 2))
    affinities, weights = prepare(conditional, row_weights)
    joint, values = reference.dense(affinities), weights.values.astype(np.float64)

    def divergence(at):
        kernel = reference.student_kernel(at)
        normalizer = values @ kernel @ values + weights.inner_pairs
        present = joint > 0
        q = np.outer(values, values) * kernel / normalizer
        return (joint[present] * np.log(joint[present] / q[present])).sum()

    pull, push, normalizer = forces(affinities, weights, positions.astype(np.float32))
    gradient = 4 * values[:, None] * (pull - push / normalizer)
    for point, axis in ((0, 0), (7, 1), (31, 0), (59, 1)):
        change = np.zeros_like(positions)
        change[point, axis] = 1e-5
        slope = (divergence(positions + change) - divergence(positions - change)) / 2e-5
        assert gradient[point, axis] == pytest.approx(slope, rel=2e-3, abs=1e-5 * np.abs(gradient).max())


def test_the_descent_moves_points_by_the_force_on_one_copy(conditional_affinities, counts, random):
    conditional, _ = conditional_affinities
    affinities, weights = prepare(conditional, counts)
    positions = random.normal(0, 3, (60, 2)).astype(np.float32)
    settings = settings_of(PixelSNE(max_iter=2, early_exaggeration=1.0, learning_rate=3.0, momentum=0.0))
    descent = Prepared(None, affinities, None, None, weights).descent(positions.copy(), settings)
    next(iter(descent))
    pull, push, normalizer = forces(affinities, weights, positions)
    rate = 3.0 * weights.rate_factor(normalizer) * weights.step_factors[:, None]
    gradient = 4 * (pull - push / normalizer)
    expected = reference.step(reference.State.at(positions), rate * gradient, 1.0, 0.0, 5.0).positions
    np.testing.assert_allclose(descent.positions, expected, rtol=1e-4, atol=1e-5)


def test_weights_are_relative_to_a_mean_of_one_or_more(random):
    rows = random.exponential(3, 50)
    values, inner_pairs = weights_of_points(rows, None, 0)
    np.testing.assert_allclose(values, rows / rows.mean())
    assert inner_pairs == pytest.approx((rows * (rows - 1)).sum() / rows.mean() ** 2)
    small, small_pairs = weights_of_points(rows / 1000, None, 0)  # w (w - 1) would be negative
    np.testing.assert_allclose(small, values)
    assert small_pairs == pytest.approx((values * (values - 1)).sum())
    for unit in (1e-300, 1e300):
        huge, pairs = weights_of_points(rows / rows.max() * unit, None, 0)
        np.testing.assert_allclose(huge, values)
        assert np.isfinite(pairs)
    assert weights_of_points(None, None, 0) is None
    assert weights_of_points(np.full(9, 3.0), None, 0)[1] == pytest.approx(9 * 6 / 9)


def test_merged_rows_have_the_sum_of_their_weights():
    duplicates, rows = Duplicates(np.array([0, 1, 0, 2, 0, 0], dtype=np.int32)), np.array([2.0, 1, 3, 5, 2, 1])
    values, inner_pairs = weights_of_points(rows, duplicates, 30)
    np.testing.assert_allclose(values, np.array([8, 1, 5]) * 3 / 14)
    assert inner_pairs == pytest.approx((rows * (rows - 1)).sum() / (14 / 3) ** 2)
    few, _ = weights_of_points(rows, duplicates, 2)  # as if the four equal rows were two
    np.testing.assert_allclose(few, np.array([4, 1, 5]) * 3 / 10)
    counted, no_pairs = weights_of_points(None, duplicates, 30)
    np.testing.assert_allclose(counted, np.array([4, 1, 1]) / 2)
    assert no_pairs == 0
    assert weights_of_points(None, Duplicates(np.array([0, 1, 1, 0], dtype=np.int32)), 30) is None  # equal counts


def test_weights_of_precomputed_affinities(random):
    dense = sparse.random(40, 40, 0.3, random_state=0).toarray()
    dense += dense.T
    np.fill_diagonal(dense, 0)
    matrix, weights = sparse.csr_array(dense / dense.sum()), random.exponential(1, 40)
    values = matrix.data.astype(np.float32)
    given = Affinities(matrix.indptr.astype(np.int64), matrix.indices.astype(np.int32), values)
    weighted, shares = weigh_affinities(given, weights)
    expected = dense * np.outer(weights, weights)
    np.testing.assert_allclose(reference.dense(weighted), expected / expected.sum(), rtol=1e-5)
    ratio = (dense @ weights / expected.sum()) / (dense.sum(axis=1) / dense.sum())
    np.testing.assert_allclose(shares, 1 / np.maximum(1, ratio), rtol=1e-5)


def test_blocks_change_nothing(conditional_affinities, counts, monkeypatch):
    conditional, _ = conditional_affinities
    weights = counts / counts.mean()
    (whole, shares), affinities = weigh_copy(conditional, weights), prepare(conditional, counts)[0]
    term = kl_term(affinities, weights.astype(np.float32))
    monkeypatch.setattr("pixelsne.weights.NUMBERS_PER_BLOCK", 100)
    parts, shares_of_parts = weigh_copy(conditional, weights)
    np.testing.assert_array_equal(parts.values, whole.values)
    np.testing.assert_allclose(shares_of_parts, shares, rtol=1e-6)
    assert kl_term(affinities, weights.astype(np.float32)) == pytest.approx(term, rel=1e-9)


# Fits


@pytest.mark.parametrize("repulsion", ["exact", "barnes-hut", "pixel-tree", "pixel-field"])
def test_weights_of_one_give_the_map_without_weights(clusters, repulsion):
    without = fit(clusters, repulsion=repulsion)
    for ones in (np.ones(600), [1] * 600, np.ones(600, dtype=bool)):
        np.testing.assert_array_equal(fit(clusters, ones, repulsion=repulsion).positions_, without.positions_)


def test_the_divergence_of_a_fit_is_that_of_repeated_rows(clusters, random):
    counts = np.where(random.random(200) < 0.2, random.integers(2, 15, 200), 1)
    values = clusters[:200]
    model = fit(values, counts)
    conditional = calibrate(find_neighbors(values, 30, "exact", 0, 1), (10.0,), 1)
    dense = np.zeros((200, 200))
    np.put_along_axis(dense, conditional.indices.astype(np.int64), conditional.values.astype(np.float64), axis=1)
    repeated = reference.Repeated(dense, counts)
    assert model.kl_divergence_ == pytest.approx(repeated.kl_divergence(model.positions_), rel=1e-3)


def test_a_common_factor_of_small_weights_changes_nothing(clusters, random):
    weights = random.uniform(0, 1, 600)
    np.testing.assert_array_equal(fit(clusters, weights).positions_, fit(clusters, weights / 1024).positions_)


@pytest.mark.slow
@pytest.mark.parametrize("repulsion", ["exact", "barnes-hut", "pixel-tree", "pixel-field"])
def test_the_same_bits_at_any_thread_count(groups, random, repulsion):
    weights = random.exponential(1, 4000)
    first, *others = (fit(groups, weights, repulsion=repulsion, n_jobs=threads, max_iter=20) for threads in (1, 2, 7))
    for other in others:
        np.testing.assert_array_equal(other.positions_, first.positions_)
        assert other.kl_divergence_ == first.kl_divergence_


@pytest.mark.slow
def test_the_order_of_a_search_does_not_matter(groups, random):
    """Clusters return points in another order; weights must follow them. Some points lack a neighbor."""
    weights = np.where(random.random(4000) < 0.01, 50.0, 1.0)
    start = 1e-2 * random.normal(size=(4000, 2))
    one, other = (fit(groups, weights, neighbors=name, init=start, max_iter=10) for name in ("exact", "clusters"))
    apart = np.abs(one.positions_ - other.positions_).max(axis=1) / one.positions_.std()
    assert np.mean(apart < 0.02) > 0.995


def test_a_row_of_weight_zero_acts_on_no_other_and_is_placed(clusters, random):
    conditional = calibrate(find_neighbors(clusters, 30, "exact", 0, 1), (10.0,), 1)
    positions = random.normal(0, 5, (600, 2)).astype(np.float32)
    weights, moved = np.ones(600), positions.copy()
    weights[:3] = 0.0
    moved[:3] = 1.0
    affinities, points = prepare(conditional, weights)
    before, after = (forces(affinities, points, at) for at in (positions, moved))
    for one, other in zip(before[:2], after[:2], strict=True):
        np.testing.assert_allclose(one[3:], other[3:], rtol=1e-4, atol=1e-5 * np.abs(one).max())
    assert before[2] == pytest.approx(after[2], rel=1e-6)
    assert points.values.min() == pytest.approx(MIN_WEIGHT)
    model = fit(clusters, weights, max_iter=250)
    nearest = np.argsort(pairwise_distances(clusters[:3], clusters), axis=1)[:, 1:11]
    distances = np.linalg.norm(model.positions_[nearest] - model.positions_[:3, None], axis=2)
    assert np.median(distances) < 0.2 * np.ptp(model.positions_)


@pytest.mark.parametrize("share", [0.3, 0.9, 0.995])
def test_many_zeros_give_a_finite_map(clusters, random, share):
    weights = (random.random(600) > share).astype(float)
    model = fit(clusters, weights, max_iter=250)
    assert np.isfinite(model.positions_).all()
    assert np.isfinite(model.kl_divergence_)


@pytest.mark.slow
@pytest.mark.parametrize("weight", [50, 400, 5000])
def test_heavy_rows_do_not_make_the_descent_unstable(digits, weight):
    """Without step factors and a lower rate, KL rose to 3.8 in the late phase at a weight of 400, and ended at 2.6."""
    values, labels = digits
    weights = np.ones(len(values))
    weights[:5] = weight
    model = PixelSNE(random_state=0).fit(values, weights=weights)
    late = model.history_["kl"][2:]
    assert (np.diff(late) < 0.01 * late[-1]).all()  # it falls
    assert quality.knn_accuracy(model.positions_, labels, 10) > 0.95


@pytest.mark.slow
def test_sparse_input_metrics_and_initial_positions(clusters, random):
    weights, start = random.exponential(1, 600), random.normal(size=(600, 2))
    distances = pairwise_distances(clusters)
    graph = kneighbors_graph(clusters, 30, mode="distance")
    affinities = graph.copy()
    affinities.data = np.exp(-affinities.data)
    dense = fit(clusters, weights, init=start)
    given = fit(distances, weights, metric="precomputed", init=start)
    np.testing.assert_allclose(dense.kl_divergence_, given.kl_divergence_, rtol=0.02)
    as_sparse = fit(sparse.csr_array(clusters), weights, init=start)
    np.testing.assert_allclose(as_sparse.kl_divergence_, dense.kl_divergence_, rtol=0.02)
    for values, metric in ((graph, "precomputed"), (affinities, "affinities"), (clusters, "manhattan")):
        model = fit(values, weights, metric=metric)
        assert np.isfinite(model.positions_).all()
        assert model.kl_divergence_ != fit(values, metric=metric).kl_divergence_
    assert np.isfinite(fit(clusters, weights, init=fit(clusters)).positions_).all()


def test_weights_of_equal_rows_add_up(clusters):
    """Two equal rows of weights 1 and 2 are one point of weight 3; only inner_pairs omits the pairs between the two."""
    values, weights = np.concatenate([clusters, clusters[:50]]), np.ones(650)
    weights[600:] = 2.0
    merged, single = (
        run_to_completion(PixelSNE(**QUICK, n_pca=None).make_run(one[0], weights=one[1]).prepare())
        for one in ((values, weights), (clusters, np.where(np.arange(600) < 50, 3.0, 1.0)))
    )
    np.testing.assert_allclose(merged.weights.values, single.weights.values, rtol=1e-6)
    np.testing.assert_allclose(
        reference.dense(merged.affinities), reference.dense(single.affinities), rtol=1e-3, atol=1e-9
    )
    np.testing.assert_allclose(merged.weights.step_factors, single.weights.step_factors, rtol=1e-3)
    mean = 700 / 600
    assert single.weights.inner_pairs * mean**2 == pytest.approx(50 * 3 * 2)
    assert merged.weights.inner_pairs * mean**2 == pytest.approx(50 * 2 * 1)


def test_every_way_to_fit_takes_weights(clusters, random):
    weights = random.exponential(1, 600)
    model = PixelSNE(**QUICK)
    expected = model.fit(clusters, None, weights=weights).embedding_
    np.testing.assert_array_equal(PixelSNE(**QUICK).fit_transform(clusters, weights=weights), expected)
    for _ in model.iter_fit(clusters, weights=weights.tolist()):
        pass
    np.testing.assert_array_equal(model.embedding_, expected)
    pandas = pytest.importorskip("pandas")
    np.testing.assert_array_equal(PixelSNE(**QUICK).fit_transform(clusters, weights=pandas.Series(weights)), expected)


def with_value(value):
    weights = np.ones(600)
    weights[17] = value
    return weights


WRONG = {
    "negative": (with_value(-2), ValueError, r"weights must be 0 or more, got -2 in row 17; use 0 for a row"),
    "NaN": (with_value(np.nan), ValueError, r"weights must be finite, got nan in row 17; replace it"),
    "infinite": (with_value(np.inf), ValueError, r"weights must be finite, got inf in row 17; replace it"),
    "zero": (np.zeros(600), ValueError, r"weights must not all be 0, .*; pass None for equal weights"),
    "short": (np.ones(599), ValueError, r"one number for each of the 600 rows of X, got shape \(599,\); pass an array"),
    "2-D": (np.ones((600, 1)), ValueError, r"one number for each of the 600 rows of X, got shape \(600, 1\); pass an"),
    "scalar": (2.0, ValueError, r"one number for each of the 600 rows of X, got shape \(\); pass an array"),
    "text": (np.array(["heavy"] * 600), TypeError, r"weights must be numbers, got <U5: .*heavy.*; convert them"),
    "object": ([None] * 600, ValueError, r"weights must be finite, got nan in row 0"),
    "mixed": ([*range(599), "a"], TypeError, r"weights must be numbers, got .*; convert them"),
    "complex": (np.full(600, 1j), TypeError, r"weights must be numbers, got complex128: .*; convert them"),
}


@pytest.mark.parametrize("wrong", WRONG)
def test_wrong_weights_are_refused(clusters, wrong):
    weights, error, message = WRONG[wrong]
    with pytest.raises(error, match=message):
        PixelSNE(**QUICK).fit(clusters, weights=weights)


def test_weights_on_a_cluster_are_refused():
    class DaskArray:
        __dask_graph__ = None

    with pytest.raises(ValueError, match=r"weights are for one machine, and X is on a cluster; pass X\.compute\(\)"):
        PixelSNE().fit(DaskArray(), weights=[1.0])


# New points, and files


def test_new_rows_are_placed_on_the_weighted_map(digits, tmp_path):
    values = digits[0]
    weights = np.where(np.arange(1200) < 10, 100.0, 1.0)
    model = PixelSNE(random_state=0, max_iter=250).fit(values[:1200], weights=weights)
    placed = model.transform(values[1200:1260])
    np.testing.assert_array_equal(model.transform(values[:20]), model.embedding_[:20])
    fitted_map = model._fitted_map
    assert fitted_map.weights.mean() == pytest.approx(1.0, rel=1e-5)
    neighbors = fitted_map.space.neighbors_of(
        values[1200:1260], fitted_map.neighborhood.n_neighbors, 1, _core.ProgressToken()
    )
    conditional = calibrate(neighbors, fitted_map.neighborhood.perplexity, 1).values
    weighted_affinities = conditional * fitted_map.weights[neighbors.indices]
    weighted_affinities /= weighted_affinities.sum(axis=1, keepdims=True)
    at = placed * np.array(model.screen_.unit_per_pixel) + np.array(model.screen_.origin)
    for row in range(60):
        arguments = model.positions_, neighbors.indices[row], weighted_affinities[row], fitted_map.weights
        cost = reference.placing_cost(at[row], *arguments)
        for angle in np.linspace(0, 2 * np.pi, 8):
            step = 0.1 * np.array([np.cos(angle), np.sin(angle)])
            assert reference.placing_cost(at[row] + step, *arguments) > cost - 1e-3
    model.save(tmp_path / "weighted.model")
    loaded = PixelSNE.load(tmp_path / "weighted.model")
    np.testing.assert_array_equal(loaded.transform(values[1200:1260]), placed)


@pytest.mark.parametrize("n", [300, 3000])
def test_the_field_of_a_weighted_map(random, n):
    """Fewer than 2,048 points are summed, more have a lattice; both must find the minimum of the same cost."""
    positions, weights = random.normal(0, 15, (n, 2)).astype(np.float32), random.exponential(1, n).astype(np.float32)
    positions[0], weights[0] = [400.0, 0.0], 50.0  # an outlier
    neighbors = random.integers(0, n, (20, 8)).astype(np.int32)
    affinities = np.full((20, 8), 1 / 8, dtype=np.float32)
    placed = _core.place_new_points(positions, neighbors, affinities, _core.ProgressToken(), 2, weights)
    for row in range(20):
        arguments = positions, neighbors[row], affinities[row], weights
        cost = reference.placing_cost(placed[row], *arguments)
        for step in ([0.2, 0], [-0.2, 0], [0, 0.2], [0, -0.2]):
            assert reference.placing_cost(placed[row] + step, *arguments) > cost - 1e-3


def test_models_with_wrong_weights_are_damaged(clusters, random, tmp_path):
    path = tmp_path / "one.model"
    fit(clusters, random.exponential(1, 600)).save(path)
    document, arrays = read_archive(path)
    for wrong in (arrays["weights"][:-1], -arrays["weights"], arrays["weights"].astype(np.float64)):
        write_archive(path, document, arrays | {"weights": wrong})
        with pytest.raises(ValueError, match=r"is damaged: its .*weights"):
            PixelSNE.load(path)


def write_checkpoint(path, values, weights, iterations, **parameters):
    run = PixelSNE(**QUICK | parameters).make_run(values, weights=weights)
    identity = identity_of(values, run.settings, weights=run.weights)
    checkpoint = Checkpoint(path, run, identity, 1e9, prepared_exists=False)
    for snapshot in run.snapshots():
        if snapshot.iteration == iterations:
            break
    assert checkpoint.write()


def resume_from(path, values, weights, **parameters):
    model = PixelSNE(**QUICK | parameters)
    run = model.make_run(values, weights=weights)
    resume(path, run, identity_of(values, run.settings, weights=run.weights))
    for _ in run.snapshots():
        pass
    model.set_results(run)
    return model


@pytest.mark.parametrize("repulsion", ["exact", "pixel-field"])
@pytest.mark.parametrize("duplicates", [False, True])
def test_a_resumed_run_has_the_same_bits(groups, random, tmp_path, repulsion, duplicates):
    values = np.concatenate([groups[:2100], groups[:20]]) if duplicates else groups[:2100]
    weights, parameters = random.exponential(2, len(values)), {"repulsion": repulsion, "neighbors": "clusters"}
    whole = fit(values, weights, **parameters)
    write_checkpoint(tmp_path / "run", values, weights, 33, **parameters)
    resumed = resume_from(tmp_path / "run", values, weights, **parameters)
    np.testing.assert_array_equal(resumed.positions_, whole.positions_)
    assert resumed.kl_divergence_ == whole.kl_divergence_
    np.testing.assert_array_equal(resumed.transform(groups[3000:3010]), whole.transform(groups[3000:3010]))


def test_weights_belong_to_the_identity_of_a_run(clusters, tmp_path):
    weights = np.arange(600.0)
    write_checkpoint(tmp_path / "weighted", clusters, weights, 5)
    write_checkpoint(tmp_path / "plain", clusters, None, 5)
    for other in (None, weights + 1):
        with pytest.raises(FileError, match="was made with other weights; pass those"):
            resume_from(tmp_path / "weighted", clusters, other)
    with pytest.raises(FileError, match="was made without weights, this run has some; omit them"):
        resume_from(tmp_path / "plain", clusters, weights)
    resume_from(tmp_path / "plain", clusters, np.ones(600))


def test_checkpoints_with_wrong_weights_are_damaged(clusters, tmp_path):
    path, weights = tmp_path / "run", np.arange(600.0)
    write_checkpoint(path, clusters, weights, 5)
    document, arrays = read_archive(prepared_path(path))
    changes = [{"weights": -arrays["weights"]}, {"step_factors": 2 * arrays["step_factors"] + 1}]
    for changed in changes:
        write_archive(prepared_path(path), document, arrays | changed)
        with pytest.raises(FileError, match="its weights are not relative to their mean, or its step shares"):
            resume_from(path, clusters, weights)
    write_archive(prepared_path(path), document | {"inner_pairs": -1.0}, arrays)
    with pytest.raises(FileError, match="inner_pairs must be a finite number at least 0"):
        resume_from(path, clusters, weights)


def test_weights_need_memory():
    without, with_weights = (estimate(Workload(10**6, 0, 1, "exact", weighted=weighted)) for weighted in (False, True))
    assert without < with_weights < 1.5 * without
    assert PixelSNE(perplexity=5).make_run(np.eye(50), weights=np.arange(50)).workload.weighted
