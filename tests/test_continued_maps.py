"""Maps that continue from given positions, and rows that are held fixed."""

import numpy as np
import pytest

from pixelsne import PixelSNE, quality
from pixelsne.duplicates import find_duplicates
from pixelsne.initial_positions import SEPARATION, continued_positions
from pixelsne.schedule import make_schedule
from pixelsne.settings import settings_of


def continue_from(init, **changes):
    return PixelSNE(**({"perplexity": 20, "max_iter": 50, "random_state": 0} | changes), init=init, init_scale=None)


@pytest.fixture(scope="module")
def values(digits):
    return digits[0][:900].astype(np.float32)


@pytest.fixture(scope="module")
def finished_map(values):
    return PixelSNE(perplexity=20, random_state=0).fit(values)


@pytest.fixture(scope="module")
def half():
    mask = np.zeros(900, dtype=bool)
    mask[::2] = True
    return mask


def pixels_apart(first, second, screen):
    return np.linalg.norm((first.positions_ - second.positions_) / screen.unit_per_pixel, axis=1)


class TestContinuedMaps:
    def test_a_finished_map_stays_within_its_tolerance(self, finished_map, values):
        again = continue_from(finished_map.positions_).fit(values)
        assert again.stopped_by_ == "tol"
        assert again.n_iter_ == 50
        assert again.history_["moved"][0] < again.tol
        assert np.median(pixels_apart(again, finished_map, finished_map.screen_)) < 3  # a growing map: tol ignores it
        assert again.kl_divergence_ <= finished_map.kl_divergence_ * 1.001

    @pytest.mark.slow
    @pytest.mark.parametrize("name", ["groups", "noise"])
    def test_other_finished_maps_stay_within_their_tolerance(self, name, groups, random):
        points = groups if name == "groups" else random.normal(size=(600, 10))
        before = PixelSNE(max_iter=350 if name == "groups" else 1000, random_state=0).fit(points)  # noise takes longer
        again = PixelSNE(random_state=0, init=before, init_scale=None, max_iter=50).fit(points)
        assert again.history_["moved"][0] < again.tol

    def test_a_scaled_start_is_shrunk(self, finished_map, values):
        shrunk = PixelSNE(init=finished_map.positions_, max_iter=1, perplexity=20, random_state=0).fit(values)
        assert np.ptp(shrunk.positions_) < 0.01

    def test_a_fitted_model_places_the_rows(self, finished_map, values):
        by_model = continue_from(finished_map, max_iter=10).fit(values)
        by_array = continue_from(finished_map.positions_, max_iter=10).fit(values)
        np.testing.assert_array_equal(by_model.positions_, by_array.positions_)

    def test_the_initial_array_is_not_changed(self, finished_map, values):
        start = finished_map.positions_.copy()
        continue_from(start, max_iter=3).fit(values)
        np.testing.assert_array_equal(start, finished_map.positions_)

    def test_grown_data_keep_the_old_points_in_place(self, values):
        before = PixelSNE(perplexity=20, random_state=0).fit(values[:700])
        grown, anew = (
            continue_from(before).fit(values),
            PixelSNE(perplexity=20, random_state=0, init=before).fit(values),
        )
        moves = [
            np.median(
                np.linalg.norm(one.positions_[:700] - before.positions_, axis=1) / before.screen_.unit_per_pixel[0]
            )
            for one in (grown, anew)
        ]
        assert moves[0] < 0.5 * moves[1]
        precisions = [quality.neighborhood_precision(values, one.embedding_, k=10) for one in (grown, anew)]
        assert precisions[0] > 0.95 * precisions[1]

    def test_points_in_one_position_are_separated(self, values, finished_map):
        start = finished_map.positions_.copy()
        start[:5] = start[5]
        again = continue_from(start, max_iter=100, tol=0).fit(values)
        assert len(np.unique(again.positions_, axis=0)) == 900
        nearest = [np.sort(np.linalg.norm(again.positions_ - one, axis=1))[1] for one in again.positions_[:6]]
        assert min(nearest) > 10 * SEPARATION

    def test_only_coinciding_points_get_noise(self, random):
        given = random.normal(0, 50, (100, 2))
        given[10:13] = given[13]
        fixed = np.arange(100) == 13
        start = continued_positions(given, 0, fixed)
        crowded = np.isin(np.arange(100), [10, 11, 12])
        np.testing.assert_array_equal(start[~crowded], given[~crowded].astype(np.float32))
        assert len(np.unique(start, axis=0)) == 100
        assert np.abs(start - given).max() < 10 * SEPARATION

    def test_merged_rows_start_at_their_mean(self, values):
        rows = np.concatenate([values[:300], values[:100]])
        before = PixelSNE(perplexity=20, random_state=0).fit(rows)
        again = continue_from(before.positions_, max_iter=1, learning_rate=1e-9).fit(rows)
        middle = 0.5 * (before.positions_[:100] + before.positions_[300:])
        found = 0.5 * (again.positions_[:100] + again.positions_[300:])
        np.testing.assert_allclose(found - found.mean(axis=0), middle - middle.mean(axis=0), atol=1.0)

    def test_the_schedule_has_less_than_half_the_rate_of_the_end_of_a_run(self):
        start = np.zeros((5, 2))
        schedule = make_schedule(settings_of(PixelSNE(init=start, init_scale=None)), 10_000)
        assert len(schedule) == 250
        assert {(step.phase, step.exaggeration, step.momentum, step.learning_rate) for step in schedule} == {
            ("late", 1.0, 0.7, 400.0)
        }
        own = settings_of(PixelSNE(init=start, init_scale=None, learning_rate=(7, 8), momentum=(0.1, 0.2)))
        assert {(step.momentum, step.learning_rate) for step in make_schedule(own, 10_000)} == {(0.2, 8.0)}

    def test_a_number_of_early_iterations_asks_for_a_whole_schedule(self):
        start = np.zeros((5, 2))
        early = make_schedule(settings_of(PixelSNE(init=start, init_scale=None, early_exaggeration_iter=30)), 10_000)
        assert [step.exaggeration for step in early[:31]] == [12.0] * 30 + [1.0]
        none = make_schedule(settings_of(PixelSNE(init=start, init_scale=None, early_exaggeration_iter=0)), 10_000)
        assert none[0].phase == "late"
        assert max(step.learning_rate for step in none) == 10_000

    @pytest.mark.parametrize("init", ["pca", "random"])
    def test_the_scale_of_other_starts(self, init, values):
        deviations = [
            PixelSNE(init=init, init_scale=scale, max_iter=1, learning_rate=1e-12, random_state=0)
            .fit(values)
            .positions_.std(axis=0)
            .max()
            for scale in (1e-4, 0.5)
        ]
        np.testing.assert_allclose(deviations, [1e-4, 0.5], rtol=0.1)

    @pytest.mark.parametrize(
        ("parameters", "words"),
        [
            ({"init_scale": None}, ["init_scale=None", "init='pca'", "positions_", "fitted model"]),
            ({"init_scale": 0.0}, ["init_scale", "1e-12"]),
            ({"init_scale": -1}, ["init_scale", "-1"]),
            ({"init_scale": float("nan")}, ["init_scale", "nan"]),
            ({"init_scale": None, "init": np.full((900, 2), 1e12)}, ["init", "1e+12", "embedding units"]),
            ({"init_scale": None, "init": np.zeros((5, 2))}, ["init", "900", "5"]),
            ({"init": np.full((900, 2), np.nan)}, ["init", "NaN", "row 0", "fitted model"]),
        ],
    )
    def test_invalid_starts_are_refused(self, parameters, words, values):
        with pytest.raises(ValueError, match="init") as caught:
            PixelSNE(**parameters).fit(values)
        for word in words:
            assert word in str(caught.value)
        with pytest.raises(TypeError, match="init_scale must be a number, got 'big'"):
            PixelSNE(init_scale="big").fit(values)

    def test_memory_of_a_run_that_continues(self, finished_map, values):
        assert continue_from(finished_map).estimate_memory(values) == PixelSNE(perplexity=20).estimate_memory(values)

    def test_a_saved_model_that_continued_is_read_back(self, finished_map, values, tmp_path):
        for init, scale in ((finished_map, 1e-4), (finished_map.positions_, None)):
            model = continue_from(init, max_iter=5).fit(values)
            model.save(tmp_path / "model")
            again = PixelSNE.load(tmp_path / "model")
            assert again.init_scale == scale
            np.testing.assert_array_equal(again.positions_, model.positions_)


class TestFixedRows:
    @pytest.mark.parametrize("neighbors", ["exact", "clusters"])
    def test_fixed_rows_keep_their_bits(self, neighbors, finished_map, values, half, random):
        start = finished_map.positions_ + random.normal(0, 1, (900, 2)) + 7  # neither at rest nor centered
        model = continue_from(start, neighbors=neighbors, tol=0).fit(values, fixed=half)
        np.testing.assert_array_equal(model.positions_[half], start[half].astype(np.float32))
        assert (np.abs(model.positions_[~half] - start[~half]) > 0).all()
        assert model.n_iter_ == 50

    @pytest.mark.slow
    def test_fixed_rows_keep_their_bits_in_the_order_of_the_search(self, random, groups):
        """From 5,000 rows on, searches renumber the points."""
        points = np.concatenate([groups, groups + random.normal(0, 0.1, groups.shape).astype(np.float32)])
        start, fixed = random.normal(0, 20, (8000, 2)), random.random(8000) < 0.3
        maps = []
        for threads in (1, 2, 7):
            model = continue_from(start, n_jobs=threads, max_iter=30).fit(points, fixed=fixed)
            np.testing.assert_array_equal(model.positions_[fixed], start[fixed].astype(np.float32))
            maps.append(model.positions_)
        np.testing.assert_array_equal(maps[0], maps[1])
        np.testing.assert_array_equal(maps[0], maps[2])

    def test_fixed_rows_attract_and_repel_the_others(self, finished_map, values):
        """A free row that starts elsewhere returns to its neighbors."""
        start, fixed = finished_map.positions_.copy(), np.ones(900, dtype=bool)
        fixed[17] = False
        start[17] += 4
        model = continue_from(start, max_iter=300, tol=0).fit(values, fixed=fixed)
        distance = np.linalg.norm(model.positions_[17] - finished_map.positions_[17])
        assert 0 < distance < 1

    def test_the_moves_of_few_free_rows_decide_when_a_run_ends(self, finished_map, values):
        start, fixed = finished_map.positions_.copy(), np.ones(900, dtype=bool)
        fixed[17] = False
        start[17] += 4
        model = continue_from(start, max_iter=350).fit(values, fixed=fixed)
        assert model.history_["moved"][0] > 1
        assert model.stopped_by_ == "tol"

    def test_equal_rows_are_merged_with_free_rows_only(self, values, random):
        rows = np.concatenate([values[:300], values[:100], values[:100]])
        fixed = np.zeros(500, dtype=bool)
        fixed[:50] = fixed[350:400] = True
        start = random.normal(0, 10, (500, 2)).astype(np.float32)
        for duplicates in ("merge", "keep"):
            model = continue_from(start, duplicates=duplicates, tol=0).fit(rows, fixed=fixed)
            np.testing.assert_array_equal(model.positions_[fixed], start[fixed])
            assert len(np.unique(model.positions_, axis=0)) == 500

    def test_groups_of_equal_rows_without_fixed_ones(self):
        rows = np.array([0, 1, 0, 0, 1, 2, 0])[:, None].astype(float)
        fixed = np.array([1, 0, 0, 0, 0, 1, 1], dtype=bool)
        found = find_duplicates(rows, fixed)
        np.testing.assert_array_equal(found.group, [0, 1, 2, 2, 1, 3, 4])
        np.testing.assert_array_equal(found.first, [0, 1, 2, 5, 6])
        np.testing.assert_array_equal(found.counts, [1, 2, 2, 1, 1])
        assert find_duplicates(rows[[0, 2, 5]], np.array([True, False, True])) is None

    def test_a_mask_without_fixed_rows_changes_nothing(self, finished_map, values):
        free = continue_from(finished_map, max_iter=5).fit(values)
        masked = continue_from(finished_map, max_iter=5).fit(values, fixed=np.zeros(900, dtype=bool))
        np.testing.assert_array_equal(masked.positions_, free.positions_)

    def test_every_way_to_fit_takes_the_mask(self, finished_map, values, half):
        model = continue_from(finished_map, max_iter=5)
        placed = model.fit_transform(values, fixed=half.tolist())
        for snapshot in model.iter_fit(values, fixed=half):
            if snapshot.positions is not None:
                np.testing.assert_array_equal(snapshot.positions[half], finished_map.positions_[half])
        np.testing.assert_array_equal(model.embedding_, placed)

    def test_the_picture_is_rescaled_around_fixed_rows(self, finished_map, values, half):
        start = finished_map.positions_.copy()
        start[1] = 3 * start.max(axis=0)
        model = continue_from(start, max_iter=2).fit(values, fixed=half)
        assert (model.embedding_ >= 0).all()
        assert model.screen_ != finished_map.screen_
        np.testing.assert_array_equal(model.positions_[half], start[half])

    @pytest.mark.parametrize(
        ("fixed", "words"),
        [
            (np.ones(5, dtype=bool), ["one value for each of the 900 rows", "got 5"]),
            (np.ones(900, dtype=bool), ["all 900 rows", "at least one"]),
            (np.zeros((900, 1), dtype=bool), ["boolean mask", "(900, 1)"]),
            ([3, 4, 5], ["boolean mask", "int64", "np.isin"]),
            (np.ones(900), ["boolean mask", "float64"]),
            (True, ["boolean mask", "shape ()"]),
        ],
    )
    def test_invalid_masks_are_refused(self, fixed, words, finished_map, values):
        with pytest.raises(ValueError, match="fixed") as caught:
            continue_from(finished_map).fit(values, fixed=fixed)
        for word in words:
            assert word in str(caught.value)

    def test_a_start_that_is_rescaled_cannot_hold_rows(self, finished_map, values, half):
        for model in (PixelSNE(), PixelSNE(init=finished_map), PixelSNE(init=finished_map.positions_)):
            with pytest.raises(ValueError, match=r"fixed holds rows where init puts them.*init_scale=None"):
                model.fit(values, fixed=half)

    def test_a_diverging_map_with_fixed_rows_names_the_learning_rate(self, finished_map, values, half):
        model = continue_from(finished_map, learning_rate=1e30, step_limit=None)
        with pytest.raises(FloatingPointError, match="learning_rate"):
            model.fit(values, fixed=half)
