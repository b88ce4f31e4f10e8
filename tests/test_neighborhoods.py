"""Who is near whom; and what commands tell of it."""

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
    """60 points, and a map that has little to do with them."""
    values, placed = random.normal(size=(60, 5)), random.normal(size=(60, 2))
    model = PixelSNE(n_jobs=1)
    return values, placed, Neighborhoods.of(values, placed.astype(np.float32), np.arange(60), 10, model)


@pytest.mark.parametrize("k", [1, 4, 10])
def test_measures_are_those_of_quality(k, compared, random):
    values, placed, near = compared
    labels = random.integers(0, 3, 60)
    assert near.precision(k) == pytest.approx(quality.neighborhood_precision(values, placed, k))
    assert near.accuracy(k, labels) == pytest.approx(quality.knn_accuracy(placed, labels, k))
    assert MEASURES["neighborhood_precision"].of(near, k, None) == near.precision(k)
    assert MEASURES["knn_accuracy"].of(near, k, labels) == near.accuracy(k, labels)
    assert MEASURES["knn_accuracy"].of(near, k, None) is None


def test_rows_without_a_class_are_not_judged(compared, random):
    _, _, near = compared
    classes = random.integers(0, 2, 60)
    classes[:20] = -1
    some = Neighborhoods(near.n, near.rows[20:], near.true[20:], near.shown[20:])
    assert near.accuracy(5, classes) == some.accuracy(5, classes)
    assert np.isnan(near.accuracy(5, np.full(60, -1)))


def test_neighbors_that_a_graph_does_not_know_are_not_found_on_the_map():
    """Row 0 knows one neighbor; the map has it among the nearest, and nothing else counts."""
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
    assert scored.stderr.splitlines() == ["pixelsne: warning: perplexity=30 is too large for 30 points; using 9.66667"]
