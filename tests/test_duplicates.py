"""Equal rows: merged for the descent, spread out on the map."""

import warnings

import numpy as np
import pytest
from scipy.spatial import cKDTree

from pixelsne import PixelSNE, _core, quality
from pixelsne.duplicates import Duplicates, disc_radii, find_duplicates, row_hashes
from pixelsne.settings import PRESETS


def fit(values, **parameters):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # few distinct rows lower the perplexity
        return PixelSNE(random_state=0, **parameters).fit(values)


def test_equal_rows_are_found(random):
    distinct = random.normal(size=(50, 7)).astype(np.float32)
    distinct[3, 2], rows = 0.0, random.permutation(np.concatenate([np.arange(50), random.integers(0, 50, 150)]))
    values = distinct[rows]
    values[values == 0] *= np.float32(-1)  # equal numbers
    values[0] = -0.0 + values[0]
    found = find_duplicates(values)
    assert len(np.unique(rows)) == len(found) == 50
    np.testing.assert_array_equal(values, values[found.first][found.group])
    np.testing.assert_array_equal(found.counts, np.bincount(found.group))
    assert (np.diff(found.first) > 0).all()


def test_distinct_or_all_equal_rows_are_not_merged(random):
    assert find_duplicates(random.normal(size=(100, 3))) is None
    assert find_duplicates(np.ones((100, 3))) is None


def test_different_rows_with_equal_hashes_are_not_merged(random, monkeypatch):
    rows = random.normal(size=(20, 3))
    rows[15] = rows[2]
    monkeypatch.setattr("pixelsne.duplicates.row_hashes", lambda rows: np.arange(len(rows)) % 5)
    assert find_duplicates(rows) is None  # row 15 shares its hash with row 0
    rows[15] = rows[0]
    assert len(find_duplicates(rows)) == 19


def test_rows_that_differ_in_order_or_sign_have_different_hashes():
    rows = np.array([[1.0, 2], [2, 1], [-1, 2], [1, -2], [0, 0], [1, 1], [2, 2]])
    assert len(np.unique(row_hashes(rows))) == len(rows)
    assert row_hashes(np.array([[0.0, 1]]))[0] == row_hashes(np.array([[-0.0, 1]]))[0]


def test_equal_weights_give_the_map_of_the_distinct_rows(clusters, random):
    """Every row four times gives the map of the distinct rows, up to rounding."""
    start, rows = random.normal(size=(600, 2)), np.repeat(np.arange(600), 4).astype(np.int32)
    parameters = {"perplexity": 20, "repulsion": "exact", "max_iter": 15}
    once = fit(clusters, init=start, **parameters)
    four = fit(clusters[rows], init=start[rows], **parameters)
    centers = Duplicates(rows).centers(four.positions_)
    np.testing.assert_allclose(centers, once.positions_, atol=0.01 * once.positions_.std())
    assert four.kl_divergence_ == pytest.approx(once.kl_divergence_, rel=1e-3)


def test_discs_do_not_overlap_and_have_areas_proportional_to_counts(random):
    centers, counts = random.normal(0, 30, (200, 2)).astype(np.float32), random.integers(1, 40, 200)
    group = random.permutation(np.repeat(np.arange(200), counts)).astype(np.int32)
    positions = Duplicates(group).spread(centers)
    radii = disc_radii(centers, counts)
    offsets = np.linalg.norm(positions - centers[group], axis=1)
    assert (offsets <= radii[group] * (1 + 1e-5)).all()
    assert (offsets[counts[group] == 1] == 0).all()
    distances, nearest = cKDTree(centers).query(centers, 2)
    assert (distances[:, 1] > radii + radii[nearest[:, 1]]).all()
    largest = (radii / np.sqrt(counts)).max()
    assert (radii[counts == 1] == 0).all()
    has_area_of_count = (radii >= np.sqrt(counts) * largest * (1 - 1e-9))[counts > 1]
    assert np.mean(has_area_of_count) > 0.4  # half of the discs
    assert len(np.unique(positions, axis=0)) == len(positions)


@pytest.mark.parametrize("init", ["pca", "random"])
def test_few_distinct_rows_are_separated(random, init):
    """16 distinct rows: before the fix they ended 6 units apart, with equal rows on one pixel."""
    rows = random.integers(0, 16, 2500)
    model = fit(random.normal(size=(16, 20))[rows], init=init)
    assert quality.knn_accuracy(model.positions_, rows, 10) == 1.0
    assert len(np.unique(model.pixels_, axis=0)) > 2400
    assert model.kl_divergence_ < 0.4


@pytest.mark.slow
def test_heavy_duplicates_do_not_harm_the_other_rows(digits):
    values, labels = digits
    model = fit(np.concatenate([values, np.repeat(values[:5], 400, axis=0)]))
    without_duplicates = fit(values)
    precision, expected = (
        quality.neighborhood_precision(values, one.positions_[:1797], 10) for one in (model, without_duplicates)
    )
    assert precision > 0.97 * expected
    assert quality.knn_accuracy(model.positions_[:1797], labels, 10) > 0.97


def test_duplicates_may_be_kept(random):
    rows = random.integers(0, 30, 400)
    values = random.normal(size=(30, 5))[rows]
    kept = fit(values, duplicates="keep")
    assert len(np.unique(kept.positions_, axis=0)) < 400
    assert all(preset["duplicates"] == "keep" for preset in PRESETS.values())
    with pytest.raises(ValueError, match="duplicates='drop' is unknown; use one of 'merge', 'keep'"):
        fit(values, duplicates="drop")


def test_other_metrics_merge_too(random):
    values = random.normal(size=(60, 5))[random.integers(0, 60, 500)]
    model = fit(values, metric="manhattan")
    assert len(np.unique(model.positions_, axis=0)) == 500


@pytest.mark.slow
def test_the_same_bits_at_any_thread_count(random):
    values = random.normal(size=(2500, 10))[random.integers(0, 2500, 6000)]
    first, second = (fit(values, n_jobs=threads, max_iter=30).embedding_ for threads in (1, 2))
    assert np.array_equal(first, second)


@pytest.mark.parametrize("scale", [10, 40])
def test_the_field_is_accurate_for_coincident_points(random, scale):
    """6,000 points in 16 positions: before the fix, the median error was a factor of 13."""
    centers, group = random.normal(0, scale, (16, 2)).astype(np.float32), random.integers(0, 16, 6000)
    counts = np.bincount(group, minlength=16)
    differences = centers[:, None].astype(np.float64) - centers[None]
    kernel = 1 / (1 + np.square(differences).sum(axis=2))
    expected = (counts[None, :, None] * np.square(kernel)[:, :, None] * differences).sum(axis=1)[group]
    positions, push = centers[group], np.empty((6000, 2), dtype=np.float32)
    normalizer = _core.FieldRepulsion().pixel_field(positions, 2048, push, 2)
    assert normalizer == pytest.approx((kernel * counts[:, None] * counts[None]).sum() - 6000, rel=1e-3)
    errors = np.linalg.norm(push - expected, axis=1)
    assert np.sqrt(np.mean(errors**2)) < 0.01 * np.sqrt(np.mean(np.square(expected).sum(axis=1)))
