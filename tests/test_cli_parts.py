"""Maps in a folder of parts, as `embed --cluster` writes them."""

import gzip
import json
from pathlib import Path

import matplotlib.image
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from scipy import sparse

from command_line import QUICK, run
from pixelsne import PixelSNE, viewer
from pixelsne.distributed.files import write_part
from pixelsne.files.errors import FileError
from pixelsne.files.read_map import read_map
from pixelsne.files.read_parts import read_file_or_parts
from pixelsne.files.source import ReadOptions

NAMES = ("b", "a", "c")  # not in the order of the rows


@pytest.fixture(scope="module")
def parts(cells, tmp_path_factory):
    """The cells in three files, and their map in three other files."""
    folder = tmp_path_factory.mktemp("parts")
    (folder / "points").mkdir()
    (folder / "map").mkdir()
    table, options = pq.read_table(cells), ReadOptions(label="kind")
    values = np.stack([table[name].to_numpy() for name in table.column_names[:64]], axis=1)
    model = PixelSNE(perplexity=10, max_iter=60, random_state=0).fit(values)
    figures = {"settings": {"perplexity": 10.0, "n_pca": 50}, "seed": 0, "parts": len(NAMES)}
    for number, (name, rows) in enumerate(zip(NAMES, np.array_split(np.arange(300), 3), strict=True)):
        points = folder / "points" / f"{number}.parquet"
        pq.write_table(table.drop_columns(["age"]).take(rows), points)
        target = str(folder / "map" / f"{name}.parquet")
        placed = model.embedding_[rows]
        write_part(placed, str(points), target, number, options, model.screen_, figures)
    return folder, table, model


def test_a_folder_is_read_as_one_map(parts):
    folder, table, model = parts
    one = read_map(folder / "map")
    np.testing.assert_array_equal(one.placed, model.embedding_)
    assert one.resolution == (1024, 1024)
    assert one.extra_columns["kind"].to_pylist() == table["kind"].to_pylist()
    assert one.metadata["seed"] == 0
    assert not {"part", "parts"} & one.metadata.keys()


@pytest.mark.slow
def test_a_folder_is_drawn_viewed_and_scored(parts, tmp_path):
    folder, _, model = parts
    run("plot", folder / "map", "-o", tmp_path / "folder.png")
    run("plot", folder / "map", "-o", tmp_path / "folder.html")
    assert len(np.unique(matplotlib.image.imread(tmp_path / "folder.png").reshape(-1, 4), axis=0)) > 10
    with viewer.show(folder / "map", open_browser=False) as view:
        assert view._server.page.n == 300
    for points in (folder / "points", folder / "points" / "*.parquet"):
        report = json.loads(run("score", points, folder / "map", "--label", "kind", "--json").stdout)
        assert report["rows"] == 300
        assert report["kl_divergence"] == pytest.approx(model.kl_divergence_, rel=1e-3)


def test_new_rows_may_come_in_parts(parts, cells, tmp_path):
    folder, _, _ = parts
    columns_option = ["--columns", ",".join(f"p{index}" for index in range(64))]
    run("embed", cells, "-o", tmp_path / "old.npy", "--model", tmp_path / "m.pixelsne", *columns_option, *QUICK)
    run("transform", tmp_path / "m.pixelsne", folder / "points", "-o", tmp_path / "new.npy")
    np.testing.assert_array_equal(np.load(tmp_path / "new.npy"), np.load(tmp_path / "old.npy"))


def copy(folder, target, *names):
    target.mkdir()
    for name in names:
        (target / name).write_bytes((folder / "map" / name).read_bytes())
    return target


def test_a_missing_part_is_refused(parts, tmp_path):
    incomplete = copy(parts[0], tmp_path / "map", "a.parquet", "c.parquet")
    result = run("plot", incomplete, "-o", tmp_path / "map.png", expect=1)
    assert "holds 2 parts of a map that has 3" in result.stderr


def test_parts_of_two_maps_are_refused(parts, tmp_path):
    mixed = copy(parts[0], tmp_path / "map", "a.parquet", "b.parquet")
    metadata = {b"pixelsne": json.dumps({"resolution": [1024, 1024], "seed": 1}).encode()}
    pq.write_table(pq.read_table(mixed / "a.parquet").replace_schema_metadata(metadata), mixed / "d.parquet")
    with pytest.raises(FileError, match=r"d\.parquet: is a part of another map than a\.parquet"):
        read_map(mixed)


def test_a_folder_without_maps_is_refused(tmp_path):
    (tmp_path / "notes.doc").touch()
    with pytest.raises(FileError, match="holds no file that can be read"):
        read_map(tmp_path)


def test_parts_with_different_columns_are_refused(tmp_path):
    for name, columns in {"a": {"p": [1.5, 2.5]}, "b": {"q": [1.5, 2.5]}}.items():
        pq.write_table(pa.table(columns), tmp_path / f"{name}.parquet")
    with pytest.raises(FileError, match=r"b\.parquet: has other columns than .*a\.parquet; .* --columns"):
        read_file_or_parts(tmp_path, ReadOptions())
    (tmp_path / "b.parquet").unlink()
    pq.write_table(pa.table({"p": [1.5], "along": ["text"]}), tmp_path / "c.parquet")
    assert read_file_or_parts(tmp_path, ReadOptions()).values.tolist() == [[1.5], [2.5], [1.5]]


@pytest.mark.parametrize("pattern", ["", "*.gz"])
def test_gzipped_parts_are_read(tmp_path, pattern):
    (tmp_path / "a.csv.gz").write_bytes(gzip.compress(b"p,q\n1.5,2.5\n3.5,4.5\n"))
    (tmp_path / "b.tsv.gz").write_bytes(gzip.compress(b"p\tq\n5.5\t6.5\n"))
    (tmp_path / "c.npy.gz").touch()  # npy files cannot be gzipped
    source = read_file_or_parts(tmp_path / pattern, ReadOptions())
    assert source.values.tolist() == [[1.5, 2.5], [3.5, 4.5], [5.5, 6.5]]


def test_sparse_parts_are_read_as_one_matrix(tmp_path):
    matrix = sparse.random(40, 30, 0.2, format="csr", random_state=0)
    sparse.save_npz(tmp_path / "a.npz", matrix[:15])
    sparse.save_npz(tmp_path / "b.npz", matrix[15:])
    read = read_file_or_parts(Path(tmp_path), ReadOptions()).values
    np.testing.assert_array_equal(read.toarray(), matrix.toarray())
