"""The version is in every file that can store it, and files without it are read."""

import json
import zipfile

import anndata
import matplotlib.image
import numpy as np
import pyarrow.parquet as pq
import pytest

from command_line import QUICK, run
from pixelsne import PixelSNE, __version__
from pixelsne.files.read_map import read_map
from pixelsne.viewer.serving import map_bytes

KEY = "pixelsne_version"


@pytest.fixture(scope="module")
def results(cells, tmp_path_factory):
    """One result of each kind."""
    folder = tmp_path_factory.mktemp("results")
    extras = ["--model", folder / "model", "--html", folder / "map.html", "--plot", folder / "map.png"]
    report = run("embed", cells, "-o", folder / "map.parquet", *extras, "--label", "kind", "--json", *QUICK).stdout
    new = run("transform", folder / "model", cells, "-o", folder / "new.npz", "--json", "--quiet").stdout
    run("transform", folder / "model", cells, "-o", folder / "new.h5ad", "--quiet")
    score = run("score", cells, folder / "map.parquet", "--json").stdout
    return folder, [json.loads(text) for text in (report, new, score)]


@pytest.mark.slow
def test_maps_contain_the_version(results):
    folder, _ = results
    raw = {
        "map.parquet": pq.read_schema(folder / "map.parquet").metadata[b"pixelsne"],
        "new.npz": str(np.load(folder / "new.npz")["pixelsne"]),
        "new.h5ad": anndata.read_h5ad(folder / "new.h5ad").uns["pixelsne"],
    }
    for name, report in raw.items():
        assert json.loads(report)[KEY] == __version__, name
        assert read_map(folder / name).metadata[KEY] == __version__, name


def test_json_results_contain_the_version(results):
    assert [report[KEY] for report in results[1]] == [__version__] * 3


def test_a_rewritten_map_keeps_its_version(results):
    one = read_map(results[0] / "map.parquet")
    one.metadata[KEY] = "0.1.7"
    (results[0] / "some.npz").write_bytes(map_bytes(one, np.arange(5), "npz"))
    assert read_map(results[0] / "some.npz").metadata[KEY] == "0.1.7"


def test_a_map_without_a_version_is_read(results, tmp_path):
    report = json.loads(pq.read_schema(results[0] / "map.parquet").metadata[b"pixelsne"])
    del report[KEY]
    table = pq.read_table(results[0] / "map.parquet").replace_schema_metadata(
        {b"pixelsne": json.dumps(report).encode()}
    )
    pq.write_table(table, tmp_path / "map.parquet")
    assert KEY not in read_map(tmp_path / "map.parquet").metadata


def test_models_contain_the_version_and_are_read_without_it(results, tmp_path):
    with zipfile.ZipFile(results[0] / "model") as archive, zipfile.ZipFile(tmp_path / "older", "w") as older:
        for name in archive.namelist():
            content = archive.read(name)
            if name == "document.json":
                document = json.loads(content)
                assert document.pop(KEY) == __version__
                content = json.dumps(document).encode()
            older.writestr(name, content)
    model = PixelSNE.load(tmp_path / "older")
    np.testing.assert_array_equal(model.embedding_, PixelSNE.load(results[0] / "model").embedding_)


@pytest.mark.slow
def test_pictures_and_pages_contain_the_version(results, tmp_path):
    folder, _ = results
    with (folder / "map.png").open("rb") as file:
        assert f"pixelsne {__version__}".encode() in file.read(500)
    assert matplotlib.image.imread(folder / "map.png").size
    for kind in ("svg", "pdf"):
        run("plot", folder / "map.parquet", "-o", tmp_path / f"map.{kind}")
        assert f"pixelsne {__version__}".encode() in (tmp_path / f"map.{kind}").read_bytes()
    assert f'<meta name="generator" content="pixelsne {__version__}">' in (folder / "map.html").read_text()
