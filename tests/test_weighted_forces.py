"""Repulsion of weighted points, against points that are really repeated, and against the definition."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import reference
from pixelsne import _core
from pixelsne.screen import Screen

RESOLUTION = (300, 200)


def pixel_tree(positions, weights, threads, theta, center):
    screen = Screen.around(_core.bounds(positions, 1), RESOLUTION, "fill")
    push = np.empty_like(positions)
    on_screen = screen.origin, screen.unit_per_pixel, RESOLUTION
    return push, _core.TreeRepulsion().pixel_tree(positions, *on_screen, theta, center, push, threads, weights)


def barnes_hut(positions, weights, threads, theta):
    push = np.empty_like(positions)
    return push, _core.TreeRepulsion().barnes_hut(positions, theta, push, threads, weights)


def exact(positions, weights, threads):
    push = np.empty_like(positions)
    return push, _core.exact_repulsion(positions, push, threads, weights)


def pixel_field(positions, weights, threads):
    push = np.empty_like(positions)
    return push, _core.FieldRepulsion().pixel_field(positions, 2048, push, threads, weights)


METHODS = {
    "exact": exact,
    "barnes-hut": lambda *arguments: barnes_hut(*arguments, 0.3),
    "pixel-tree": lambda *arguments: pixel_tree(*arguments, 0.3, "mass"),
    "pixel-tree, cells": lambda *arguments: pixel_tree(*arguments, 0.3, "cell"),
    "pixel-field": pixel_field,
}
MAX_ERROR = {"exact": 1e-5, "barnes-hut": 0.01, "pixel-tree": 0.01, "pixel-tree, cells": 0.3, "pixel-field": 0.01}


def clumps(n, random):
    """Return clusters of different density; the field needs 2,048 points or more, fewer are computed by a tree."""
    centers, widths = random.normal(0, 15, (6, 2)), random.uniform(0.5, 4, 6)
    cluster = random.integers(0, 6, n)
    return (centers[cluster] + widths[cluster, None] * random.normal(size=(n, 2))).astype(np.float32)


def relative_error(push, truth):
    return np.sqrt(np.square(push - truth).sum() / np.square(truth).sum())


@pytest.mark.parametrize("method", METHODS)
def test_integer_weights_against_repeated_points(method, random):
    """A point of weight w acts like w points in one position, and Z counts its w (w - 1) pairs of these."""
    positions = clumps(2100, random)
    counts = np.where(random.random(2100) < 0.1, random.integers(2, 12, 2100), 1)
    row, first = np.repeat(np.arange(2100), counts), np.cumsum(counts) - counts
    truth, true_normalizer = reference.repulsion(positions[row])
    push, normalizer = METHODS[method](positions, counts.astype(np.float32), 2)
    assert relative_error(push, truth[first]) < MAX_ERROR[method]
    assert normalizer + (counts * (counts - 1)).sum() == pytest.approx(true_normalizer, rel=MAX_ERROR[method] / 2)


@pytest.mark.parametrize("method", METHODS)
def test_real_weights_against_the_definition(method, random):
    positions, weights = clumps(2100, random), random.exponential(1, 2100).astype(np.float32) + np.float32(1e-6)
    positions[:3] = positions[0]  # equal positions
    push, normalizer = METHODS[method](positions, weights, 2)
    truth, true_normalizer = reference.repulsion(positions, weights)
    assert relative_error(push, truth) < MAX_ERROR[method]
    assert normalizer == pytest.approx(true_normalizer, rel=MAX_ERROR[method] / 2)


@pytest.mark.slow
@pytest.mark.parametrize("center", ["mass", "cell"])
@pytest.mark.parametrize("theta", [0.0, 0.5])
def test_trees_against_the_reference(theta, center, random):
    positions, weights = clumps(200, random), random.exponential(1, 200).astype(np.float32)
    screen = Screen.around(_core.bounds(positions, 1), RESOLUTION, "fill")
    on_screen = screen.to_integer_pixels(positions), screen.origin, screen.unit_per_pixel
    truth, true_normalizer = reference.tree_repulsion(positions, *on_screen, 9, theta, center, weights)
    push, normalizer = pixel_tree(positions, weights, 2, theta, center)
    assert normalizer == pytest.approx(true_normalizer, rel=1e-5)
    np.testing.assert_allclose(push, truth, rtol=1e-3, atol=2e-5 * np.abs(truth).max())


@pytest.mark.slow
def test_the_field_against_the_reference(random):
    positions, weights = clumps(2500, random), random.exponential(1, 2500).astype(np.float32)
    field, push = _core.FieldRepulsion(), np.empty_like(positions)
    normalizer = field.pixel_field(positions, 2048, push, 2, weights)
    spacing, columns, rows, outliers, used_tree = field.lattice()
    assert (outliers, used_tree) == (0, False)
    truth, true_normalizer = reference.field_repulsion(positions, spacing, columns, rows, weights)
    assert normalizer == pytest.approx(true_normalizer, rel=2e-5)
    assert relative_error(push, truth) < 2e-4


@pytest.mark.parametrize("span", [1e-3, 1.0, 40.0])
def test_the_field_with_heavy_points_and_outliers(span, random):
    positions, weights = clumps(4000, random), np.ones(4000, dtype=np.float32)
    positions *= np.float32(span / 80)
    positions[7], weights[7], weights[:5] = [30 * span, -20 * span], 40.0, 400.0
    push, normalizer = pixel_field(positions, weights, 2)
    truth, true_normalizer = exact(positions, weights, 2)
    assert relative_error(push, truth) < 0.01
    assert normalizer == pytest.approx(true_normalizer, rel=0.005)


@pytest.mark.parametrize("method", METHODS)
def test_weights_of_one_change_nothing(method, random):
    positions = clumps(3000, random)
    push, normalizer = METHODS[method](positions, None, 2)
    again, normalizer_again = METHODS[method](positions, np.ones(3000, dtype=np.float32), 2)
    assert relative_error(again, push) < 1e-6
    assert normalizer_again == pytest.approx(normalizer, rel=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS)
def test_same_bits_at_any_thread_count(method, random):
    positions, weights = clumps(9000, random), random.exponential(1, 9000).astype(np.float32)
    push, normalizer = METHODS[method](positions, weights, 1)
    for threads in (2, 7):
        again, normalizer_again = METHODS[method](positions, weights, threads)
        assert np.array_equal(push, again)
        assert normalizer == normalizer_again


@settings(max_examples=40)
@given(n=st.integers(1, 100), exponent=st.floats(-5, 4), spread=st.floats(0, 12), seed=st.integers(0, 1000))
def test_trees_stay_close_to_exact_for_any_weights(n, exponent, spread, seed):
    rng = np.random.default_rng(seed)
    positions = (np.round(rng.normal(size=(n, 2)) * 2) * 10**exponent).astype(np.float32)
    weights = (10 ** (spread * (rng.random(n) - 0.5))).astype(np.float32)
    truth, true_normalizer = reference.repulsion(positions, weights)
    push, normalizer = barnes_hut(positions, weights, 2, 0.3)
    assert normalizer == pytest.approx(true_normalizer, rel=0.02, abs=1e-30)
    np.testing.assert_allclose(push, truth, atol=0.05 * np.abs(truth).max() + 1e-6)
