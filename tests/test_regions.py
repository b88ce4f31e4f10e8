"""Regions of a map: planted clusters are found, noise has few regions, colors follow the place."""

import colorsys
from itertools import pairwise

import numpy as np
import pytest

from pixelsne.coloring import rgb
from pixelsne.regions import Region, Regions, find_regions

SCREEN = (1024, 1024)


def clusters(centers, radius, size, seed=0):
    """Return positions in round clusters, and the cluster of each."""
    noise = np.random.default_rng(seed).normal(scale=radius, size=(len(centers), size, 2))
    placed = (np.array(centers)[:, None] + noise).reshape(-1, 2)
    return np.clip(placed, 0, np.array(SCREEN) - 0.01).astype(np.float32), np.repeat(np.arange(len(centers)), size)


def grid(columns, rows, low=100, high=924):
    x, y = np.meshgrid(np.linspace(low, high, columns), np.linspace(low, high, rows))
    return np.stack([x.ravel(), y.ravel()], axis=1)


def agreement(indices, planted):
    """Return the share of points whose region mostly holds points of their planted cluster."""
    agree = 0
    for region in np.unique(indices[indices >= 0]):
        agree += np.bincount(planted[indices == region]).max()
    return agree / len(planted)


def check(regions, n):
    """Check what holds for regions of every map."""
    assert all(indices.shape == (n,) and indices.dtype == np.int32 for indices in regions.indices)
    for level, indices in enumerate(regions.indices, 1):
        numbers = [index for index, region in enumerate(regions.regions) if region.level == level]
        counts = [regions.regions[index].count for index in numbers]
        assert counts == sorted(counts, reverse=True)
        assert set(np.unique(indices)) - {-1} == set(numbers)
        assert counts == [(indices == index).sum() for index in numbers]
        if level > 1:
            inside = indices >= 0
            parents = np.array([region.parent for region in regions.regions])
            np.testing.assert_array_equal(parents[indices[inside]], regions.indices[level - 2][inside])
        for index in numbers:
            region = regions.regions[index]
            assert (region.parent == -1) == (level == 1)
            assert region.rows
            assert len(set(region.rows)) == len(region.rows)
            assert (indices[list(region.rows)] == index).all()
    colors = regions.point_colors()
    assert colors.shape == (n, 3)
    assert ((colors >= 0) & (colors <= 1)).all()


def test_planted_clusters_are_the_regions():
    placed, planted = clusters(grid(4, 3), 25, 500)
    regions = find_regions(placed, SCREEN)
    check(regions, len(placed))
    assert [region.level for region in regions.regions] == [1] * 12
    assert agreement(regions.indices[0], planted) > 0.95


@pytest.mark.parametrize("seed", range(3))
def test_touching_clusters_are_regions(seed):
    placed, planted = clusters(grid(3, 3, 250, 774), 60, 2000, seed)
    regions = find_regions(placed, SCREEN)
    assert len(regions.level(1)) == 9
    assert agreement(regions.indices[0], planted) > 0.9


def test_nested_clusters_are_nested_regions():
    outer = np.array([(150, 150), (850, 150), (150, 850), (850, 850), (512, 512)])
    inner = np.array([(-60, -60), (60, -60), (-60, 60), (60, 60)])
    placed, planted = clusters((outer[:, None] + inner).reshape(-1, 2), 14, 400)
    regions = find_regions(placed, SCREEN)
    check(regions, len(placed))
    assert [len(regions.level(level)) for level in (1, 2)] == [5, 20]
    assert agreement(regions.indices[0], planted // 4) > 0.95
    assert agreement(regions.indices[1], planted) > 0.95


def test_large_map_has_hundreds_of_regions_in_levels():
    centers = np.random.default_rng(1).uniform(40, 984, (400, 2))
    placed, _ = clusters(centers, 9, 500)
    regions = find_regions(placed, SCREEN)
    check(regions, len(placed))
    numbers = [len(regions.level(level)) for level in range(1, len(regions.indices) + 1)]
    assert 5 <= numbers[0] <= 15
    assert 150 <= numbers[-1] <= 400
    assert all(2 <= more / fewer <= 6 for fewer, more in pairwise(numbers[:-1]))


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("n", [100, 3000, 50000])
def test_noise_has_few_regions(n, seed):
    random = np.random.default_rng(seed)
    for placed in (random.uniform(0, 1023, (n, 2)), np.clip(random.normal(512, 90, (n, 2)), 0, 1023)):
        assert len(find_regions(placed, SCREEN).regions) <= 2


def test_points_between_clusters_are_in_no_region():
    placed, _ = clusters([(200, 200), (800, 800)], 20, 3000)
    between = np.array([(500, 500), (810, 200), (200, 810)], dtype=np.float32)
    regions = find_regions(np.concatenate([placed, between]), SCREEN)
    check(regions, len(placed) + 3)
    assert all((indices[-3:] == -1).all() for indices in regions.indices)
    assert len(regions.level(1)) == 2


def test_centers_are_inside_dense_places():
    centers = grid(4, 3)
    placed, _ = clusters(centers, 25, 500)
    found = np.array([region.center for region in find_regions(placed, SCREEN).regions])
    nearest = np.hypot(*(found[:, None] - centers).transpose(2, 0, 1)).min(axis=1)
    assert (nearest < 25).all()


def test_same_positions_give_same_regions():
    placed, _ = clusters(grid(5, 4), 25, 300)
    first, second = find_regions(placed, SCREEN), find_regions(placed.copy(), SCREEN)
    assert first.regions == second.regions
    assert all(np.array_equal(*pair) for pair in zip(first.indices, second.indices, strict=True))


@pytest.mark.parametrize(
    "placed",
    [
        np.zeros((0, 2)),
        np.ones((1, 2)),
        np.array([(1, 2), (3, 4), (1000, 1000)]),
        np.full((500, 2), 512.0),
        np.stack([np.linspace(0, 1023, 1000), np.full(1000, 512)], axis=1),
        np.stack([np.full(1000, 3), np.linspace(0, 1023, 1000)], axis=1),
        np.concatenate([np.full((500, 2), 1.5), [(1023, 1023)]]),
        np.random.default_rng(0).integers(0, 1024, (2000, 2)),
    ],
    ids=["empty", "one", "three", "equal", "row", "column", "equal but one", "whole pixels"],
)
def test_odd_maps(placed):
    check(find_regions(placed, SCREEN), len(placed))


@pytest.mark.parametrize("resolution", [(4000, 40), (64, 2048), (2, 2)])
def test_any_aspect(resolution):
    placed = np.random.default_rng(0).uniform(0, 1, (5000, 2)) * resolution * 0.999
    regions = find_regions(placed, resolution)
    check(regions, 5000)
    centers = np.array([region.center for region in regions.regions])
    assert ((centers >= 0) & (centers <= resolution)).all()


def test_clusters_on_a_wide_screen_are_found():
    placed, planted = clusters(np.stack([np.linspace(100, 924, 8), np.full(8, 50)], axis=1), 15, 300)
    placed = np.clip(placed, 0, 99.9 * np.array([10.24, 1])).astype(np.float32)
    regions = find_regions(placed, (1024, 100))
    assert len(regions.level(1)) == 8
    assert agreement(regions.indices[0], planted) > 0.95


def test_bad_positions_are_refused():
    with pytest.raises(ValueError, match=r"\(n, 2\)"):
        find_regions(np.zeros((5, 3)), SCREEN)
    with pytest.raises(ValueError, match="screen of 1024 x 1024"):
        find_regions(np.full((20, 2), 2000.0), SCREEN)
    with pytest.raises(ValueError, match="screen of 1024 x 1024"):
        find_regions(np.full((20, 2), np.nan), SCREEN)


def luminance(color):
    linear = np.where(color <= 0.04045, color / 12.92, ((color + 0.055) / 1.055) ** 2.4)
    return linear @ [0.2126, 0.7152, 0.0722]


def test_colors_are_visible_on_white_and_on_black():
    placed, _ = clusters(np.random.default_rng(1).uniform(40, 984, (300, 2)), 9, 300)
    colors = np.array([rgb(region.color) for region in find_regions(placed, SCREEN).regions])
    bright = luminance(colors)
    assert (1.05 / (bright + 0.05) > 1.9).all()
    assert ((bright + 0.05) / 0.05 > 2.5).all()


def test_hues_follow_the_place():
    angles = np.arange(8) * np.pi / 4
    placed, _ = clusters(512 + 350 * np.stack([np.cos(angles), np.sin(angles)], axis=1), 25, 500)
    regions = find_regions(placed, SCREEN).regions
    hues = np.array([colorsys.rgb_to_hsv(*rgb(region.color))[0] for region in regions])
    around = [np.arctan2(512 - region.center[1], region.center[0] - 512) % (2 * np.pi) for region in regions]
    turned = (hues[np.argsort(around)] - hues[np.argsort(around)][0]) % 1
    assert (np.diff(turned) > 0).all()
    assert len({region.color for region in regions}) == 8


def test_children_are_close_to_their_parents_in_color():
    placed, _ = clusters(np.random.default_rng(1).uniform(40, 984, (300, 2)), 9, 300)
    regions = find_regions(placed, SCREEN).regions
    top = [region for region in regions if region.level == 1]
    for child in regions:
        if child.level == 2:
            away = [np.abs(rgb(child.color) - rgb(region.color)).max() for region in (regions[child.parent], *top)]
            assert away[0] < 0.35
            assert away[0] <= np.median(away)


def test_points_of_no_region_have_a_muted_color_of_the_place():
    regions = Regions(
        (Region(1, "", (0.0, 0.0), 1, -1, (0,), "#bc2137"), Region(1, "", (9.0, 9.0), 1, -1, (1,), "#3764de")),
        (np.array([0, 1, -1, -1], dtype=np.int32),),
        np.array([(0, 0), (9, 9), (1, 1), (8, 8)], dtype=np.float32),
    )
    colors = regions.point_colors()
    np.testing.assert_allclose(colors[:2], [rgb("#bc2137"), rgb("#3764de")])
    spread = np.ptp(colors, axis=1)
    assert (spread[2:] > 0.08).all()
    assert (spread[2:] < 0.6 * spread[:2]).all()
    assert colors[2].argmax() == 0
    assert colors[3].argmax() == 2
