"""The pixel field against its twin and against all pairs."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import cdist

import reference
from pixelsne import _core

MOST_NODES = 2048
SPACING = 0.42


def pixel_field(positions, threads=2, field=None, most_nodes=MOST_NODES):
    push = np.empty_like(positions)
    return push, (field or _core.FieldRepulsion()).pixel_field(positions, most_nodes, push, threads)


def exact(positions):
    push = np.empty_like(positions)
    return push, _core.exact_repulsion(positions, push, 2)


def relative_error(push, truth):
    return np.sqrt(np.square(push.astype(np.float64) - truth).sum() / np.square(truth.astype(np.float64)).sum())


def clumps(n, span, seed=0):
    """Clumps of different density, brought to a span."""
    rng = np.random.default_rng(seed)
    centers, widths = rng.uniform(-1, 1, (5, 2)), rng.uniform(0.02, 0.3, 5)
    chosen = rng.integers(0, 5, n)
    points = centers[chosen] + widths[chosen, None] * rng.normal(size=(n, 2))
    return ((points - points.mean(axis=0)) * span / np.ptp(points, axis=0).max()).astype(np.float32)


def line(n, span, seed=0):
    places = np.random.default_rng(seed).uniform(-0.5, 0.5, n) * span
    return np.stack([places, 0.3 * places], axis=1).astype(np.float32)


# A line is finer than the kernel can be sampled: forces along it cancel, and what is left shows the error.
LARGEST_ERROR = {clumps: 0.01, line: 0.05}


@pytest.mark.parametrize("span", [5.0, 12.0, 30.0, 60.0])
@pytest.mark.parametrize("shape", [clumps, line])
def test_the_field_against_its_twin(shape, span):
    """The same sums in float64, written out: what differs is rounding."""
    positions = shape(2500, span)
    field = _core.FieldRepulsion()
    push, normalizer = pixel_field(positions, field=field)
    spacing, columns, rows, outliers, used_tree = field.lattice()
    assert (outliers, used_tree) == (0, False)
    true_push, true_normalizer = reference.field_repulsion(positions, spacing, columns, rows)
    assert normalizer == pytest.approx(true_normalizer, rel=2e-5)
    assert relative_error(push, true_push) < 2e-4


def test_points_on_the_nodes_get_exact_values():
    """The interpolant goes through the kernel's own values there."""
    side, spacing = 58, SPACING / 2  # as many as 64 nodes can hold; even, so that both have the same middle
    steps = spacing * (np.arange(side) - (side - 1) / 2)
    positions = np.stack(np.meshgrid(steps, steps), axis=-1).reshape(-1, 2).astype(np.float32)
    field = _core.FieldRepulsion()
    _, normalizer = pixel_field(positions, field=field)
    assert field.lattice() == (pytest.approx(spacing), 64, 64, 0, False)
    assert normalizer == pytest.approx(exact(positions)[1], rel=1e-5)


@pytest.mark.parametrize("span", [1e-5, 1e-3, 0.1, 1.0, 3.9, 4.1, 10.0, 40.0, 100.0, 300.0, 850.0, 900.0, 1e4])
@pytest.mark.parametrize("shape", [clumps, line])
def test_the_field_against_all_pairs_at_every_span(shape, span):
    positions = shape(20_000, span)
    push, normalizer = pixel_field(positions)
    true_push, true_normalizer = exact(positions)
    assert relative_error(push, true_push) < LARGEST_ERROR[shape]
    assert normalizer == pytest.approx(true_normalizer, rel=0.005)


@st.composite
def point_sets(draw):
    """Clusters, lines, coincident points, outliers, at any scale and place."""
    seed = draw(st.integers(0, 2**16))
    n = draw(st.one_of(st.integers(2, 3000), st.integers(2048, 4000)))
    span = 10 ** draw(st.floats(-5, 4))
    points = draw(st.sampled_from([clumps, line]))(n, span, seed)
    copies = draw(st.integers(0, n // 2))
    points[:copies] = points[0]
    for place in range(draw(st.integers(0, 3))):
        points[-1 - place % n] = np.random.default_rng(seed + place).normal(size=2) * 10 ** draw(st.floats(0, 6))
    return points + np.float32(draw(st.sampled_from([0.0, 0.0, 100.0])) * span)


@settings(max_examples=60)
@given(point_sets())
def test_no_push_errs_by_more_than_a_share_of_the_kernels_around(positions):
    """Point by point, and for any points: where pushes cancel, they say nothing about the error."""
    push, normalizer = pixel_field(positions)
    true_push, true_normalizer = exact(positions)
    kernels = (1 / (1 + cdist(positions, positions, "sqeuclidean"))).sum(axis=1)
    errors = np.hypot(*(push.astype(np.float64) - true_push).T)
    # Floats far from 0 know their own distances only roughly, which is no fault of the field.
    known = np.abs(positions).max() * 1e-6
    assert (errors / kernels).max() <= 0.015 + known
    assert normalizer == pytest.approx(true_normalizer, rel=0.01, abs=1e-3)


def test_all_points_equal():
    for place in (0.0, 3.0, 1e4, -1e8):
        push, normalizer = pixel_field(np.full((500, 2), place, dtype=np.float32))
        assert normalizer == pytest.approx(500 * 499, rel=1e-4)
        assert np.abs(push).max() < 500 * 1e-3


@pytest.mark.parametrize("distance", [1e3, 1e6, 1e9])
def test_a_far_outlier_keeps_its_force_and_the_lattice_its_size(distance):
    positions = clumps(20_000, 60.0)
    field = _core.FieldRepulsion()
    pixel_field(positions, field=field)
    _, columns, rows, *_ = field.lattice()
    positions[7] = [distance, -distance]
    positions[8] = [-distance, 1.0]
    push, normalizer = pixel_field(positions, field=field)
    spacing, columns_now, rows_now, outliers, used_tree = field.lattice()
    assert spacing <= SPACING
    assert not used_tree
    assert 2 <= outliers <= 64
    assert columns_now <= 1.5 * columns
    assert rows_now <= 1.5 * rows
    true_push, true_normalizer = exact(positions)
    np.testing.assert_allclose(push[[7, 8]], true_push[[7, 8]], rtol=1e-4)
    assert relative_error(push, true_push) < 0.01
    assert normalizer == pytest.approx(true_normalizer, rel=1e-3)


def test_many_outliers_are_left_to_the_tree():
    """More than may be summed pair by pair: the lattice stays bounded, and the forces right."""
    positions = clumps(5_000, 60.0)
    positions[:200] *= 1e4
    field = _core.FieldRepulsion()
    push, normalizer = pixel_field(positions, field=field)
    assert field.lattice()[-1]
    true_push, true_normalizer = exact(positions)
    assert relative_error(push, true_push) < 0.01
    assert normalizer == pytest.approx(true_normalizer, rel=0.01)


@pytest.mark.parametrize("span", [1e-4, 3.0, 50.0, 2000.0])
def test_same_bits_at_any_thread_count(span):
    positions = clumps(30_000, span)
    positions[3] = 1e5
    first = pixel_field(positions, 1)
    for threads in (2, 3, 7):
        again = pixel_field(positions, threads)
        assert np.array_equal(first[0], again[0])
        assert first[1] == again[1]


def test_what_came_before_does_not_matter():
    """Buffers and spectra are kept, and must not be seen."""
    field = _core.FieldRepulsion()
    for span in (80.0, 1e-3, 500.0, 2.0, 81.0):
        positions = clumps(4_000, span)
        push, normalizer = pixel_field(positions, field=field)
        fresh_push, fresh_normalizer = pixel_field(positions)
        assert np.array_equal(push, fresh_push)
        assert normalizer == fresh_normalizer


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_positions_that_are_not_numbers(bad):
    all_bad = np.full((50, 2), bad, dtype=np.float32)
    one_bad = clumps(4_000, 30.0)
    one_bad[3] = bad
    for positions in (all_bad, one_bad):
        with pytest.raises(ValueError, match="positions: finite"):
            pixel_field(positions)


@pytest.mark.parametrize("most_nodes", [0, 31, 33, 4112])
def test_sizes_that_no_lattice_has(most_nodes):
    with pytest.raises(ValueError, match="most_nodes: "):
        pixel_field(clumps(100, 1.0), most_nodes=most_nodes)
