"""Anti-aliased dots and the smooth density, compared with slow reference implementations."""

import numpy as np
import pytest

from pixelsne.raster import (
    FAINTEST,
    MAX_DIAMETER,
    MIN_DIAMETER,
    STEPS,
    STRONGEST,
    Raster,
    automatic_size,
    contour_levels,
    density,
)
from reference import draw_discs

WHITE = (1.0, 1.0, 1.0)
SIZES = (0.4, 0.9, 1.6, 3.0, 5.5, 8.0, 20.0)


def centered_in_steps(points):
    """Return the nearest points at which the raster draws exactly there."""
    return (np.floor(np.asarray(points) * STEPS) + 0.5) / STEPS


def scattered(n, width=40, height=30, seed=0):
    """Return points, some of them beyond the border, and their colors."""
    random = np.random.default_rng(seed)
    return random.uniform((-6, -6), (width + 6, height + 6), (n, 2)), random.uniform(size=(n, 3))


@pytest.mark.parametrize("diameter", SIZES)
@pytest.mark.parametrize("opacity", [0.2, 1.0])
def test_dots_are_supersampled_discs(diameter, opacity):
    points, colors = scattered(40)
    points = centered_in_steps(points)
    background = (0.1, 0.5, 0.9)
    drawn = Raster(40, 30, background).draw_points(points, colors, diameter, opacity)
    assert np.abs(drawn - draw_discs(points, colors, diameter, opacity, (40, 30), background)).max() < 0.03


@pytest.mark.parametrize("diameter", SIZES)
def test_a_dot_covers_the_area_of_its_disc_wherever_it_is(diameter):
    for point in scattered(20)[0]:
        inside = np.clip(point, 15, 25)[None]
        layer = Raster(40, 40, WHITE).draw_layer(inside, (0, 0, 0), diameter, 1.0)
        assert layer[:, :, 3].sum() == pytest.approx(np.pi * diameter**2 / 4, rel=0.01)


def test_a_dot_is_at_its_place_and_round():
    layer = Raster(21, 21, WHITE).draw_layer(np.array([[10.5625, 8.0625]]), (1, 0, 0), 6.0, 0.8)
    opacity = layer[:, :, 3]
    centers = np.arange(21) + 0.5
    assert (opacity.sum(axis=0) * centers).sum() / opacity.sum() == pytest.approx(10.5625, abs=0.01)
    assert (opacity.sum(axis=1) * centers).sum() / opacity.sum() == pytest.approx(8.0625, abs=0.01)
    assert opacity[8, 10] == pytest.approx(0.8, rel=1e-3)
    distance = np.hypot(centers[None, :] - 10.5625, centers[:, None] - 8.0625)
    assert (opacity[distance > 3.75] == 0).all()
    assert (opacity[distance < 2.25] > 0.79).all()


def test_dots_do_not_depend_on_the_order_of_rows():
    points, colors = scattered(5000)
    order = np.random.default_rng(1).permutation(5000)
    raster = Raster(40, 30, WHITE)
    drawn = raster.draw_points(points, colors, 3.0, 0.5)
    assert np.abs(drawn - raster.draw_points(points[order], colors[order], 3.0, 0.5)).max() < 1e-12
    assert np.array_equal(drawn, raster.draw_points(points, colors, 3.0, 0.5))


def test_chunks_make_no_difference(monkeypatch):
    points, colors = scattered(3000)
    drawn = Raster(40, 30, WHITE).draw_points(points, colors, 3.0, 0.5)
    monkeypatch.setattr("pixelsne.raster.ENTRIES_AT_ONCE", 0)
    in_chunks = Raster(40, 30, WHITE).draw_points(points, colors, 3.0, 0.5)
    assert np.abs(drawn - in_chunks).max() < 1e-12


def test_no_points_leave_the_background():
    for background in (WHITE, np.random.default_rng(0).uniform(size=(5, 7, 3))):
        drawn = Raster(7, 5, background).draw_points(np.empty((0, 2)), np.empty((0, 3)), 3.0, 0.5)
        assert np.array_equal(drawn, np.broadcast_to(background, (5, 7, 3)))


def test_points_elsewhere_are_not_drawn():
    nowhere = np.array([[np.nan, 3], [np.inf, 3], [3, -np.inf], [-1e30, 1e30], [-2, 3], [3, 7.01]])
    drawn = Raster(7, 5, WHITE).draw_points(nowhere, np.zeros((6, 3)), 4.0, 1.0)
    assert (drawn == 1).all()


def test_a_dot_at_the_border_is_cut_there():
    whole = Raster(30, 30, WHITE).draw_points(np.array([[10.2, 10.7]]), (0, 0, 0), 8.0, 1.0)
    cut = Raster(20, 20, WHITE).draw_points(np.array([[0.2, 0.7]]), (0, 0, 0), 8.0, 1.0)
    assert np.array_equal(cut, whole[10:, 10:])


def test_no_class_hides_another():
    points = np.full((40_000, 2), 5.5)
    colors = np.repeat([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0]], [10_000, 30_000], axis=0)
    drawn = Raster(11, 11, WHITE).draw_points(points, colors, 3.0, 0.9)
    assert drawn[5, 5] == pytest.approx([0.25, 0, 0.75])


@pytest.mark.parametrize("opacity", [FAINTEST, 1.0])
def test_huge_counts_are_opaque_and_finite(opacity):
    layer = Raster(3, 3, WHITE).draw_layer(np.full((1_000_000, 2), 1.5), (0.2, 0.4, 0.6), 2.0, opacity)
    assert np.isfinite(layer).all()
    assert layer[1, 1] == pytest.approx([0.2, 0.4, 0.6, 1.0])


def test_automatic_size_is_solid_for_few_points_and_faint_for_many():
    area = 1024 * 768
    sizes = [automatic_size(n, area) for n in (0, 1, 1000, 10_000, 100_000, 1_000_000, 10**9)]
    assert sizes[0] == sizes[2] == (MAX_DIAMETER, STRONGEST)
    assert sizes[-1] == (MIN_DIAMETER, FAINTEST)
    assert sizes == sorted(sizes, reverse=True)
    assert automatic_size(40_000, 4 * area)[0] == pytest.approx(2 * automatic_size(40_000, area)[0])


def test_density_is_a_sum_of_gaussians():
    points = np.array([[10.5, 12.5], [10.5, 12.5], [30.5, 20.5]])
    surface = density(points, 40, 32, bandwidth=2.0)
    x, y = np.meshgrid(np.arange(40) + 0.5, np.arange(32) + 0.5)
    squared = [(x - px) ** 2 + (y - py) ** 2 for px, py in points]
    expected = sum(np.exp(-d / 8) for d in squared) / (8 * np.pi)
    assert surface.shape == (32, 40)
    assert np.abs(surface - expected).max() < 1e-4
    assert surface.sum() == pytest.approx(3, rel=1e-3)


def test_density_of_no_points_is_zero():
    outside = np.array([[-1.0, 3], [3, 99], [np.nan, 1], [40, 3]])
    for points in (np.empty((0, 2)), outside):
        surface = density(points, 40, 32)
        assert (surface == 0).all()
        assert contour_levels(surface).size == 0


def test_contours_enclose_their_shares_of_the_points():
    surface = density(np.random.default_rng(0).normal((200, 150), 40, (20_000, 2)), 400, 300)
    levels = contour_levels(surface, (0.9, 0.5, 0.1))
    assert (np.diff(levels) > 0).all()
    shares = [surface[surface > level].sum() / surface.sum() for level in levels]
    assert shares == pytest.approx([0.9, 0.5, 0.1], abs=0.01)
    assert contour_levels(np.ones((3, 3))).tolist() == [1.0]
