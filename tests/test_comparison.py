"""Neighbors in the data and on the map, the measures that compare them, and how commands report those."""

import json
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner
from scipy import sparse

from pixelsne import PixelSNE, quality
from pixelsne.cli import main
from pixelsne.comparison import Comparison, nearest, sample_rows, space_of, without_repeats
from pixelsne.quality import MEASURES, compute_accuracy, compute_precision


@pytest.fixture
def compared(random):
    """60 points in three classes, and a map that has little to do with them."""
    values, placed = random.normal(size=(60, 5)), random.normal(size=(60, 2)).astype(np.float32)
    labels = random.integers(0, 3, 60)
    return values, labels, Comparison.of(values, placed, np.arange(60), 10, PixelSNE(n_jobs=1), labels)


@pytest.mark.parametrize("k", [1, 4, 10])
def test_measures_by_k_equal_the_functions_of_quality(k, compared):
    values, labels, comparison = compared
    placed = comparison.placed
    assert MEASURES["neighborhood_precision"](comparison, [k]) == [quality.neighborhood_precision(values, placed, k)]
    assert MEASURES["knn_accuracy"](comparison, [k]) == [quality.knn_accuracy(placed, labels, k)]


def test_measures_without_k_equal_the_functions_of_quality(compared):
    values, labels, comparison = compared
    placed = comparison.placed
    assert MEASURES["triplet_accuracy"](comparison, [1]) == quality.triplet_accuracy(values, placed)
    assert MEASURES["center_correlation"](comparison, [1]) == quality.center_correlation(values, placed, labels)


def test_measures_are_unknown_without_what_they_need(compared):
    *_, comparison = compared
    known = {name for name, measure in MEASURES.items() if measure(replace(comparison, classes=None), [3]) is not None}
    assert known == {"neighborhood_precision", "triplet_accuracy"}
    known = {name for name, measure in MEASURES.items() if measure(replace(comparison, points=None), [3]) is not None}
    assert known == {"neighborhood_precision", "knn_accuracy"}
    two_classes = replace(comparison, classes=np.minimum(comparison.classes, 1))
    assert MEASURES["center_correlation"](two_classes, [3]) is None


def test_rows_without_a_class_are_not_judged(compared, random):
    values, _labels, comparison = compared
    classes = random.integers(0, 3, 60)
    classes[:20] = -1
    partly = replace(comparison, classes=classes)
    rest = replace(
        partly,
        rows=partly.rows[20:],
        data_neighbors=partly.data_neighbors[20:],
        map_neighbors=partly.map_neighbors[20:],
    )
    assert compute_accuracy(partly, 5) == compute_accuracy(rest, 5)
    assert np.isnan(compute_accuracy(replace(comparison, classes=np.full(60, -1)), 5))
    expected = quality.center_correlation(values[20:], comparison.placed[20:], classes[20:])
    assert MEASURES["center_correlation"](partly, [5]) == expected


def test_neighbors_that_a_graph_does_not_know_are_not_found_on_the_map():
    """Row 0 knows one neighbor; the map has it among the nearest, and nothing else counts."""
    distances = np.zeros((5, 5))
    distances[0, 1] = distances[1, 0] = 1
    for row in (1, 2, 3, 4):
        distances[row, [other for other in range(1, 5) if other != row]] = 2
    graph = sparse.csr_array(distances)
    found = nearest(space_of(graph, PixelSNE(metric="precomputed")), graph, np.arange(5), 3, 1)
    assert found[0, 0] == 1
    assert (found[0, 1:] < 0).all()
    assert len(set(found[0])) == 3
    shown = np.array([[1, 2, 3], [0, 2, 3], [1, 3, 4], [1, 2, 4], [1, 2, 3]], dtype=np.int32)
    assert compute_precision(Comparison(np.arange(5), found, shown, np.zeros((5, 2))), 3) == pytest.approx(1.0)


def test_repeats_become_numbers_that_nobody_has():
    given = np.array([[4, 7, 7, 7], [1, 2, 3, 4]])
    np.testing.assert_array_equal(without_repeats(given), [[4, 7, -3, -4], [1, 2, 3, 4]])


def test_all_rows_or_a_sample():
    np.testing.assert_array_equal(sample_rows(5, 10, 3, 0), np.arange(5))
    chosen = sample_rows(100, 10, 30, 0)
    assert len(set(chosen.tolist())) == 30
    np.testing.assert_array_equal(chosen, np.sort(chosen))
    np.testing.assert_array_equal(chosen, sample_rows(100, 10, 30, 0))


def test_score_says_how_many_rows_have_no_label(tmp_path, random):
    numbers, kinds = random.normal(size=(30, 2)), ["u", "v", None] * 10
    data, made = str(tmp_path / "data.parquet"), str(tmp_path / "map.parquet")
    pq.write_table(pa.table({"a": numbers[:, 0], "b": numbers[:, 1], "kind": kinds}), data)
    run = CliRunner().invoke
    assert run(main, ["embed", data, "-o", made, "--label", "kind", "--quiet"]).exit_code == 0
    scored = run(main, ["score", data, made, "--label", "kind", "--json"])
    told = json.loads(scored.stdout)
    assert told["rows_without_label"] == 10
    assert 0 <= told["knn_accuracy"][0] <= 1
    assert scored.stderr == ""
