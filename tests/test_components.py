"""n_pca="auto": the fewest components that keep the neighborhoods."""

import json

import numpy as np
import pytest
from scipy import sparse

from command_line import run
from pixelsne import PixelSNE, _core, components, quality
from pixelsne import reduce as reduce_module
from pixelsne.components import MIN_COMPONENTS, SHARE_KEPT, SampledNeighbors, most_components, numbers_to_try
from pixelsne.files.read_map import read_map
from pixelsne.memory import estimate, least, workload
from pixelsne.reduce import center_and_rescale, fit_reduction, principal_components
from pixelsne.settings import settings_of


def fit(values, n_pca="auto"):
    return fit_reduction(values, n_pca, 0, _core.ProgressToken())


def falling(random, n=600, columns=120, power=1.0):
    """Return rows whose variances decrease with the rank, in random directions."""
    directions = np.linalg.qr(random.normal(size=(columns, columns)))[0]
    return (random.normal(size=(n, columns)) * np.arange(1, columns + 1.0) ** -power) @ directions


@pytest.mark.slow
def test_noise_in_all_directions_keeps_all_columns(random):
    values = random.random((1000, 100))
    assert fit(values).directions is None
    model = PixelSNE(perplexity=10, max_iter=250, random_state=0).fit(values)
    assert model.n_pca_ == 100
    reduced = PixelSNE(perplexity=10, max_iter=250, random_state=0, n_pca=50).fit(values)
    assert reduced.n_pca_ == 50
    ours, theirs = (quality.neighborhood_precision(values, one.embedding_, 10) for one in (model, reduced))
    assert ours > 1.3 * theirs


def test_auto_has_the_bits_of_50_components_if_50_suffice(random):
    values = falling(random, power=2.0)
    auto, fifty = fit(values), fit(values, 50)
    assert auto.n_components == 50
    assert (auto.directions == fifty.directions).all()


@pytest.mark.slow
def test_auto_takes_the_fewest_components_that_keep_the_neighbors(random):
    values = falling(random, n=2000, columns=400, power=0.5)
    reduction = fit(values)
    assert MIN_COMPONENTS < reduction.n_components < 200
    neighbors = SampledNeighbors.of(center_and_rescale(values))
    tried = numbers_to_try(400)
    before = tried[tried.index(reduction.n_components) - 1]
    assert neighbors.share_kept(principal_components(values, reduction.n_components, 0)) >= SHARE_KEPT
    assert neighbors.share_kept(principal_components(values, before, 0)) < SHARE_KEPT


@pytest.mark.slow
def test_dense_and_sparse_input_keep_equally_many_components(random):
    values = random.poisson(random.gamma(0.3, 1, (20, 300))[random.integers(20, size=500)])
    assert fit(values).n_components == fit(sparse.csr_array(values)).n_components


@pytest.mark.slow
@pytest.mark.parametrize("make", [np.array, sparse.csr_array], ids=["dense", "sparse"])
def test_components_of_very_wide_input_are_limited(random, make, monkeypatch):
    monkeypatch.setattr(reduce_module, "MAX_COVARIANCE_COLUMNS", 200)
    noise = make(random.random((400, 300)))
    assert fit(noise).n_components == 200, "50 and 100 keep too few"
    monkeypatch.setattr(components, "MAX_BY_ITERATION", 120)
    assert fit(noise).n_components == 120
    assert fit(make(falling(random, 400, 300, 2.0))).n_components == 50


def test_component_limits_by_shape():
    assert most_components(10**6, 3000, iterates=True) == 512
    assert most_components(10**6, 100_000, iterates=True) == 160
    assert most_components(10**6, 10**6, iterates=True) == 50
    assert most_components(30, 10**6, iterates=True) == 30
    assert numbers_to_try(512, iterates=True) == [50, 100, 200, 400]


def test_equal_rows_need_no_more_components(random):
    values = np.repeat(falling(random, n=40, power=2.0), 30, axis=0)
    assert fit(values).n_components <= 50


@pytest.mark.parametrize(("n", "columns"), [(2, 60), (5, 80), (12, 3000), (40, 51)])
def test_few_rows_have_a_finite_map(n, columns, random):
    assert fit(random.normal(size=(n, columns))).n_components <= max(n, columns)
    model = PixelSNE(max_iter=20, perplexity=1)
    assert np.isfinite(model.fit(random.normal(size=(max(n, 5), columns))).embedding_).all()


def test_metrics_without_coordinates_have_no_n_pca(digits):
    assert PixelSNE(metric="manhattan", max_iter=1, perplexity=5).fit(digits[0][:100]).n_pca_ is None
    assert PixelSNE(max_iter=1, perplexity=5, n_pca=None).fit(digits[0][:100]).n_pca_ == 64


@pytest.mark.parametrize("wrong", ["all", "50", 0, 2.5, True])
def test_other_values_of_n_pca_are_refused(wrong, digits):
    with pytest.raises((ValueError, TypeError), match="n_pca"):
        PixelSNE(n_pca=wrong).fit(digits[0])


def test_memory_is_estimated_for_the_most_and_the_fewest_components(digits):
    def work(n_pca, columns=1000):
        values = np.broadcast_to(np.float32(0), (100_000, columns))
        return workload(values, settings_of(PixelSNE(n_pca=n_pca)), 90)

    assert work("auto").dimensions == 1000
    assert least(work("auto")).dimensions == 50
    assert estimate(work("auto")) > estimate(work(200)) > estimate(work(50))
    assert work("auto", 40).dimensions == least(work("auto", 40)).dimensions == 40
    assert work("auto", 5000).dimensions == 512
    assert digits[0].shape[1] == 64


@pytest.mark.slow
def test_memory_is_checked_again_after_the_components_are_chosen(random, monkeypatch):
    values = random.random((3000, 800)).astype(np.float32)
    model = PixelSNE(max_iter=1, perplexity=30)
    monkeypatch.setattr("pixelsne.memory.reducing_bytes", lambda _work: 0)
    enough = estimate(least(model.make_run(values).workload)) + 1e5
    monkeypatch.setattr("pixelsne.memory.available", lambda: enough)
    PixelSNE(max_iter=1, perplexity=30, n_pca=50).fit(values)
    with pytest.raises(MemoryError, match=r"a lower n_pca \(800 dimensions now\)"):
        model.fit(values)


def test_commands_report_the_number_of_components(random, tmp_path):
    points, target = tmp_path / "points.npy", tmp_path / "map.npz"
    np.save(points, random.random((200, 70)))
    reported = {}
    for argument in ("auto", "50", "0"):
        output = run("embed", points, "-o", target, "--pca", argument, "--json", "--max-iter", "1").stdout
        reported[argument] = json.loads(output)["n_pca"]
        assert read_map(target).metadata["n_pca"] == reported[argument]
    assert reported == {"auto": 70, "50": 50, "0": 70}
    refused = run("embed", points, "-o", target, "--pca", "most", expect=2)
    assert "neither auto nor an integer" in refused.output
