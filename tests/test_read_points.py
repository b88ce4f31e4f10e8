"""Files of points: read correctly, or refused with one line."""

import gzip
import io
import sys
import zipfile

import anndata
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.csv
import pyarrow.feather
import pyarrow.parquet as pq
import pytest
from scipy import sparse

from pixelsne.files.errors import FileError
from pixelsne.files.read_points import read_points
from pixelsne.files.source import ReadOptions

VALUES = np.arange(12.0).reshape(4, 3) / 2
NAMES = ["red", "green", "blue"]


@pytest.fixture
def table():
    columns = dict(zip(NAMES, VALUES.T, strict=True))
    return pa.table(columns | {"kind": ["a", "b", "a", "b"], "title": ["x", "y", "z", "w, quoted"]})


def write(table, path):
    writers = {
        ".csv": pa.csv.write_csv,
        ".parquet": pq.write_table,
        ".feather": pyarrow.feather.write_feather,
    }
    if path.name.endswith(".csv.gz"):
        pa.csv.write_csv(table, path.with_suffix(""))
        path.write_bytes(gzip.compress(path.with_suffix("").read_bytes()))
    elif path.suffix == ".tsv":
        pa.csv.write_csv(table, path, pa.csv.WriteOptions(delimiter="\t"))
    else:
        writers[path.suffix](table, path)
    return path


def write_any(table, path):
    if path.suffix == ".npy":
        np.save(path, VALUES)
    elif path.suffix == ".npz":
        np.savez(path, X=VALUES)
    else:
        write(table, path)


@pytest.mark.parametrize("kind", ["csv", "csv.gz", "tsv", "parquet", "feather"])
def test_tables_are_read(kind, table, tmp_path):
    source = read_points(write(table, tmp_path / f"table.{kind}"))
    np.testing.assert_array_equal(source.values, VALUES)
    assert source.columns == tuple(NAMES)
    assert source.extra_columns.column_names == ["kind", "title"]
    assert source.extra_columns.column("title").to_pylist()[-1] == "w, quoted"


@pytest.mark.parametrize("kind", ["csv", "parquet", "feather"])
def test_columns_can_be_selected(kind, table, tmp_path):
    path = write(table, tmp_path / f"table.{kind}")
    source = read_points(path, ReadOptions(columns=("blue", "red")))
    np.testing.assert_array_equal(source.values, VALUES[:, [2, 0]])
    assert source.extra_columns.column_names == ["green", "kind", "title"]
    labelled = read_points(path, ReadOptions(label="green"))
    assert labelled.columns == ("red", "blue")
    with pytest.raises(FileError, match=r"table.*has no column 'purple'.*it has red, green"):
        read_points(path, ReadOptions(columns=("purple",)))
    with pytest.raises(FileError, match=r"column 'kind' holds string|column 'kind', row 1: 'a' is not a number"):
        read_points(path, ReadOptions(columns=("kind",)))


@pytest.mark.parametrize("kind", [pa.list_(pa.float32(), 3), pa.list_(pa.float64()), pa.large_list(pa.float32())])
@pytest.mark.parametrize("suffix", ["parquet", "feather"])
def test_a_column_of_vectors_is_embedded(kind, suffix, tmp_path):
    vectors = pa.array(VALUES.tolist(), type=kind)
    path = write(pa.table({"id": [1, 2, 3, 4], "embedding": vectors}), tmp_path / f"table.{suffix}")
    source = read_points(path)
    np.testing.assert_array_equal(source.values, VALUES)
    assert source.columns == ("embedding",)
    assert source.extra_columns.column_names == ["id"]


def test_vectors_of_different_lengths_are_refused(tmp_path):
    path = write(pa.table({"embedding": [[1.0, 2.0], [3.0, 4.0], [5.0]]}), tmp_path / "table.parquet")
    with pytest.raises(FileError, match="column 'embedding', row 3: 1 numbers where other rows have 2"):
        read_points(path)


@pytest.mark.parametrize("bad", [None, float("nan"), float("inf")])
@pytest.mark.parametrize("suffix", ["parquet", "feather"])
def test_missing_numbers_are_reported_with_their_row(bad, suffix, tmp_path):
    path = write(pa.table({"red": [1.0, 2.0, bad], "blue": [1.0, 2.0, 3.0]}), tmp_path / f"table.{suffix}")
    with pytest.raises(FileError, match="column 'red', row 3"):
        read_points(path)


def test_small_types_are_read_as_float32(tmp_path):
    path = write(
        pa.table({"a": pa.array([1, 2], pa.int8()), "b": pa.array([1, 2], pa.float32())}), tmp_path / "t.parquet"
    )
    assert read_points(path).values.dtype == np.float32


def write_text(tmp_path, content, name="table.csv"):
    path = tmp_path / name
    path.write_text(content, encoding="utf-8")
    return path


def test_csv_files_without_a_header(tmp_path):
    path = write_text(tmp_path, "1,2\n3,4\n5,6\n")
    np.testing.assert_array_equal(read_points(path).values, [[1, 2], [3, 4], [5, 6]])
    np.testing.assert_array_equal(read_points(path, ReadOptions(header=True)).values, [[3, 4], [5, 6]])


def test_csv_files_with_other_separators(tmp_path):
    np.testing.assert_array_equal(read_points(write_text(tmp_path, "a;b\n1;2\n3;4\n")).values, [[1, 2], [3, 4]])


@pytest.mark.slow
def test_integers_may_be_followed_by_fractions(tmp_path):
    """Types are inferred from the first megabytes."""
    lines = ["a,b", *["1,2"] * 1_500_000, "1.5,2.5"]
    assert read_points(write_text(tmp_path, "\n".join(lines))).values[-1].tolist() == [1.5, 2.5]


@pytest.mark.slow
@pytest.mark.parametrize("rows_before", [2, 1_500_000])
def test_text_among_numbers_is_reported_with_its_row(rows_before, tmp_path):
    lines = ["a,b", *["1,2"] * rows_before, "1,oops", "3,4"]
    with pytest.raises(FileError, match=rf"table.csv: column ('b'|2), row {rows_before + 1}: 'oops' is not a number"):
        read_points(write_text(tmp_path, "\n".join(lines)))


def test_an_empty_field_is_reported_with_its_row(tmp_path):
    with pytest.raises(FileError, match="column 'b', row 2: no value"):
        read_points(write_text(tmp_path, "a,b\n1,2\n3,\n5,6\n"))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "is empty"),
        ("a,b\n", "holds no rows"),
        ("a,b\n1,2\n3,4,5\n", "row 2: 3 fields where other rows have 2"),
        ("name,city\nx,y\nz,w\n", "no numeric column"),
    ],
)
def test_invalid_csv_files_are_refused(content, message, tmp_path):
    with pytest.raises(FileError, match=message):
        read_points(write_text(tmp_path, content))


def test_npy_and_npz_files_are_read(tmp_path):
    np.save(tmp_path / "values.npy", VALUES)
    source = read_points(tmp_path / "values.npy")
    assert isinstance(source.values, np.memmap)
    np.testing.assert_array_equal(
        read_points(tmp_path / "values.npy", ReadOptions(columns=("2",))).values, VALUES[:, [2]]
    )
    np.savez(tmp_path / "values.npz", X=VALUES, y=np.arange(4), note=np.array("text"))
    source = read_points(tmp_path / "values.npz", ReadOptions(label="y"))
    np.testing.assert_array_equal(source.values, VALUES)
    assert source.extra_columns.column_names == ["y"]
    np.savez(tmp_path / "other.npz", vectors=VALUES)
    np.testing.assert_array_equal(read_points(tmp_path / "other.npz").values, VALUES)


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"a": np.zeros((3, 2)), "b": np.zeros((3, 2))}, "must hold a matrix X"),
        ({"X": np.array([["a", "b"], ["c", "d"]])}, "matrix of numbers"),
        ({"X": np.array([[1, None], [2, 3]], dtype=object)}, "damaged, or holds objects"),
    ],
)
def test_invalid_npz_files_are_refused(arrays, message, tmp_path):
    np.savez(tmp_path / "values.npz", allow_pickle=True, **arrays)
    with pytest.raises(FileError, match=message):
        read_points(tmp_path / "values.npz")


def test_objects_in_an_npy_are_not_unpickled(tmp_path):
    np.save(tmp_path / "values.npy", np.array([[1, {}], [2, 3]], dtype=object), allow_pickle=True)
    with pytest.raises(FileError, match="holds objects"):
        read_points(tmp_path / "values.npy")


@pytest.mark.slow
def test_a_zip_bomb_is_not_unpacked(tmp_path, monkeypatch):
    monkeypatch.setattr("pixelsne.files.numpy_format.available", lambda: 1e6)
    with zipfile.ZipFile(tmp_path / "bomb.npz", "w", zipfile.ZIP_DEFLATED) as archive:
        content = io.BytesIO()
        np.save(content, np.zeros((1000, 6000)))
        archive.writestr("X.npy", content.getvalue())
    assert (tmp_path / "bomb.npz").stat().st_size < 100_000
    with pytest.raises(FileError, match=r"unpacks to 0\.0 GB, 0\.0 GB are available"):
        read_points(tmp_path / "bomb.npz")


@pytest.mark.parametrize("kind", ["csv.gz", "parquet", "feather", "npy", "npz"])
@pytest.mark.parametrize("share", [0.0, 0.3, 0.9])
def test_truncated_files_are_refused(kind, share, table, tmp_path):
    path = tmp_path / f"whole.{kind}"
    write_any(table, path)
    cut = tmp_path / f"cut.{kind}"
    cut.write_bytes(path.read_bytes()[: int(share * path.stat().st_size)])
    with pytest.raises(FileError, match=r"cut\."):
        read_points(cut)


@pytest.mark.parametrize("kind", ["csv", "parquet", "feather", "npy", "npz"])
def test_random_bytes_are_refused(kind, tmp_path):
    (tmp_path / f"noise.{kind}").write_bytes(np.random.default_rng(0).bytes(5000))
    with pytest.raises(FileError, match=r"noise\."):
        read_points(tmp_path / f"noise.{kind}")


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["csv", "csv.gz", "parquet", "feather", "npy", "npz"])
def test_damage_anywhere_is_refused_or_harmless(kind, table, tmp_path):
    """With bytes changed, removed or inserted, a file gives points or an error of one line."""
    path, rng = tmp_path / f"whole.{kind}", np.random.default_rng(0)
    write_any(table, path)
    valid = path.read_bytes()
    for _ in range(150):
        content = bytearray(valid)
        position = int(rng.integers(len(content)))
        match rng.integers(3):
            case 0:
                content[position] = int(rng.integers(256))
            case 1:
                del content[position:]
            case _:
                content[position:position] = rng.bytes(int(rng.integers(1, 9)))
        damaged = tmp_path / f"damaged.{kind}"
        damaged.write_bytes(content)
        try:
            source = read_points(damaged)
        except FileError as error:
            assert str(error).startswith(f"{damaged}: ")
            assert len(str(error).splitlines()) == 1
        else:
            assert np.isfinite(source.values).all()


def test_unknown_formats_and_missing_files_are_refused(tmp_path):
    with pytest.raises(FileError, match=r"unknown kind; known are .csv"):
        read_points(tmp_path / "table.xlsx")
    with pytest.raises(FileError, match="is a folder"):
        read_points(tmp_path)
    for kind in ("csv", "parquet", "feather", "npy", "npz"):
        with pytest.raises(FileNotFoundError):
            read_points(tmp_path / f"nothing.{kind}")


def test_row_numbers_are_not_embedded(tmp_path):
    frame = pd.DataFrame(VALUES, columns=NAMES, index=[9, 7, 5, 3])
    frame.to_csv(tmp_path / "table.csv")
    frame.to_parquet(tmp_path / "table.parquet")
    frame.iloc[:, :2].assign(both=1.5).to_csv(tmp_path / "other.csv")
    for name in ("table.csv", "table.parquet"):
        source = read_points(tmp_path / name)
        np.testing.assert_array_equal(source.values, VALUES)
        assert source.extra_columns.column(0).to_pylist() == [9, 7, 5, 3]


def test_integers_in_extra_columns_stay_integers(tmp_path):
    path = write_text(tmp_path, "id,a,b,digit\n9007199254740993,1,2,7\n9007199254740995,3,4,8\n")
    source = read_points(path, ReadOptions(columns=("a", "b"), label="digit"))
    assert source.extra_columns.column("id").to_pylist() == [9007199254740993, 9007199254740995]
    assert source.extra_columns.column("digit").to_pylist() == [7, 8]


@pytest.mark.slow
def test_extra_columns_may_mix_numbers_and_text(tmp_path):
    """A column that looks numeric for megabytes may end with a word."""
    lines = ["id,a", *[f"{row},{row / 2}" for row in range(500_000)], "none,1"]
    source = read_points(write_text(tmp_path, "\n".join(lines)), ReadOptions(columns=("a",)))
    assert source.extra_columns.column("id")[-1].as_py() == "none"
    assert source.extra_columns.column("id")[5].as_py() == "5"


def test_a_first_line_with_a_number_is_data(tmp_path):
    source = read_points(write_text(tmp_path, '1.5,cat,"a, b"\n2.5,dog,c\n'))
    assert source.values.tolist() == [[1.5], [2.5]]
    assert source.columns == ("column 0",)
    assert source.extra_columns.column("column 2").to_pylist() == ["a, b", "c"]


@pytest.mark.parametrize("columns", [("red", "red"), ()])
def test_columns_must_be_named_once(columns, table, tmp_path):
    with pytest.raises(FileError, match="--columns must name columns, each once"):
        read_points(write(table, tmp_path / "table.parquet"), ReadOptions(columns=columns))


def test_a_label_cannot_be_embedded(table, tmp_path):
    with pytest.raises(FileError, match="column 'red' is the label"):
        read_points(write(table, tmp_path / "table.parquet"), ReadOptions(columns=("red",), label="red"))


def test_tensor_columns_are_embedded(tmp_path):
    tensors = pa.FixedShapeTensorArray.from_numpy_ndarray(VALUES.reshape(4, 3))
    path = write(pa.table({"embedding": tensors, "id": [1, 2, 3, 4]}), tmp_path / "table.parquet")
    np.testing.assert_array_equal(read_points(path).values, VALUES)


def test_decimals_and_booleans_are_numbers(tmp_path):
    columns = {"price": pa.array([1.5, 2.5]).cast(pa.decimal128(5, 2)), "yes": [True, False]}
    path = write(pa.table(columns), tmp_path / "table.parquet")
    assert read_points(path).values.tolist() == [[1.5], [2.5]]
    assert read_points(path, ReadOptions(columns=("price", "yes"))).values.tolist() == [[1.5, 1], [2.5, 0]]


@pytest.mark.parametrize("bad", [np.nan, np.inf])
@pytest.mark.parametrize("kind", ["npy", "npz"])
def test_nan_and_infinity_in_arrays_are_reported_with_their_row(bad, kind, tmp_path):
    values = np.zeros((100_000, 3), dtype=np.float32)
    values[70_000, 2] = bad
    np.save(tmp_path / "v.npy", values) if kind == "npy" else np.savez(tmp_path / "v.npz", X=values)
    with pytest.raises(FileError, match=r"column 2, row 70001: NaN or infinity"):
        read_points(tmp_path / f"v.{kind}")


def test_nan_in_sparse_matrices_is_reported_with_its_row(tmp_path):
    matrix = sparse.csr_matrix(np.eye(5))
    matrix.data[3] = np.nan
    sparse.save_npz(tmp_path / "v.npz", matrix)
    with pytest.raises(FileError, match=r"column 3, row 4: NaN or infinity"):
        read_points(tmp_path / "v.npz")


def test_a_header_with_too_large_a_shape_is_refused(tmp_path):
    content = io.BytesIO()
    np.lib.format.write_array_header_1_0(content, {"descr": "<f8", "fortran_order": False, "shape": (10**9, 10**3)})
    (tmp_path / "v.npy").write_bytes(content.getvalue() + bytes(800))
    with zipfile.ZipFile(tmp_path / "v.npz", "w") as archive:
        archive.writestr("X.npy", content.getvalue() + bytes(800))
    for name in ("v.npy", "v.npz"):
        with pytest.raises(FileError, match=r"v\..*is damaged"):
            read_points(tmp_path / name)


def test_a_table_beyond_the_memory_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("pixelsne.memory.available", lambda: 1e6)
    path = write(pa.table({"a": np.zeros(200_000), "b": np.zeros(200_000)}), tmp_path / "table.parquet")
    with pytest.raises(FileError, match=r"200,000 rows of 2 numbers take another 0\.0 GB, 0\.0 GB are available"):
        read_points(path)


def test_texts_beyond_the_memory_are_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("pixelsne.files.columns.available", lambda: 1e6)
    path = write(pa.table({"a": np.zeros(5000), "b": ["long " * 100] * 5000}), tmp_path / "table.parquet")
    with pytest.raises(FileError, match="holds more than"):
        read_points(path)


def test_h5ad_needs_its_library(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "anndata", None)
    (tmp_path / "cells.h5ad").write_bytes(b"")
    with pytest.raises(FileError, match=r"pip install 'pixelsne\[anndata\]'"):
        read_points(tmp_path / "cells.h5ad")


@pytest.mark.slow
def test_an_h5ad_without_x_needs_a_representation(tmp_path):
    anndata.AnnData(obs=pd.DataFrame(index=list("abc")), obsm={"X_pca": np.eye(3)}).write_h5ad(tmp_path / "c.h5ad")
    with pytest.raises(FileError, match=r"has no X; choose one of X_pca with --rep|must hold a matrix"):
        read_points(tmp_path / "c.h5ad")
    assert read_points(tmp_path / "c.h5ad", ReadOptions(representation="X_pca")).values.shape == (3, 3)
    with pytest.raises(FileError, match=r"no array 'type' of 3 labels; it has cell"):
        read_points(tmp_path / "c.h5ad", ReadOptions(representation="X_pca", label="type"))


@pytest.mark.slow
def test_an_h5ad_beyond_the_memory_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("pixelsne.files.hdf5_process.available", lambda: 1e5)
    anndata.AnnData(np.zeros((1000, 100), dtype=np.float32)).write_h5ad(tmp_path / "c.h5ad", compression="gzip")
    with pytest.raises(FileError, match=r"unpacks to 0\.0 GB, 0\.0 GB are available"):
        read_points(tmp_path / "c.h5ad")
