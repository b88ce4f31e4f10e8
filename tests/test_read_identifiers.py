"""Columns that identify rows are embedded only if they are named."""

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.feather
import pyarrow.parquet as pq
import pytest

from command_line import QUICK, run
from pixelsne.files.errors import FileError
from pixelsne.files.read_map import read_map
from pixelsne.files.read_points import read_points
from pixelsne.files.source import ReadOptions

N = 50
WRITE = {"parquet": pq.write_table, "csv": pa.csv.write_csv, "feather": pa.feather.write_feather}
GAPS = np.random.default_rng(0).permutation(1000)[:N]  # distinct, not consecutive
SHUFFLED = np.random.default_rng(0).permutation(N) + 7


def read(columns, tmp_path, kind="parquet", options=None):
    numbers = np.random.default_rng(1).normal(size=(2, N))
    path = tmp_path / f"points.{kind}"
    WRITE[kind](pa.table({"a": numbers[0], **columns, "b": numbers[1]}), path)
    return read_points(path, options)


@pytest.mark.parametrize("kind", WRITE)
@pytest.mark.parametrize(
    ("name", "values"),
    [
        *((name, GAPS) for name in ("id", "ID", "row_id", "PassengerId", "Row", "my index", "rowID")),
        ("id", GAPS + 2**60),
        ("number", np.arange(N)),
        ("number", SHUFFLED),
    ],
)
def test_identifiers_become_extra_columns(kind, name, values, tmp_path):
    source = read({name: values}, tmp_path, kind)
    assert source.columns == ("a", "b")
    assert source.values.shape == (N, 2)
    assert source.identifiers == (name,)
    assert source.extra_columns[name].to_pylist() == values.tolist()


@pytest.mark.parametrize("kind", WRITE)
@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("width", GAPS),
        ("idea", GAPS),  # "id" is not a separate word here
        ("id", np.arange(N) % 40),
        ("number", np.arange(N) * 2),
        ("id", np.arange(N) / 2),
    ],
)
def test_other_numbers_are_embedded(kind, name, values, tmp_path):
    source = read({name: values}, tmp_path, kind)
    assert source.columns == ("a", name, "b")
    assert source.identifiers == ()
    np.testing.assert_array_equal(source.values[:, 1], values)
    assert source.extra_columns is None


def test_named_identifiers_are_embedded(tmp_path):
    source = read({"id": np.arange(N)}, tmp_path, options=ReadOptions(columns=("id", "a")))
    np.testing.assert_array_equal(source.values[:, 0], np.arange(N))


def test_integers_followed_by_a_fraction_are_embedded(tmp_path):
    rows = [*range(200_000), 0.5]
    (tmp_path / "points.csv").write_text("id,b\n" + "".join(f"{row},{row % 7}\n" for row in rows))
    source = read_points(tmp_path / "points.csv")
    assert source.columns == ("id", "b")
    assert source.values[-1, 0] == 0.5


def test_identifiers_are_recognized_across_batches(tmp_path):
    """Batches have 65,536 rows, and values repeat only across batches."""
    again = np.tile(np.arange(65_536), 2)[:100_000]
    path = tmp_path / "points.parquet"
    pq.write_table(pa.table({"again": again, "id": np.arange(100_000), "value": again % 9}), path)
    source = read_points(path)
    assert source.columns == ("again", "value")
    assert source.extra_columns.column_names == ["id"]
    np.testing.assert_array_equal(source.values[:, 0], again)


def test_a_table_of_identifiers_only_is_refused(tmp_path):
    pq.write_table(pa.table({"id": GAPS, "name": ["x"] * N}), tmp_path / "points.parquet")
    with pytest.raises(FileError, match=r"no numeric column to embed: id identifies the rows; .* --columns id"):
        read_points(tmp_path / "points.parquet")


def test_the_only_vector_column_cannot_be_the_label(tmp_path):
    vectors = pa.array(np.random.default_rng(0).normal(size=(N, 3)).tolist())
    pq.write_table(pa.table({"id": np.arange(N), "width": GAPS, "vector": vectors}), tmp_path / "points.parquet")
    result = run("embed", tmp_path / "points.parquet", "-o", tmp_path / "map.npy", "--label", "vector", expect=1)
    assert "column 'vector' holds the vectors to embed, so it cannot be the label; " in result.stderr
    assert "--columns" in result.stderr
    chosen = read_points(tmp_path / "points.parquet", ReadOptions(label="vector", columns=("width",)))
    assert chosen.columns == ("width",)


def test_the_summary_names_embedded_columns_and_identifiers(tmp_path):
    rng = np.random.default_rng(0)
    pq.write_table(
        pa.table({"id": np.arange(N), "a": rng.normal(size=N), "b": rng.normal(size=N)}), tmp_path / "p.parquet"
    )
    quick = [option for option in QUICK if option != "--quiet"]
    result = run("embed", tmp_path / "p.parquet", "-o", tmp_path / "map.parquet", *quick, "--progress")
    assert "a, b; not embedded, because they are identifiers: id (choose them with --columns)" in result.stderr
    one = read_map(tmp_path / "map.parquet")
    assert one.metadata["columns"] == ["a", "b"]
    assert one.extra_columns["id"].to_pylist() == list(range(N))
