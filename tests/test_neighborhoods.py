"""Neighborhoods in the data and on the map, and the scores that commands report."""

import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner
from scipy import sparse

from pixelsne import PixelSNE, quality
from pixelsne.cli import main
from pixelsne.neighborhoods import MEASURES, Neighborhoods, nearest, sample_rows, without_repeats
from pixelsne.settings import settings_of


@pytest.fixture
def compared(random):
    """60 points, and a random map."""
    values, placed = random.normal(size=(60, 5)), random.normal(size=(60, 2))
    model = PixelSNE(n_jobs=1)
    return values, placed, Neighborhoods.of(values, placed.astype(np.float32), np.arange(60), 10, model)


@pytest.mark.parametrize("k", [1, 4, 10])
def test_measures_agree_with_the_quality_functions(k, compared, random):
    values, placed, neighborhoods = compared
    labels = random.integers(0, 3, 60)
    assert neighborhoods.precision(k) == pytest.approx(quality.neighborhood_precision(values, placed, k))
    assert neighborhoods.accuracy(k, labels) == pytest.approx(quality.knn_accuracy(placed, labels, k))
    assert MEASURES["neighborhood_precision"].of(neighborhoods, k, None) == neighborhoods.precision(k)
    assert MEASURES["knn_accuracy"].of(neighborhoods, k, labels) == neighborhoods.accuracy(k, labels)
    assert MEASURES["knn_accuracy"].of(neighborhoods, k, None) is None


def test_rows_without_a_class_are_not_scored(compared, random):
    _, _, neighborhoods = compared
    classes = random.integers(0, 2, 60)
    classes[:20] = -1
    labeled = Neighborhoods(neighborhoods.n, neighborhoods.rows[20:], neighborhoods.true[20:], neighborhoods.shown[20:])
    assert neighborhoods.accuracy(5, classes) == labeled.accuracy(5, classes)
    assert np.isnan(neighborhoods.accuracy(5, np.full(60, -1)))


def test_short_rows_of_a_graph_are_scored_by_their_neighbors_only():
    """Row 0 has one neighbor, which is among the nearest on the map, so its precision is 1."""
    distances = np.zeros((5, 5))
    distances[0, 1] = distances[1, 0] = 1
    for row in (1, 2, 3, 4):
        distances[row, [other for other in range(1, 5) if other != row]] = 2
    graph = sparse.csr_array(distances)
    found = nearest(settings_of(PixelSNE(metric="precomputed")), graph, np.arange(5), 3, 1)
    assert found[0, 0] == 1
    assert (found[0, 1:] < 0).all()
    assert len(set(found[0])) == 3
    shown = np.array([[1, 2, 3], [0, 2, 3], [1, 3, 4], [1, 2, 4], [1, 2, 3]], dtype=np.int32)
    assert Neighborhoods(5, np.arange(5), found, shown).precision(3) == pytest.approx(1.0)


def test_repeated_neighbors_become_unique_negative_indices():
    indices = np.array([[4, 7, 7, 7], [1, 2, 3, 4]])
    np.testing.assert_array_equal(without_repeats(indices), [[4, 7, -3, -4], [1, 2, 3, 4]])


def test_few_rows_are_all_taken_and_many_are_sampled():
    np.testing.assert_array_equal(sample_rows(5, 10, 3, 0), np.arange(5))
    rows = sample_rows(100, 10, 30, 0)
    assert len(set(rows.tolist())) == 30
    np.testing.assert_array_equal(rows, np.sort(rows))
    np.testing.assert_array_equal(rows, sample_rows(100, 10, 30, 0))


def test_score_reports_the_number_of_rows_without_label(tmp_path, random):
    numbers, kinds = random.normal(size=(30, 2)), ["u", "v", None] * 10
    data, embedded = str(tmp_path / "data.parquet"), str(tmp_path / "map.parquet")
    pq.write_table(pa.table({"a": numbers[:, 0], "b": numbers[:, 1], "kind": kinds}), data)
    run = CliRunner().invoke
    assert run(main, ["embed", data, "-o", embedded, "--label", "kind", "--quiet"]).exit_code == 0
    scored = run(main, ["score", data, embedded, "--label", "kind", "--json"])
    report = json.loads(scored.stdout)
    assert report["rows_without_label"] == 10
    assert 0 <= report["knn_accuracy"][0] <= 1
    assert scored.stderr.splitlines() == ["pixelsne: warning: perplexity=30 is too large for 30 points; using 9.66667"]
