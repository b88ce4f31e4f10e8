"""Precomputed graphs with fewer neighbors than the perplexity needs, and with rows of different lengths."""

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
from pixelsne.neighborhood import PERPLEXITY_PER_NEIGHBOR

SCANPY_NEIGHBORS = 14  # stored per row by sc.pp.neighbors with its default of 15, which includes the cell itself
ROWS = 600


def shortened(graph, counts):
    """Return a graph with the nearest `counts[i]` entries of each row i."""
    nearest = [row[np.argsort(graph.data[row])[:count]] for row, count in zip(rows_of(graph), counts, strict=True)]
    entries = np.concatenate(nearest)
    offsets = np.concatenate([[0], np.cumsum(counts)])
    return sparse.csr_array((graph.data[entries], graph.indices[entries], offsets), shape=graph.shape)


def rows_of(graph):
    return np.split(np.arange(graph.nnz), graph.indptr[1:-1])


@pytest.fixture(scope="module")
def scanpy_graph(digits):
    """Digits in a graph like scanpy's, which stores no zeros, so that cells with duplicates have fewer neighbors."""
    graph = kneighbors_graph(digits[0][:ROWS], SCANPY_NEIGHBORS, mode="distance")
    counts = np.full(ROWS, SCANPY_NEIGHBORS)
    counts[::9], counts[5], counts[7] = 11, 2, 1
    return shortened(graph, counts)


def test_a_graph_of_scanpy_lowers_the_perplexity_with_one_warning(scanpy_graph, digits, tmp_path):
    model = PixelSNE(perplexity=30, metric="precomputed", random_state=0)
    message = r"perplexity=30 is too large for a graph with 14 neighbors per point; using 4\.66667; .* 90 neighbors"
    with pytest.warns(UserWarning, match=message) as warned:
        placed = model.fit(scanpy_graph).embedding_
    assert len(warned) == 1
    assert warned[0].filename == __file__
    assert model.perplexity_ == pytest.approx(SCANPY_NEIGHBORS / 3)
    assert quality.knn_accuracy(placed, digits[1][:ROWS], 10) > 0.93
    model.save(tmp_path / "model")
    searcher = NearestNeighbors(n_neighbors=SCANPY_NEIGHBORS).fit(digits[0][:ROWS])
    new = searcher.kneighbors_graph(digits[0][ROWS : ROWS + 100], mode="distance")
    np.testing.assert_array_equal(PixelSNE.load(tmp_path / "model").transform(new), model.transform(new))


def test_the_command_lowers_the_perplexity_with_one_warning(scanpy_graph, tmp_path):
    sparse.save_npz(tmp_path / "graph.npz", scanpy_graph)
    options = ["--metric", "precomputed", "--perplexity", "30", "--max-iter", "30"]
    warned = run("embed", tmp_path / "graph.npz", "-o", tmp_path / "map.npy", *options).stderr
    assert warned.count("warning") == 1
    assert len(read_map(tmp_path / "map.npy").placed) == ROWS


@pytest.mark.parametrize("includes_itself", [False, True])
def test_perplexity_and_neighbor_count_are_known_before_the_run(includes_itself, scanpy_graph):
    """Resuming from a checkpoint needs this. An entry on the diagonal is no neighbor."""
    graph = scanpy_graph + sparse.eye_array(ROWS, format="csr") if includes_itself else scanpy_graph
    with pytest.warns(UserWarning, match="14 neighbors"):
        started = PixelSNE(perplexity=30, metric="precomputed").make_run(graph)
    assert started.neighborhood.perplexity == pytest.approx((SCANPY_NEIGHBORS / 3,))
    assert started.neighborhood.n_neighbors == SCANPY_NEIGHBORS


@pytest.mark.parametrize("changes", [{"perplexity": 4}, {"perplexity": 10, "n_neighbors": SCANPY_NEIGHBORS}])
def test_a_perplexity_that_fits_is_not_changed(changes, scanpy_graph):
    with warnings.catch_warnings(action="error"):
        model = PixelSNE(metric="precomputed", max_iter=10, **changes).fit(scanpy_graph)
    assert model.perplexity_ == changes["perplexity"]


@pytest.mark.parametrize("changes", [{}, {"n_neighbors": 15}, {"n_neighbors": 100}])
def test_a_graph_with_fewer_neighbors_uses_what_is_there(changes, scanpy_graph):
    with warnings.catch_warnings(action="error"):
        model = PixelSNE(metric="precomputed", max_iter=10, **changes).fit(scanpy_graph)
    assert model.n_neighbors_ == SCANPY_NEIGHBORS
    assert model.perplexity_ == pytest.approx(PERPLEXITY_PER_NEIGHBOR * SCANPY_NEIGHBORS)


def test_only_too_large_perplexities_are_lowered(scanpy_graph):
    with pytest.warns(UserWarning, match="perplexity=3, 30 is too large"):
        started = PixelSNE(perplexity=[3, 30], metric="precomputed").make_run(scanpy_graph)
    assert started.neighborhood.perplexity == pytest.approx((3, SCANPY_NEIGHBORS / 3))


def test_short_rows_use_their_neighbors_and_full_rows_all(scanpy_graph, digits):
    whole = kneighbors_graph(digits[0][:ROWS], SCANPY_NEIGHBORS, mode="distance")
    found, full = neighbors_in_graph(scanpy_graph, SCANPY_NEIGHBORS), neighbors_in_graph(whole, SCANPY_NEIGHBORS)
    kernels, expected = (calibrate(one, (4.0,), 1) for one in (found, full))
    long = np.diff(scanpy_graph.indptr) == SCANPY_NEIGHBORS
    np.testing.assert_array_equal(kernels.values[long], expected.values[long])
    np.testing.assert_allclose(kernels.values.sum(axis=1), 1, rtol=1e-5)
    assert (kernels.values[5, 2:] == 0).all()
    np.testing.assert_array_equal(kernels.values[7], np.eye(SCANPY_NEIGHBORS)[0])
    entropies = [-(row[row > 0] * np.log(row[row > 0])).sum() for row in kernels.values]
    assert np.exp(entropies[0]) == pytest.approx(4 * 11 / SCANPY_NEIGHBORS, rel=1e-3)


def test_affinities_of_rows_of_different_lengths(scanpy_graph):
    found = neighbors_in_graph(scanpy_graph, SCANPY_NEIGHBORS)
    kernels = calibrate(found, (4.0,), 1)
    dense = np.zeros((ROWS, ROWS))
    for row, count in enumerate(np.diff(scanpy_graph.indptr)):
        dense[row, kernels.indices[row, :count]] = kernels.values[row, :count]
    affinities = joint_affinities(found, (4.0,), 2)
    np.testing.assert_allclose(reference.dense(affinities), (dense + dense.T) / (2 * ROWS), rtol=1e-6)
    pairs = np.repeat(np.arange(ROWS), np.diff(affinities.offsets)) * ROWS + affinities.columns
    assert len(np.unique(pairs)) == len(pairs), "no pair may be stored twice"
