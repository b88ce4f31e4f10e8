"""Comparison of maps of different seeds."""

import numpy as np
import pytest

from pixelsne import PixelSNE
from pixelsne.seeds import align_map, compare_seeds


def test_alignment_undoes_rotation_reflection_scale_and_shift(random):
    embedding = random.normal(size=(50, 2)).astype(np.float32)
    rotated = 3 * embedding @ np.array([[0.6, -0.8], [0.8, 0.6]]) * [1, -1] + 7
    np.testing.assert_allclose(align_map(rotated, embedding), embedding, atol=1e-5)


@pytest.mark.slow
def test_stability_of_maps_of_clusters(clusters):
    report = compare_seeds(PixelSNE(perplexity=10, init="random"), clusters, seeds=(3, 4), k=20)
    assert report.stability.shape == report.moved.shape == (600,)
    assert 0.3 < report.stability.mean() < 1.0
    assert "2 maps of 600 points, seeds 3, 4" in str(report)


def test_equal_maps_have_full_stability(clusters):
    model = PixelSNE(perplexity=10, init="pca", max_iter=100)
    report = compare_seeds(model, clusters, seeds=(0, 1))
    np.testing.assert_array_equal(report.stability, 1.0)
    np.testing.assert_allclose(report.moved, 0.0, atol=1e-3)


def test_fewer_than_two_seeds_are_refused(clusters):
    with pytest.raises(ValueError, match="at least two different"):
        compare_seeds(PixelSNE(), clusters, seeds=(1, 1))


def test_k_is_checked_before_fitting(clusters, monkeypatch):
    monkeypatch.setattr(PixelSNE, "fit", lambda *_: pytest.fail("it was fitted"))
    with pytest.raises(ValueError, match="k must be"):
        compare_seeds(PixelSNE(), clusters[:20], k=20)
