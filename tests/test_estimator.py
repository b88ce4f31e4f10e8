"""The interface of PixelSNE: parameters, learned attributes, errors, guarantees."""

import inspect
import threading
import warnings

import numpy as np
import pytest
from sklearn.base import clone

from pixelsne import PixelSNE, quality
from pixelsne.affinities import joint_affinities
from pixelsne.neighborhood import PERPLEXITY_PER_NEIGHBOR
from pixelsne.neighbors import find_neighbors
from pixelsne.reduce import reduce
from pixelsne.settings import PRESETS

QUICK = {"max_iter": 60, "early_exaggeration_iter": 30, "random_state": 0}
PRESET_NAMES = ["t-sne", "bh-sne", "pixelsne-vp", "pixelsne-rp"]


@pytest.fixture(scope="module")
def fitted(digits):
    return PixelSNE(resolution=(640, 480), random_state=0).fit(digits[0])


def test_learned_attributes(fitted, digits):
    n = len(digits[0])
    assert fitted.embedding_.shape == (n, 2)
    assert fitted.embedding_.dtype == np.float32
    assert (fitted.embedding_ >= 0).all()
    assert (fitted.embedding_ < [640, 480]).all()
    assert np.array_equal(fitted.pixels_, np.floor(fitted.embedding_))
    assert fitted.positions_.dtype == np.float32
    assert abs(fitted.positions_.mean()) < 1e-3
    assert (fitted.n_neighbors_, fitted.perplexity_) == (30, pytest.approx(30 * PERPLEXITY_PER_NEIGHBOR))
    assert fitted.n_features_in_ == 64
    assert 0 < fitted.n_iter_ <= 350
    assert fitted.stopped_by_ in {"max_iter", "tol"}
    assert set(fitted.timings_) == {"reduce", "neighbors", "affinities", "descent"}
    assert {len(column) for column in fitted.history_.values()} == {fitted.n_iter_ // 50}
    assert list(fitted.history_) == ["iteration", "kl", "moved"]
    assert list(fitted.get_feature_names_out()) == ["pixelsne0", "pixelsne1"]


def test_quality_of_a_map_of_digits(fitted, digits):
    values, labels = digits
    assert quality.knn_accuracy(fitted.embedding_, labels, 10) > 0.97
    assert quality.neighborhood_precision(values, fitted.embedding_, 10) > 0.55
    classical = joint_affinities(find_neighbors(reduce(values, 50, 0), 90, "exact", 0, 2), (30.0,), 2)
    assert quality.kl_divergence(classical, fitted.positions_) < 0.8


USUAL = {"max_iter": 1000, "early_exaggeration_iter": 250, "momentum": (0.5, 0.8), "tol": 0.0, "random_state": 0}


def usual_schedule(values):
    """Fit with a thousand iterations of the usual schedule of other programs."""
    n = len(values)
    return PixelSNE(**USUAL, learning_rate=(max(50, n / 48), max(50, n / 4))).fit(values)


def with_copies_and_outliers(values):
    values = np.concatenate([values[:700], np.repeat(values[700:701], 200, axis=0)])
    values[:3] += 1e6 * np.random.default_rng(0).normal(size=(3, values.shape[1]))
    return values


def few(values):
    """Return a random sample, because the rows are ordered by writer."""
    return values[np.random.default_rng(0).permutation(len(values))[:300]]


@pytest.mark.slow
@pytest.mark.parametrize("change", [lambda values: values, few, with_copies_and_outliers])
def test_the_default_schedule_is_as_good_as_a_thousand_usual_iterations(digits, change):
    values = change(digits[0])
    default, usual = PixelSNE(random_state=0).fit(values), usual_schedule(values)
    assert default.n_iter_ <= 350
    assert default.kl_divergence_ < 1.01 * usual.kl_divergence_
    precision = [quality.neighborhood_precision(values, model.embedding_, 10) for model in (default, usual)]
    assert precision[0] > 0.98 * precision[1]


@pytest.mark.slow
def test_a_search_that_renumbers_points_keeps_the_input_order(random):
    labels = random.integers(0, 10, 6000)
    points = random.normal(0, 5, (10, 20))[labels] + random.normal(size=(6000, 20))
    model = PixelSNE(neighbors="clusters", max_iter=100, random_state=0)
    last = None
    for snapshot in model.iter_fit(points):
        last = snapshot
    assert quality.knn_accuracy(model.embedding_, labels, 10) > 0.99
    assert np.array_equal(last.positions, model.positions_)


def test_the_kl_divergence_is_that_of_the_final_map(fitted, digits):
    points = reduce(digits[0], 50, 0)
    neighbors = find_neighbors(points, fitted.n_neighbors_, "exact", 0, 2)
    affinities = joint_affinities(neighbors, (fitted.perplexity_,), 2)
    assert fitted.kl_divergence_ == pytest.approx(quality.kl_divergence(affinities, fitted.positions_), rel=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("preset", PRESET_NAMES)
def test_same_seed_same_bits_at_any_thread_count(preset, digits):
    maps = [
        PixelSNE.preset(preset, max_iter=60, early_exaggeration_iter=40, random_state=3, n_jobs=jobs)
        .fit(digits[0])
        .positions_
        for jobs in (1, 2, 7)
    ]
    assert np.array_equal(maps[0], maps[1])
    assert np.array_equal(maps[0], maps[2])


@pytest.mark.slow
@pytest.mark.parametrize("copies", [1, 4])  # all pairs; clusters and the field
def test_the_default_has_the_same_bits_at_any_thread_count(digits, copies):
    values = np.concatenate([digits[0] + 0.01 * copy for copy in range(copies)])
    maps = [PixelSNE(**QUICK, n_jobs=jobs).fit_transform(values) for jobs in (1, 2, 7)]
    assert np.array_equal(maps[0], maps[1])
    assert np.array_equal(maps[0], maps[2])


@pytest.mark.slow
def test_concurrent_runs_are_independent(digits):
    alone = PixelSNE(**QUICK).fit_transform(digits[0])
    together = {}
    threads = [
        threading.Thread(
            target=lambda index=index: together.update({index: PixelSNE(**QUICK).fit_transform(digits[0])})
        )
        for index in range(3)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(together) == 3
    for result in together.values():
        assert np.array_equal(result, alone)


@pytest.mark.slow
def test_different_seeds_give_different_maps(digits):
    first, second = (
        PixelSNE(init="random", max_iter=20, random_state=seed).fit_transform(digits[0]) for seed in (0, 1)
    )
    assert not np.array_equal(first, second)


@pytest.mark.parametrize("preset", PRESET_NAMES)
def test_presets_have_the_parameters_of_the_paper(preset):
    model = PixelSNE.preset(preset)
    assert (model.perplexity, model.n_pca, model.init, model.max_iter, model.tol) == (
        50.0,
        50,
        "random",
        1000,
        0.0,
    )
    assert (model.early_exaggeration, model.early_exaggeration_iter, model.exaggeration) == (12.0, 250, 1.0)
    assert (model.learning_rate, model.momentum, model.theta, model.step_limit) == (
        50.0,
        (0.5, 0.8),
        0.5,
        None,
    )
    methods = {
        "t-sne": ("exact", "exact", "all"),
        "bh-sne": ("vp-tree", "barnes-hut", None),
        "pixelsne-vp": ("vp-tree", "pixel-tree", None),
        "pixelsne-rp": ("rp-forest", "pixel-tree", None),
    }
    assert (model.neighbors, model.repulsion, model.n_neighbors) == methods[preset]
    assert model.center == ("cell" if preset.startswith("pixelsne") else "mass")


def test_presets_take_overrides_and_refuse_unknown_names():
    assert PixelSNE.preset("bh-sne", perplexity=10).perplexity == 10
    with pytest.raises(ValueError, match=r"preset='umap'.*'t-sne'"):
        PixelSNE.preset("umap")
    assert set(PRESETS) == set(PRESET_NAMES)


def test_clone_keeps_parameters():
    model = PixelSNE(resolution=(640, 480), perplexity=[5, 50], momentum=(0.3, 0.9))
    assert clone(model).get_params() == model.get_params()


def test_every_parameter_is_documented():
    documented = PixelSNE.__doc__
    for name in inspect.signature(PixelSNE).parameters:
        assert name in documented, name


@pytest.mark.parametrize(
    ("parameters", "error", "words"),
    [
        ({"resolution": 0}, ValueError, ["resolution", "0", "16 to 65536"]),
        ({"resolution": (5, 500)}, ValueError, ["resolution", "(5, 500)", "size of the screen"]),
        ({"resolution": 2}, ValueError, ["resolution", "size of the screen", "16"]),
        ({"resolution": 1.5}, TypeError, ["resolution", "1.5"]),
        ({"resolution": (1, 2, 3)}, ValueError, ["resolution", "(width, height)"]),
        ({"resolution": 65_537}, ValueError, ["resolution", "65536"]),
        ({"resolution": True}, TypeError, ["resolution"]),
        ({"perplexity": 0.5}, ValueError, ["perplexity", "0.5"]),
        ({"perplexity": float("nan")}, ValueError, ["perplexity", "nan"]),
        ({"perplexity": "many"}, TypeError, ["perplexity", "many"]),
        ({"perplexity": []}, ValueError, ["perplexity", "empty"]),
        ({"n_neighbors": 0}, ValueError, ["n_neighbors", "0"]),
        ({"n_neighbors": -3}, ValueError, ["n_neighbors", "-3"]),
        ({"n_neighbors": 2.5}, TypeError, ["n_neighbors", "2.5"]),
        ({"n_neighbors": 10, "perplexity": 30}, ValueError, ["n_neighbors=10", "perplexity", "30"]),
        ({"n_neighbors": "most"}, ValueError, ["n_neighbors", "most", "all"]),
        ({"neighbors": "annoy"}, ValueError, ["neighbors", "annoy", "vp-tree"]),
        ({"repulsion": "fft"}, ValueError, ["repulsion", "fft", "pixel-tree"]),
        ({"theta": -1}, ValueError, ["theta", "-1"]),
        ({"center": "middle"}, ValueError, ["center", "middle", "mass"]),
        ({"aspect": "wide"}, ValueError, ["aspect", "wide", "equal"]),
        ({"n_pca": 0}, ValueError, ["n_pca", "0"]),
        ({"init": "spectral"}, ValueError, ["init", "spectral", "random"]),
        ({"init": np.zeros((5, 3))}, ValueError, ["init", "(n, 2)"]),
        ({"init": np.zeros((5, 2))}, ValueError, ["init", "100", "5"]),
        ({"init": np.full((100, 2), np.nan)}, ValueError, ["init", "NaN"]),
        ({"early_exaggeration": 0.5}, ValueError, ["early_exaggeration", "0.5"]),
        ({"early_exaggeration_iter": -1}, ValueError, ["early_exaggeration_iter", "-1"]),
        ({"exaggeration": 0}, ValueError, ["exaggeration", "0"]),
        ({"learning_rate": 0}, ValueError, ["learning_rate", "0"]),
        ({"learning_rate": "slow"}, ValueError, ["learning_rate", "slow", "auto"]),
        ({"momentum": 1.0}, ValueError, ["momentum", "1.0"]),
        ({"momentum": (0.5, 0.6, 0.7)}, ValueError, ["momentum", "(early, late)"]),
        ({"step_limit": -1}, ValueError, ["step_limit", "-1"]),
        ({"max_iter": 0}, ValueError, ["max_iter", "0"]),
        ({"max_iter": 10.5}, TypeError, ["max_iter", "10.5"]),
        ({"tol": -1}, ValueError, ["tol", "-1"]),
        ({"n_jobs": 0}, ValueError, ["n_jobs", "-1"]),
        ({"random_state": "x"}, ValueError, ["x"]),
    ],
)
def test_invalid_parameters_are_refused(parameters, error, words, random):
    with pytest.raises(error) as caught:
        PixelSNE(**parameters).fit(random.normal(size=(100, 4)))
    for word in words:
        assert word in str(caught.value)


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ([[1.0, np.nan], [2.0, 3.0]], ["X", "NaN"]),
        ([[1.0, np.inf], [2.0, 3.0]], ["X", "infinity"]),
        ([["a", "b"], ["c", "d"]], ["X", "numbers"]),
        (np.array([["a", 1], ["c", 2]], dtype=object), ["X", "numbers"]),
        (np.empty((0, 3)), ["0 sample"]),
        (np.ones((1, 3)), ["1 sample", "minimum of 2"]),
        (np.ones((10, 0)), ["0 feature"]),
        (np.ones(10), ["2D"]),
        (np.ones((4, 4, 4)), ["dim"]),
        (np.ones((4, 4), dtype=complex), ["Complex"]),
    ],
)
def test_invalid_input_is_refused(values, words):
    with pytest.raises(ValueError) as caught:  # noqa: PT011 - the message is checked below
        PixelSNE().fit(values)
    for word in words:
        assert word in str(caught.value)


def test_too_large_a_perplexity_is_lowered_with_one_warning(random):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = PixelSNE(perplexity=30, **QUICK).fit(random.normal(size=(31, 3)))
    assert len(caught) == 1
    assert "perplexity=30" in str(caught[0].message)
    assert "10" in str(caught[0].message)
    assert model.perplexity_ == 10


@pytest.mark.parametrize("n", [2, 3, 4, 5, 10])
@pytest.mark.parametrize("repulsion", ["exact", "barnes-hut", "pixel-tree"])
@pytest.mark.filterwarnings("ignore:perplexity")
def test_tiny_data_give_a_finite_map(n, repulsion, random):
    model = PixelSNE(repulsion=repulsion, max_iter=300, random_state=0).fit(random.normal(size=(n, 3)))
    assert np.isfinite(model.positions_).all()
    assert np.isfinite(model.kl_divergence_)


@pytest.mark.slow
def test_two_perplexities_are_averaged(digits):
    model = PixelSNE(perplexity=(5, 30), **QUICK).fit(digits[0])
    assert model.perplexity_ == (5, 30)


def read_only_stride(values):
    values = np.repeat(values, 2, axis=1)[:, ::2]
    values.flags.writeable = False
    return values


def first_row_times(values, factor, rows):
    values[:rows] = factor * values[0]
    return values


HARD_DATA = {
    "constant": np.ones_like,
    "constant columns": lambda values: np.column_stack([values[:, :3], np.full((len(values), 7), 7.0)]),
    "one column": lambda values: values[:, :1],
    "duplicates": lambda values: first_row_times(values, 1, 250),
    "outlier": lambda values: first_row_times(values, 1e6, 1),
    "huge": lambda values: values * 1e30,
    "tiny": lambda values: values * 1e-30,
    "offset": lambda values: values + 1e9,
    "integers": lambda values: (values * 10).astype(np.int16),
    "booleans": lambda values: values > 0,
    "float16": lambda values: values.astype(np.float16),
    "fortran": np.asfortranarray,
    "read-only stride": read_only_stride,
}


@pytest.mark.parametrize("kind", HARD_DATA)
@pytest.mark.parametrize("repulsion", ["exact", "pixel-tree"])
def test_hard_data_gives_a_finite_map(kind, repulsion, random):
    values = HARD_DATA[kind](random.normal(size=(400, 10)))
    model = PixelSNE(resolution=(200, 100), repulsion=repulsion, max_iter=150, random_state=0).fit(values)
    assert np.isfinite(model.positions_).all()
    assert np.isfinite(model.kl_divergence_)
    assert (model.embedding_ < [200, 100]).all()
    assert len(np.unique(model.pixels_, axis=0)) > 50, "the points must not stay in one position"


def test_scaling_by_a_power_of_two_changes_no_bit(random):
    """Scaling by powers of two rounds nothing, so no bit may change."""
    values = random.integers(-100, 100, (300, 5)).astype(np.float64)
    plain = PixelSNE(**QUICK).fit_transform(values)
    assert np.array_equal(PixelSNE(**QUICK).fit_transform(values * 2.0**90), plain)


@pytest.mark.parametrize("resolution", [16, 17, (16, 1000), (33, 19), 65_536])
def test_any_resolution_gives_a_finite_map(resolution, digits):
    model = PixelSNE(resolution=resolution, repulsion="pixel-tree", **QUICK).fit(digits[0][:500])
    assert np.isfinite(model.positions_).all()
    assert (model.pixels_ < resolution).all()


@pytest.mark.slow
def test_the_scale_of_an_initial_array_has_no_effect(digits):
    start = np.random.default_rng(0).normal(5, 100, (len(digits[0]), 2))
    maps = [PixelSNE(init=scale * start, **QUICK).fit_transform(digits[0]) for scale in (1.0, 2.0)]
    assert np.array_equal(*maps), "the scale must have no effect"


@pytest.mark.slow
def test_an_initial_array_with_a_narrow_or_constant_column(digits):
    start = np.random.default_rng(0).normal(size=(len(digits[0]), 2))
    for first in (0.1, 0.1 + 1e-9 * start[:, 1]):
        start[:, 0] = first
        model = PixelSNE(init=start, **QUICK).fit(digits[0])
        assert np.isfinite(model.kl_divergence_)
        assert np.abs(model.positions_).max() < 1000


@pytest.mark.slow
def test_a_wide_screen_does_not_distort_neighborhoods(digits):
    model = PixelSNE(resolution=(1600, 400), random_state=0).fit(digits[0])
    on_screen, in_units = (
        quality.neighborhood_precision(digits[0], positions, k=10) for positions in (model.embedding_, model.positions_)
    )
    assert on_screen == pytest.approx(in_units, abs=1e-3)
    assert PixelSNE.preset("pixelsne-rp").aspect == "fill"


def test_early_exaggeration_to_the_end_gives_a_warning(clusters):
    with pytest.warns(UserWarning, match=r"early_exaggeration_iter=50 covers all 30 iterations.*max_iter"):
        PixelSNE(early_exaggeration_iter=50, max_iter=30, random_state=0).fit(clusters)
