import numpy as np
import pytest

import reference
from pixelsne import _core
from pixelsne.affinities import Affinities, calibrate, joint_affinities, symmetrize
from pixelsne.graphs import precomputed_affinities
from pixelsne.neighbors import Neighbors, find_neighbors


def conditional_affinities(distances, perplexities, threads):
    return _core.conditional_affinities(distances, perplexities, _core.ProgressToken(), threads)


def entropy(rows):
    rows = rows.astype(np.float64)
    logarithms = np.log(rows, where=rows > 0, out=np.zeros_like(rows))
    return -(rows * logarithms).sum(axis=1)


def check_joint(affinities):
    dense = reference.dense(affinities)
    assert np.array_equal(dense, dense.T), "p_ij and p_ji must have the same bits"
    assert dense.sum() == pytest.approx(1.0, abs=1e-5)
    assert (dense >= 0).all()
    assert (np.diagonal(dense) == 0).all()
    rows = np.repeat(np.arange(len(affinities)), np.diff(affinities.offsets))
    assert len(np.unique(rows * len(affinities) + affinities.columns)) == len(rows), "no edge may be stored twice"


@pytest.mark.slow
@pytest.mark.parametrize("perplexity", [1.5, 5.0, 10.0, 29.0])
def test_calibration_against_bisection(clusters, perplexity):
    distances = find_neighbors(clusters, 30, "exact", 0, 2).distances
    ours = conditional_affinities(distances, [perplexity], 2)
    np.testing.assert_allclose(ours, reference.conditional_affinities(distances, perplexity), atol=2e-6)
    np.testing.assert_allclose(np.exp(entropy(ours)), perplexity, rtol=1e-4)


def test_several_perplexities_give_the_mean_of_their_kernels(clusters):
    distances = find_neighbors(clusters, 60, "exact", 0, 2).distances
    both = conditional_affinities(distances, [5.0, 20.0], 2)
    single = [conditional_affinities(distances, [perplexity], 2) for perplexity in (5.0, 20.0)]
    np.testing.assert_allclose(both, (single[0] + single[1]) / 2, atol=1e-7)


@pytest.mark.parametrize("gap", [1.0, 0.5, 0.01])
def test_perplexity_close_to_the_number_of_neighbors(clusters, gap):
    distances = find_neighbors(clusters[:60], 59, "exact", 0, 2).distances
    rows = conditional_affinities(distances, [59 - gap], 2)
    np.testing.assert_allclose(np.exp(entropy(rows)), 59 - gap, rtol=1e-4)


def test_scaled_distances_give_the_same_affinities(clusters):
    distances = find_neighbors(clusters, 30, "exact", 0, 2).distances
    rows = conditional_affinities(distances, [10.0], 2)
    for scale in (1e-12, 1e12):
        scaled = conditional_affinities((distances * np.float32(scale)), [10.0], 2)
        np.testing.assert_allclose(scaled, rows, atol=1e-5)


def test_a_point_with_200_copies(random):
    points = random.normal(size=(500, 5)).astype(np.float32)
    points[:201] = points[0]
    affinities = joint_affinities(find_neighbors(points, 90, "exact", 0, 2), (30.0,), 2)
    check_joint(affinities)
    copies = conditional_affinities(find_neighbors(points, 90, "exact", 0, 2).distances, [30.0], 2)[:201]
    np.testing.assert_allclose(copies, 1 / 90, rtol=1e-5)  # all at distance 0: equal weights


def test_copies_beyond_the_perplexity_get_equal_weights(random):
    """40 copies cannot have a perplexity of 30: the nearest perplexity they reach is 40."""
    points = random.normal(size=(300, 5)).astype(np.float32)
    points[:41] = points[0]
    rows = conditional_affinities(find_neighbors(points, 90, "exact", 0, 2).distances, [30.0], 2)
    np.testing.assert_allclose(rows[:41, :40], 1 / 40, rtol=1e-3)
    assert np.isfinite(rows).all()


def test_constant_data():
    neighbors = find_neighbors(np.ones((100, 3), dtype=np.float32), 30, "exact", 0, 2)
    check_joint(joint_affinities(neighbors, (10.0,), 2))


def test_joint_affinities_against_the_dense_reference(clusters):
    neighbors = find_neighbors(clusters, 30, "exact", 0, 2)
    conditional = conditional_affinities(neighbors.distances, [10.0], 2)
    affinities = joint_affinities(neighbors, (10.0,), 2)
    check_joint(affinities)
    np.testing.assert_allclose(
        reference.dense(affinities),
        reference.joint_affinities(neighbors.indices, conditional),
        rtol=1e-6,
        atol=1e-12,
    )


@pytest.mark.parametrize("own", [1, 250, 1000])
def test_rows_of_a_shard_equal_the_rows_of_the_whole_matrix(clusters, own):
    """The first points are in this shard, all others in two other shards, whose edges to this shard arrive as input."""
    neighbors = find_neighbors(clusters, 30, "exact", 0, 2)
    n, conditional = len(clusters), conditional_affinities(neighbors.distances, [10.0], 2)
    own = min(own, n)
    ids = np.arange(n, dtype=np.int32)
    incoming = []
    for begin, end in ((own, (own + n) // 2), ((own + n) // 2, n)):  # two other shards
        sources, ranks = np.nonzero(neighbors.indices[begin:end] < own)
        targets = neighbors.indices[begin:end][sources, ranks]
        values = conditional[begin:end][sources, ranks]
        incoming.append((ids[begin:end].copy(), ids[:own].copy(), sources.astype(np.int32), targets, values))
    parts = neighbors.indices[:own].copy(), conditional[:own].copy(), incoming
    offsets, columns, values = _core.joint_affinities_of_part(*parts, n, n, _core.ProgressToken(), 2)
    found = np.zeros((own, n))
    rows = np.repeat(np.arange(own), np.diff(offsets))
    assert len(np.unique(rows * n + columns)) == len(rows), "no edge may be stored twice"
    found[rows, columns] = values
    np.testing.assert_allclose(found, reference.joint_affinities(neighbors.indices, conditional)[:own], rtol=1e-6)
    whole = reference.dense(joint_affinities(neighbors, (10.0,), 2))
    assert np.array_equal(found, whole[:own]), "the bits of the whole"


def test_hubs_are_stored_once(random):
    """One point is a neighbor of all others, so rows have very different lengths."""
    n = 400
    indices = np.stack([np.zeros(n), np.arange(n) + 1], axis=1).astype(np.int32) % n
    indices[0] = [1, 2]
    indices[-1] = [0, 1]
    distances = np.sort(random.random((n, 2)).astype(np.float32), axis=1)
    affinities = joint_affinities(Neighbors(indices, distances), (1.5,), 3)
    check_joint(affinities)
    assert np.diff(affinities.offsets)[0] == n - 1


def test_same_bits_at_any_thread_count(digits):
    neighbors = find_neighbors(digits[0].astype(np.float32), 60, "exact", 0, 2)
    first = joint_affinities(neighbors, (20.0,), 1)
    for threads in (2, 7):
        again = joint_affinities(neighbors, (20.0,), threads)
        assert np.array_equal(first.offsets, again.offsets)
        assert np.array_equal(first.columns, again.columns)
        assert np.array_equal(first.values, again.values)


@pytest.mark.parametrize("stage", [calibrate, symmetrize])
def test_a_cancelled_token_ends_both_stages(clusters, stage):
    neighbors = find_neighbors(clusters, 30, "exact", 0, 2)
    arguments = (neighbors, (10.0,)) if stage is calibrate else (calibrate(neighbors, (10.0,), 2),)
    token = _core.ProgressToken()
    token.cancel()
    with pytest.raises(_core.Cancelled):
        stage(*arguments, 2, token)


@pytest.mark.parametrize("stage", [calibrate, symmetrize])
def test_progress_reaches_one(clusters, stage):
    neighbors = find_neighbors(clusters, 30, "exact", 0, 2)
    arguments = (neighbors, (10.0,)) if stage is calibrate else (calibrate(neighbors, (10.0,), 2),)
    token = _core.ProgressToken()
    stage(*arguments, 2, token)
    assert token.fraction == 1.0


def test_affinities_are_read_only_however_they_were_made(clusters, tmp_path):
    matrix = np.exp(-np.square(clusters[:20, None] - clusters[:20]).sum(axis=2))
    found = joint_affinities(find_neighbors(clusters, 5, "exact", 0, 1), (2.0,), 1)
    np.save(tmp_path / "values.npy", found.values)
    mapped = Affinities(found.offsets.copy(), found.columns.copy(), np.load(tmp_path / "values.npy", mmap_mode="r"))
    for affinities in (found, precomputed_affinities(matrix), mapped):
        for array in (affinities.offsets, affinities.columns, affinities.values):
            assert not array.flags.writeable
    assert matrix.flags.writeable  # the user's array stays writable


@pytest.mark.parametrize("k", [5, 20, 119])
@pytest.mark.parametrize("threads", [1, 2, 7])
def test_joint_affinities_with_few_or_all_neighbors_against_the_reference(random, k, threads):
    """Rows that list many of all points find reciprocal edges by a table of ranks."""
    points = random.normal(size=(120, 4)).astype(np.float32)
    conditional = calibrate(find_neighbors(points, k, "exact", 0, 1), (k / 3,), 1)
    expected = reference.joint_affinities(conditional.indices, conditional.values)
    found = symmetrize(conditional, threads)
    check_joint(found)
    np.testing.assert_allclose(reference.dense(found), expected, atol=1e-8)
