import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from pixelsne import _core
from pixelsne.screen import Screen

sides = st.sampled_from([1, 2, 3, 500, 512, 768, 1000, 1024, 4096, 65_536])
coordinates = st.floats(-1e6, 1e6, width=32)
maps = arrays(np.float32, st.tuples(st.integers(1, 30), st.just(2)), elements=coordinates)


def screen_of(positions, resolution, aspect="fill"):
    return Screen.around(_core.bounds(positions, 1), resolution, aspect)


@pytest.mark.slow
@given(maps, sides, sides, st.sampled_from(["fill", "equal"]), st.sampled_from([1e-9, 1e-4, 1.0]))
def test_every_point_is_on_the_screen(positions, width, height, aspect, scale):
    positions = positions * np.float32(scale)
    screen = screen_of(positions, (width, height), aspect)
    placed = screen.to_pixels(positions)
    assert placed.dtype == np.float32
    assert (placed >= 0).all()
    assert (placed < [width, height]).all()
    assert np.array_equal(screen.to_integer_pixels(positions), np.floor(placed).astype(int))


@pytest.mark.parametrize("resolution", [(1024, 1024), (1024, 768), (65_536, 3)])
def test_fill_uses_the_first_and_the_last_pixel(random, resolution):
    positions = random.normal(size=(1000, 2)).astype(np.float32)
    pixels = screen_of(positions, resolution).to_integer_pixels(positions)
    assert pixels.min(axis=0).tolist() == [0, 0]
    assert pixels.max(axis=0).tolist() == [resolution[0] - 1, resolution[1] - 1]


def test_each_axis_has_its_own_unit_per_pixel():
    positions = np.array([[0, 0], [10, 2]], dtype=np.float32)
    screen = screen_of(positions, (1000, 500))
    np.testing.assert_allclose(screen.unit_per_pixel, [10 / 1000, 2 / 500], rtol=2e-6)


def test_equal_aspect_keeps_shapes_and_centers_the_map():
    positions = np.array([[0, 0], [10, 0], [10, 2], [0, 2]], dtype=np.float32)
    screen = screen_of(positions, (1000, 500), "equal")
    assert screen.unit_per_pixel[0] == screen.unit_per_pixel[1]
    placed = screen.to_pixels(positions)
    np.testing.assert_allclose(placed[:, 0], [0, 1000, 1000, 0], atol=0.01)
    np.testing.assert_allclose(placed[:, 1], [150, 150, 350, 350], atol=0.01)


def test_y_points_downward_and_the_origin_is_top_left():
    positions = np.array([[-1, -1], [1, 1]], dtype=np.float32)
    placed = screen_of(positions, (10, 10)).to_pixels(positions)
    assert placed[0].tolist() == [0, 0]
    np.testing.assert_allclose(placed[1], [10, 10], atol=1e-4)


def test_positions_outside_are_clamped_to_the_edge():
    screen = Screen((0.0, 0.0), (1.0, 1.0), (10, 10))
    pixels = screen.to_integer_pixels(np.array([[-5, 3], [50, 3]], dtype=np.float32))
    assert pixels.tolist() == [[0, 3], [9, 3]]


def test_coincident_points_are_at_pixel_zero():
    positions = np.full((5, 2), 7, dtype=np.float32)
    assert np.array_equal(screen_of(positions, (100, 50)).to_integer_pixels(positions), np.zeros((5, 2)))
