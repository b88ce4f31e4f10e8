"""Graphs that users bring, with fewer neighbors than the perplexity asks for, and not as many in each row."""

import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.neighbors import NearestNeighbors, kneighbors_graph

import reference
from command_line import run
from pixelsne import PixelSNE, quality
from pixelsne.affinities import calibrate, joint_affinities
from pixelsne.files.read_map import read_map
from pixelsne.graphs import neighbors_in_graph

SCANPYS = 14  # stored per row by sc.pp.neighbors with its default of 15, which counts the cell itself
ROWS = 600


def shortened(graph, counts):
    """The nearest `counts[i]` entries of row i."""
    kept = [row[np.argsort(graph.data[row])[:count]] for row, count in zip(rows_of(graph), counts, strict=True)]
    entries = np.concatenate(kept)
    offsets = np.concatenate([[0], np.cumsum(counts)])
    return sparse.csr_array((graph.data[entries], graph.indices[entries], offsets), shape=graph.shape)


def rows_of(graph):
    return np.split(np.arange(graph.nnz), graph.indptr[1:-1])


@pytest.fixture(scope="module")
def scanpys(digits):
    """Digits in a graph as scanpy makes it; it stores no zeros, so that cells with duplicates have fewer neighbors."""
    graph = kneighbors_graph(digits[0][:ROWS], SCANPYS, mode="distance")
    counts = np.full(ROWS, SCANPYS)
    counts[::9], counts[5], counts[7] = 11, 2, 1
    return shortened(graph, counts)


def test_a_graph_of_scanpy_makes_do_with_one_warning(scanpys, digits, tmp_path):
    model = PixelSNE(metric="precomputed", random_state=0)
    message = r"perplexity=30 is too large for a graph with 14 neighbors per point; using 4\.66667; .* 90 neighbors"
    with pytest.warns(UserWarning, match=message) as told:
        placed = model.fit(scanpys).embedding_
    assert len(told) == 1
    assert told[0].filename == __file__
    assert model.perplexity_ == pytest.approx(SCANPYS / 3)
    assert quality.knn_accuracy(placed, digits[1][:ROWS], 10) > 0.93
    model.save(tmp_path / "model")
    searcher = NearestNeighbors(n_neighbors=SCANPYS).fit(digits[0][:ROWS])
    new = searcher.kneighbors_graph(digits[0][ROWS : ROWS + 100], mode="distance")
    np.testing.assert_array_equal(PixelSNE.load(tmp_path / "model").transform(new), model.transform(new))


def test_the_command_makes_do_too(scanpys, tmp_path):
    sparse.save_npz(tmp_path / "graph.npz", scanpys)
    options = ["--metric", "precomputed", "--max-iter", "30"]
    told = run("embed", tmp_path / "graph.npz", "-o", tmp_path / "map.npy", *options).stderr
    assert told.count("warning") == 1
    assert len(read_map(tmp_path / "map.npy").placed) == ROWS


@pytest.mark.parametrize("itself", [False, True])
def test_what_a_run_will_use_is_known_before_it_starts(itself, scanpys):
    """So it is for a run that goes on from a checkpoint. A point on its own diagonal is no neighbor."""
    given = scanpys + sparse.eye_array(ROWS, format="csr") if itself else scanpys
    with pytest.warns(UserWarning, match="14 neighbors"):
        started = PixelSNE(metric="precomputed").start(given)
    assert started.perplexity == pytest.approx((SCANPYS / 3,))
    assert started.neighbor_count == SCANPYS


@pytest.mark.parametrize("changes", [{"perplexity": 4}, {"perplexity": 10, "n_neighbors": SCANPYS}])
def test_what_fits_is_not_changed(changes, scanpys):
    with warnings.catch_warnings(action="error"):
        model = PixelSNE(metric="precomputed", max_iter=10, **changes).fit(scanpys)
    assert model.perplexity_ == changes["perplexity"]


def test_of_several_perplexities_the_large_ones_are_lowered(scanpys):
    with pytest.warns(UserWarning, match="perplexity=3, 30 is too large"):
        started = PixelSNE(perplexity=[3, 30], metric="precomputed").start(scanpys)
    assert started.perplexity == pytest.approx((3, SCANPYS / 3))


def test_short_rows_use_what_they_have_and_others_all(scanpys, digits):
    whole = kneighbors_graph(digits[0][:ROWS], SCANPYS, mode="distance")
    found, full = neighbors_in_graph(scanpys, SCANPYS), neighbors_in_graph(whole, SCANPYS)
    kernels, expected = (calibrate(one, (4.0,), 1) for one in (found, full))
    long = np.diff(scanpys.indptr) == SCANPYS
    np.testing.assert_array_equal(kernels.values[long], expected.values[long])
    np.testing.assert_allclose(kernels.values.sum(axis=1), 1, rtol=1e-5)
    assert (kernels.values[5, 2:] == 0).all()
    np.testing.assert_array_equal(kernels.values[7], np.eye(SCANPYS)[0])
    entropies = [-(row[row > 0] * np.log(row[row > 0])).sum() for row in kernels.values]
    assert np.exp(entropies[0]) == pytest.approx(4 * 11 / SCANPYS, rel=1e-3)


def test_affinities_of_rows_of_different_lengths(scanpys):
    found = neighbors_in_graph(scanpys, SCANPYS)
    kernels = calibrate(found, (4.0,), 1)
    dense = np.zeros((ROWS, ROWS))
    for row, count in enumerate(np.diff(scanpys.indptr)):
        dense[row, kernels.indices[row, :count]] = kernels.values[row, :count]
    affinities = joint_affinities(found, (4.0,), 2)
    np.testing.assert_allclose(reference.dense(affinities), (dense + dense.T) / (2 * ROWS), rtol=1e-6)
    pairs = np.repeat(np.arange(ROWS), np.diff(affinities.offsets)) * ROWS + affinities.columns
    assert len(np.unique(pairs)) == len(pairs), "no pair is stored twice"
