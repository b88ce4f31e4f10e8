"""Attraction and the three repulsions against their reference implementations."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import reference
from pixelsne import _core
from pixelsne.screen import Screen

RESOLUTIONS = [
    (1, 1),
    (2, 2),
    (3, 3),
    (500, 500),
    (512, 512),
    (768, 768),
    (1000, 1000),
    (1024, 768),
    (8192, 8192),
]


def exact(positions, threads=2):
    push = np.empty_like(positions)
    return push, _core.exact_repulsion(positions, push, threads)


def barnes_hut(positions, theta, threads=2):
    push = np.empty_like(positions)
    return push, _core.TreeRepulsion().barnes_hut(positions, theta, push, threads)


def pixel_tree(positions, resolution, theta, center="mass", threads=2, tree=None):
    screen = Screen.around(_core.bounds(positions, threads), resolution, "fill")
    push = np.empty_like(positions)
    tree = tree or _core.TreeRepulsion()
    normalizer = tree.pixel_tree(
        positions, screen.origin, screen.unit_per_pixel, resolution, theta, center, push, threads
    )
    return push, normalizer


def cells_of(positions, resolution, center):
    tree = _core.TreeRepulsion()
    pixel_tree(positions, resolution, 0.5, center, tree=tree)
    return tree.cells()


def relative_error(push, truth):
    return np.sqrt(np.square(push - truth).sum() / np.square(truth).sum())


@pytest.fixture(scope="module")
def spread_map():
    """200 points: three clusters of different density, a line and a distant point."""
    rng = np.random.default_rng(4)
    clumps = [rng.normal(center, width, (60, 2)) for center, width in (((0, 0), 1), ((20, 5), 3), ((-10, 15), 0.2))]
    line = np.stack([np.linspace(-20, 20, 19), np.full(19, -12.0)], axis=1)
    return np.concatenate([*clumps, line, [[60.0, -40.0]]]).astype(np.float32)


def test_attraction_against_the_reference(cluster_affinities, random):
    attraction = _core.Attraction(cluster_affinities.offsets, cluster_affinities.columns, cluster_affinities.values)
    for scale in (1e-4, 1.0, 100.0):
        positions = (scale * random.normal(size=(600, 2))).astype(np.float32)
        force = np.empty_like(positions)
        attraction.forces(positions, force, 2)
        truth = reference.attraction(reference.dense(cluster_affinities), positions)
        np.testing.assert_allclose(force, truth, rtol=1e-4, atol=1e-6 * np.abs(truth).max())


@pytest.mark.parametrize("scale", [1e-4, 1.0, 30.0, 1e4])
@pytest.mark.parametrize("n", [2, 3, 8, 9, 17, 300, 1025])
def test_exact_repulsion_against_the_reference(n, scale, random):
    positions = (scale * random.normal(size=(n, 2))).astype(np.float32)
    push, normalizer = exact(positions)
    true_push, true_normalizer = reference.repulsion(positions)
    assert normalizer == pytest.approx(true_normalizer, rel=1e-5)
    np.testing.assert_allclose(push, true_push, rtol=1e-4, atol=1e-5 * np.abs(true_push).max())


@pytest.mark.slow
@pytest.mark.parametrize("center", ["mass", "cell"])
@pytest.mark.parametrize("theta", [0.0, 0.3, 0.5, 1.5])
@pytest.mark.parametrize("resolution", [(1, 1), (3, 3), (37, 64), (300, 200), (4096, 4096)])
def test_pixel_tree_against_the_reference(spread_map, resolution, theta, center):
    screen = Screen.around(_core.bounds(spread_map, 1), resolution, "fill")
    levels = int(np.ceil(np.log2(max(resolution))))
    truth = reference.tree_repulsion(
        spread_map, screen.to_integer_pixels(spread_map), screen.origin, screen.unit_per_pixel, levels, theta, center
    )
    push, normalizer = pixel_tree(spread_map, resolution, theta, center)
    assert normalizer == pytest.approx(truth[1], rel=1e-5)
    np.testing.assert_allclose(push, truth[0], rtol=1e-3, atol=2e-5 * np.abs(truth[0]).max())


@pytest.mark.slow
@pytest.mark.parametrize("theta", [0.0, 0.5, 1.5])
def test_barnes_hut_against_the_reference(spread_map, theta):
    """The reference halves the extent only 24 times, which separates these points."""
    levels = 24
    low, high = spread_map.min(axis=0).astype(np.float64), spread_map.max(axis=0).astype(np.float64)
    unit = (high - low) / 2**levels
    leaves = np.minimum(((spread_map - low) / unit).astype(np.int64), 2**levels - 1)
    truth = reference.tree_repulsion(spread_map, leaves, low, unit, levels, theta, "mass")
    push, normalizer = barnes_hut(spread_map, theta)
    assert normalizer == pytest.approx(truth[1], rel=1e-5)
    np.testing.assert_allclose(push, truth[0], rtol=1e-3, atol=2e-5 * np.abs(truth[0]).max())


def test_barnes_hut_with_theta_zero_is_exact(spread_map):
    push, normalizer = barnes_hut(spread_map, 0.0)
    true_push, true_normalizer = exact(spread_map)
    assert normalizer == pytest.approx(true_normalizer, rel=1e-6)
    np.testing.assert_allclose(push, true_push, atol=1e-5 * np.abs(true_push).max())


@pytest.mark.parametrize("center", ["mass", "cell"])
@pytest.mark.parametrize("side", [7, 16])
def test_one_point_per_pixel_center_and_theta_zero_is_exact(side, center):
    columns, rows = np.meshgrid(np.arange(side), np.arange(side))
    positions = (np.stack([columns.ravel(), rows.ravel()], axis=1) + 0.5).astype(np.float32)
    push = np.empty_like(positions)
    tree = _core.TreeRepulsion()
    normalizer = tree.pixel_tree(positions, (0.0, 0.0), (1.0, 1.0), (side, side), 0.0, center, push, 2)
    true_push, true_normalizer = exact(positions)
    assert normalizer == pytest.approx(true_normalizer, rel=1e-6)
    np.testing.assert_allclose(push, true_push, atol=1e-5 * np.abs(true_push).max())


@pytest.mark.parametrize("resolution", RESOLUTIONS)
def test_every_point_is_counted_once_at_every_level(resolution, random):
    positions = random.normal(size=(3000, 2)).astype(np.float32)
    cells = cells_of(positions, resolution, "cell")
    levels = int(np.ceil(np.log2(max(resolution))))
    for level in range(levels + 1):
        begin, end = cells[cells[:, 0] == level, 1:3].T
        assert begin[0] == 0
        assert end[-1] == 3000
        assert np.array_equal(begin[1:], end[:-1]), "cells of a level must follow each other without gap or overlap"
    assert cells[:, 0].max() == levels


@pytest.mark.parametrize("resolution", RESOLUTIONS)
@pytest.mark.parametrize("center", ["mass", "cell"])
def test_children_hold_the_points_of_their_parent(resolution, center, random):
    positions = random.normal(size=(2000, 2)).astype(np.float32)
    cells = cells_of(positions, resolution, center)
    level, begin, end, skip = cells.T
    assert (begin[0], end[0], skip[0]) == (0, 2000, len(cells))
    for cell in np.flatnonzero(skip > np.arange(len(cells)) + 1):
        covered, child = begin[cell], cell + 1
        while child < skip[cell]:
            assert begin[child] == covered
            assert level[child] > level[cell]
            covered, child = end[child], skip[child]
        assert covered == end[cell]


@pytest.mark.parametrize("center", ["mass", "cell"])
def test_the_number_of_cells_follows_the_points(center, random):
    """65,536 x 65,536 pixels have no more cells than the points can occupy."""
    positions = random.normal(size=(1000, 2)).astype(np.float32)
    cells = cells_of(positions, (65_536, 65_536), center)
    assert len(cells) <= (1000 * 17 if center == "cell" else 2 * 1000)


@pytest.mark.parametrize("center", ["mass", "cell"])
def test_points_in_one_pixel_repel_each_other(center):
    """Two points at one end of a pixel, one at the other, and a distant point that keeps the pixel large."""
    positions = np.array([[0, 0], [0.2, 0.1], [1.0, 0.3], [100, 100]], dtype=np.float32)
    push, normalizer = pixel_tree(positions, (10, 10), 0.5, center)
    if center == "mass":
        truth, true_normalizer = reference.repulsion(positions)
        assert push[0, 0] < 0 < push[2, 0]
        np.testing.assert_allclose(push[2], truth[2], rtol=0.05)
        assert normalizer == pytest.approx(true_normalizer, rel=0.1)  # two points are replaced by their mean: not exact
    else:  # the two others count at the center of the pixel
        offset = positions[0] - np.array([5.0, 5.0])
        kernel = 1 / (1 + offset @ offset)
        np.testing.assert_allclose(push[0], 2 * kernel**2 * offset, rtol=0.02)
        assert normalizer > 3 * 2 * kernel


@pytest.mark.parametrize("method", [barnes_hut, lambda p, theta: pixel_tree(p, (512, 512), theta)])
def test_coincident_points(method):
    positions = np.repeat(np.array([[0, 0], [3, 1]], dtype=np.float32), 50, axis=0)
    push, normalizer = method(positions, 0.5)
    true_push, true_normalizer = reference.repulsion(positions)
    assert normalizer == pytest.approx(true_normalizer, rel=1e-5)
    np.testing.assert_allclose(push, true_push, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("theta", [0.0, 0.5, 1.5, 1e9])
@pytest.mark.parametrize("method", ["barnes-hut", "mass", "cell"])
def test_a_point_is_pushed_once_by_every_other_and_never_by_itself(method, theta, random):
    """On a tiny map every pair adds 1 to the normalizer, so the normalizer counts pairs, whatever cells were used."""
    positions = (1e-5 * random.normal(size=(2000, 2))).astype(np.float32)
    positions[:100] = positions[0]
    _, normalizer = (
        barnes_hut(positions, theta) if method == "barnes-hut" else pixel_tree(positions, (100, 300), theta, method)
    )
    assert normalizer == pytest.approx(2000 * 1999, rel=1e-6)


@pytest.mark.parametrize("method", ["barnes-hut", "mass", "cell"])
def test_a_single_point_has_no_push(method):
    alone = np.zeros((1, 2), dtype=np.float32)
    push, normalizer = barnes_hut(alone, 1.5) if method == "barnes-hut" else pixel_tree(alone, (4, 4), 1.5, method)
    assert not push.any()
    assert normalizer == 0


@pytest.mark.parametrize("method", ["barnes-hut", "mass", "cell"])
def test_the_error_falls_with_theta(method, random):
    centers = random.normal(0, 30, (12, 2))
    positions = (centers[random.integers(0, 12, 4000)] + random.normal(0, 3, (4000, 2))).astype(np.float32)
    truth, _ = exact(positions)
    errors = []
    for theta in (1.5, 1.0, 0.5, 0.25):
        push, _ = (
            barnes_hut(positions, theta)
            if method == "barnes-hut"
            else pixel_tree(positions, (8192, 8192), theta, method)
        )
        errors.append(relative_error(push, truth))
    assert errors == sorted(errors, reverse=True)
    assert errors[2] < (0.2 if method == "cell" else 0.05)


@settings(max_examples=60)
@given(
    kind=st.sampled_from(["normal", "line", "equal", "outlier", "grid"]),
    n=st.integers(1, 200),
    exponent=st.floats(-5, 4),
    resolution=st.tuples(st.integers(1, 5000), st.integers(1, 5000)),
    seed=st.integers(0, 1000),
)
def test_trees_stay_close_to_exact_on_any_map(kind, n, exponent, resolution, seed):
    rng = np.random.default_rng(seed)
    positions = rng.normal(size=(n, 2))
    if kind == "line":
        positions[:, 1] = 0
    elif kind == "equal":
        positions[:] = 1
    elif kind == "outlier":
        positions[0] = 1000
    elif kind == "grid":
        positions = np.round(positions * 2)
    positions = (positions * 10**exponent).astype(np.float32)
    truth, true_normalizer = reference.repulsion(positions)
    push, normalizer = barnes_hut(positions, 0.3)
    assert normalizer == pytest.approx(true_normalizer, rel=0.02)
    np.testing.assert_allclose(push, truth, atol=0.05 * np.abs(truth).max() + 1e-6)
    push, normalizer = pixel_tree(positions, resolution, 0.3)
    assert np.isfinite(push).all()
    assert 0 <= normalizer <= n * (n - 1) * (1 + 1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("theta", [0.0, 0.5])
def test_same_bits_at_any_thread_count(theta, random):
    positions = random.normal(0, 20, size=(5000, 2)).astype(np.float32)
    methods = [
        lambda threads: exact(positions, threads),
        lambda threads: barnes_hut(positions, theta, threads),
        lambda threads: pixel_tree(positions, (1024, 768), theta, "mass", threads),
        lambda threads: pixel_tree(positions, (1024, 768), theta, "cell", threads),
    ]
    for method in methods:
        push, normalizer = method(1)
        for threads in (2, 7):
            again, normalizer_again = method(threads)
            assert np.array_equal(push, again)
            assert normalizer == normalizer_again


@pytest.mark.parametrize("scale", [1e-4, 0.1, 1.0, 30.0, 1e4])
def test_divergence_against_the_reference(cluster_affinities, random, scale):
    """Compares the sum without the normalizer, which uses the core's own logarithm."""
    positions = (scale * random.normal(size=(600, 2))).astype(np.float32)
    attraction = _core.Attraction(cluster_affinities.offsets, cluster_affinities.columns, cluster_affinities.values)
    found, mass = attraction.divergence(positions, 2)
    joint = reference.dense(cluster_affinities)
    squared = reference.squared_distances(positions.astype(np.float64))
    present = joint > 0
    truth = (joint[present] * np.log(joint[present] * (1 + squared[present]))).sum()
    assert found == pytest.approx(truth, rel=1e-6)
    assert mass == pytest.approx(joint.sum(), rel=1e-9)
