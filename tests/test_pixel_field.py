"""The pixel field against its reference implementation and against all pairs."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import cdist

import reference
from pixelsne import _core

MAX_NODES = 2048
SPACING = 0.42


def pixel_field(positions, threads=2, field=None, max_nodes=MAX_NODES):
    push = np.empty_like(positions)
    return push, (field or _core.FieldRepulsion()).pixel_field(positions, max_nodes, push, threads)


def exact(positions):
    push = np.empty_like(positions)
    return push, _core.exact_repulsion(positions, push, 2)


def relative_error(push, truth):
    return np.sqrt(np.square(push.astype(np.float64) - truth).sum() / np.square(truth.astype(np.float64)).sum())


def clusters(n, span, seed=0):
    """Return clusters of different density, scaled to a span."""
    rng = np.random.default_rng(seed)
    centers, widths = rng.uniform(-1, 1, (5, 2)), rng.uniform(0.02, 0.3, 5)
    cluster = rng.integers(0, 5, n)
    points = centers[cluster] + widths[cluster, None] * rng.normal(size=(n, 2))
    return ((points - points.mean(axis=0)) * span / np.ptp(points, axis=0).max()).astype(np.float32)


def line(n, span, seed=0):
    x = np.random.default_rng(seed).uniform(-0.5, 0.5, n) * span
    return np.stack([x, 0.3 * x], axis=1).astype(np.float32)


# Forces along a line cancel, so the relative error is larger.
MAX_ERROR = {clusters: 0.01, line: 0.05}


@pytest.mark.slow
@pytest.mark.parametrize("span", [5.0, 12.0, 30.0, 60.0])
@pytest.mark.parametrize("shape", [clusters, line])
def test_the_field_against_the_reference(shape, span):
    """The reference computes the same sums in float64, so only rounding differs."""
    positions = shape(2500, span)
    field = _core.FieldRepulsion()
    push, normalizer = pixel_field(positions, field=field)
    spacing, columns, rows, outliers, used_tree = field.lattice()
    assert (outliers, used_tree) == (0, False)
    true_push, true_normalizer = reference.field_repulsion(positions, spacing, columns, rows)
    assert normalizer == pytest.approx(true_normalizer, rel=2e-5)
    assert relative_error(push, true_push) < 2e-4


def test_points_on_the_nodes_get_exact_values():
    """The interpolant has the kernel's own values at the nodes."""
    # The largest number of points per side that fits 64 nodes. It is even, too, so that points lie on nodes.
    side, spacing = 58, SPACING / 2
    steps = spacing * (np.arange(side) - (side - 1) / 2)
    positions = np.stack(np.meshgrid(steps, steps), axis=-1).reshape(-1, 2).astype(np.float32)
    field = _core.FieldRepulsion()
    _, normalizer = pixel_field(positions, field=field)
    assert field.lattice() == (pytest.approx(spacing), 64, 64, 0, False)
    assert normalizer == pytest.approx(exact(positions)[1], rel=1e-5)


@pytest.mark.slow
@pytest.mark.parametrize("span", [1e-5, 1e-3, 0.1, 1.0, 3.9, 4.1, 10.0, 40.0, 100.0, 300.0, 850.0, 900.0, 1e4])
@pytest.mark.parametrize("shape", [clusters, line])
def test_the_field_against_all_pairs_at_every_span(shape, span):
    positions = shape(20_000, span)
    push, normalizer = pixel_field(positions)
    true_push, true_normalizer = exact(positions)
    assert relative_error(push, true_push) < MAX_ERROR[shape]
    assert normalizer == pytest.approx(true_normalizer, rel=0.005)


@st.composite
def point_sets(draw):
    """Draw clusters, lines, coincident points and outliers, at any scale and offset."""
    seed = draw(st.integers(0, 2**16))
    n = draw(st.one_of(st.integers(2, 3000), st.integers(2048, 4000)))
    span = 10 ** draw(st.floats(-5, 4))
    points = draw(st.sampled_from([clusters, line]))(n, span, seed)
    copies = draw(st.integers(0, n // 2))
    points[:copies] = points[0]
    for outlier in range(draw(st.integers(0, 3))):
        points[-1 - outlier % n] = np.random.default_rng(seed + outlier).normal(size=2) * 10 ** draw(st.floats(0, 6))
    return points + np.float32(draw(st.sampled_from([0.0, 0.0, 100.0])) * span)


@pytest.mark.slow
@settings(max_examples=60)
@given(point_sets())
def test_the_error_of_a_push_is_a_small_share_of_the_kernel_sum(positions):
    """Compares point by point with the kernel sum, because pushes may cancel."""
    push, normalizer = pixel_field(positions)
    true_push, true_normalizer = exact(positions)
    kernel_sums = (1 / (1 + cdist(positions, positions, "sqeuclidean"))).sum(axis=1)
    errors = np.hypot(*(push.astype(np.float64) - true_push).T)
    # Floats far from 0 have imprecise distances, which is no error of the field.
    tolerance = np.abs(positions).max() * 1e-6
    assert (errors / kernel_sums).max() <= 0.015 + tolerance
    assert normalizer == pytest.approx(true_normalizer, rel=0.01, abs=1e-3)


def test_coincident_points():
    for coordinate in (0.0, 3.0, 1e4, -1e8):
        push, normalizer = pixel_field(np.full((500, 2), coordinate, dtype=np.float32))
        assert normalizer == pytest.approx(500 * 499, rel=1e-4)
        assert np.abs(push).max() < 500 * 1e-3


@pytest.mark.parametrize("distance", [1e3, 1e6, 1e9])
def test_outliers_have_exact_forces_and_do_not_enlarge_the_lattice(distance):
    positions = clusters(20_000, 60.0)
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


def test_many_outliers_use_the_tree():
    """With more outliers than are summed pair by pair, the lattice stays bounded and the forces accurate."""
    positions = clusters(5_000, 60.0)
    positions[:200] *= 1e4
    field = _core.FieldRepulsion()
    push, normalizer = pixel_field(positions, field=field)
    assert field.lattice()[-1]
    true_push, true_normalizer = exact(positions)
    assert relative_error(push, true_push) < 0.01
    assert normalizer == pytest.approx(true_normalizer, rel=0.01)


@pytest.mark.parametrize("span", [1e-4, 3.0, 50.0, 2000.0])
def test_same_bits_at_any_thread_count(span):
    positions = clusters(30_000, span)
    positions[3] = 1e5
    first = pixel_field(positions, 1)
    for threads in (2, 3, 7):
        again = pixel_field(positions, threads)
        assert np.array_equal(first[0], again[0])
        assert first[1] == again[1]


def test_results_do_not_depend_on_previous_calls():
    """Buffers and spectra are kept between calls and must not affect results."""
    field = _core.FieldRepulsion()
    for span in (80.0, 1e-3, 500.0, 2.0, 81.0):
        positions = clusters(4_000, span)
        push, normalizer = pixel_field(positions, field=field)
        expected_push, expected_normalizer = pixel_field(positions)
        assert np.array_equal(push, expected_push)
        assert normalizer == expected_normalizer


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_nan_and_infinite_positions_are_refused(bad):
    all_bad = np.full((50, 2), bad, dtype=np.float32)
    one_bad = clusters(4_000, 30.0)
    one_bad[3] = bad
    for positions in (all_bad, one_bad):
        with pytest.raises(ValueError, match="positions must be finite"):
            pixel_field(positions)


@pytest.mark.parametrize("max_nodes", [0, 31, 33, 4112])
def test_invalid_lattice_sizes_are_refused(max_nodes):
    with pytest.raises(ValueError, match="max_nodes: "):
        pixel_field(clusters(100, 1.0), max_nodes=max_nodes)
