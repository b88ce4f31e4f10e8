import numpy as np

from pixelsne.plot import LARGEST_RADIUS, MARGIN, dot_radius, paint, save_picture


def test_a_crowd_lights_single_pixels_and_a_few_points_get_dots():
    assert dot_radius(1_000_000, (1024, 1024)) == 0
    assert dot_radius(10, (1024, 1024)) == LARGEST_RADIUS


def test_one_pixel_of_the_map_is_one_pixel_of_the_picture():
    pixels = np.repeat(np.array([[0, 0], [9, 4], [9, 4]], dtype=np.int32), 10, axis=0)
    colors = np.repeat(np.array([[1.0, 0, 0], [0, 1, 0], [0, 0, 1]]), 10, axis=0)
    image = paint(pixels, colors, (10, 5))
    assert image.shape == (5 + 2 * MARGIN, 10 + 2 * MARGIN, 3)
    assert image[MARGIN, MARGIN].tolist() == [1, 0, 0]
    assert image[MARGIN + 4, MARGIN + 9].tolist() == [0, 0.5, 0.5], "the mean of both colors"
    assert (image == 1).all(axis=2).sum() == image.shape[0] * image.shape[1] - 2


def test_a_picture_is_written(tmp_path):
    pixels = np.random.default_rng(0).integers(0, 64, (50, 2)).astype(np.int32)
    save_picture(tmp_path / "map.png", pixels, (64, 64), ["a", "b"] * 25, "title")
    assert (tmp_path / "map.png").read_bytes().startswith(b"\x89PNG")
