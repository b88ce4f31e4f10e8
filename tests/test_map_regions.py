"""Regions in map files: written, read back, and ignored if damaged."""

import json
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from command_line import QUICK, run
from mutations import mutate
from pixelsne import PixelSNE
from pixelsne.commands.interrupts import Stopped
from pixelsne.files.errors import FileError
from pixelsne.files.maps import METADATA_KEY, Map
from pixelsne.files.read_map import read_map
from pixelsne.files.stored_regions import stored_names
from pixelsne.files.write_map import write_map
from pixelsne.map_regions import regions_of, with_regions
from pixelsne.regions import Region, Regions

CENTERS = np.stack(np.meshgrid([150, 400, 650, 900], [150, 500, 850]), axis=-1).reshape(-1, 2)
KINDS = np.repeat(np.arange(12), 60)


@pytest.fixture(scope="module")
def map_():
    noise = np.random.default_rng(0).normal(scale=15, size=(720, 2))
    columns = {"kind": [f"kind {code}" for code in KINDS], "region_1": KINDS, "x": KINDS}
    return with_regions(Map((CENTERS[KINDS] + noise).astype(np.float32), (1024, 1024), pa.table(columns)))


def assert_same(first, second):
    assert first.regions == second.regions
    assert len(first.indices) == len(second.indices)
    for pair in zip(first.indices, second.indices, strict=True):
        np.testing.assert_array_equal(*pair)


@pytest.mark.parametrize("suffix", ["parquet", "npz", "h5ad"])
def test_regions_are_read_back(suffix, map_, tmp_path):
    path = tmp_path / f"map.{suffix}"
    write_map(path, map_)
    read = read_map(path)
    assert_same(read.regions, map_.regions)
    assert {region.name for region in read.regions.regions} == {f"kind {code}" for code in range(12)}
    assert {"kind", "region_1"} <= set(read.extra_columns.column_names)
    assert read.extra_columns.column("region_1").to_pylist() == KINDS.tolist()
    assert "regions" not in read.metadata
    write_map(tmp_path / f"again.{suffix}", read)
    assert_same(read_map(tmp_path / f"again.{suffix}").regions, map_.regions)


def test_regions_are_added_to_a_copy_of_an_h5ad_file(map_, tmp_path):
    anndata, pandas = pytest.importorskip("anndata"), pytest.importorskip("pandas")
    obs = pandas.DataFrame({"kind": KINDS.astype(str)}, index=[str(row) for row in range(720)])
    anndata.AnnData(np.zeros((720, 3), np.float32), obs=obs).write_h5ad(tmp_path / "cells.h5ad")
    for source, target in (("cells", "map"), ("map", "again")):
        write_map(tmp_path / f"{target}.h5ad", replace(map_, source=tmp_path / f"{source}.h5ad"))
        assert_same(read_map(tmp_path / f"{target}.h5ad").regions, map_.regions)
    read = anndata.read_h5ad(tmp_path / "again.h5ad")
    assert list(read.obs.columns) == ["kind", "region_1"]
    assert read.obs["region_1"].iloc[0] == "kind 0"


def test_a_column_of_the_input_is_never_replaced_by_that_of_a_region(map_, tmp_path):
    anndata, pandas = pytest.importorskip("anndata"), pytest.importorskip("pandas")
    obs = pandas.DataFrame({"region_1": KINDS.astype(str), "region_9": "far"}, index=[str(row) for row in range(720)])
    anndata.AnnData(np.zeros((720, 3), np.float32), obs=obs).write_h5ad(tmp_path / "cells.h5ad")
    for source, target in (("cells", "map"), ("map", "again")):
        write_map(tmp_path / f"{target}.h5ad", replace(map_, source=tmp_path / f"{source}.h5ad"))
    read = anndata.read_h5ad(tmp_path / "again.h5ad")
    assert list(read.obs.columns) == ["region_1", "region_9"]
    assert list(read.obs["region_1"]) == list(obs["region_1"])
    assert read_map(tmp_path / "again.h5ad").regions is None


def test_columns_of_a_csv_file_name_the_regions(map_, tmp_path):
    write_map(tmp_path / "map.csv", map_)
    read = read_map(tmp_path / "map.csv")
    assert read.regions is None
    assert read.extra_columns.column("region_1").to_pylist()[0] == "kind 0"


@pytest.mark.parametrize("names", ["none", {0: "#1", 1: "#2"}, {0: "<b>", 1: "two\nlines", 2: "\ud800"}])
def test_any_names_are_read_back(names, map_, tmp_path):
    named = with_regions(map_, names)
    write_map(tmp_path / "map.parquet", named)
    assert_same(read_map(tmp_path / "map.parquet").regions, named.regions)


def damaged(entry, **values):
    return entry | values


@pytest.mark.parametrize(
    "damage",
    [
        str,
        lambda table: table[:0],
        lambda table: [None] * len(table),
        lambda table: table[1:],
        lambda table: table + table[:1],
        lambda table: [damaged(entry, level=0) for entry in table],
        lambda table: [damaged(entry, level=True) for entry in table],
        lambda table: [damaged(entry, level=10**12) for entry in table],
        lambda table: [damaged(entry, parent=0) for entry in table],
        lambda table: [damaged(entry, count=entry["count"] + 1) for entry in table],
        lambda table: [damaged(entry, count=-1) for entry in table],
        lambda table: [damaged(entry, name="other") for entry in table],
        lambda table: [damaged(entry, name=7) for entry in table],
        lambda table: [damaged(entry, name="\ud800") for entry in table],
        lambda table: [damaged(entry, center=[0, 9999]) for entry in table],
        lambda table: [damaged(entry, center=[float("nan"), 0]) for entry in table],
        lambda table: [damaged(entry, center="xy") for entry in table],
        lambda table: [damaged(entry, rows=[720]) for entry in table],
        lambda table: [damaged(entry, rows=None) for entry in table],
        lambda table: [damaged(entry, color="red") for entry in table],
        lambda table: [damaged(entry, color="#12345g") for entry in table],
    ],
)
def test_damaged_regions_are_ignored(damage, map_, tmp_path):
    path = tmp_path / "map.parquet"
    write_map(path, map_)
    table = pq.read_table(path)
    metadata = json.loads(table.schema.metadata[METADATA_KEY.encode()])
    metadata["regions"] = damage(metadata["regions"])
    pq.write_table(table.replace_schema_metadata({METADATA_KEY: json.dumps(metadata)}), path)
    read = read_map(path)
    assert read.regions is None
    np.testing.assert_array_equal(read.placed, map_.placed)


def test_mutated_regions_are_read_or_refused(map_, tmp_path):
    path, random = tmp_path / "map.parquet", np.random.default_rng(0)
    write_map(path, map_)
    table = pq.read_table(path)
    content = table.schema.metadata[METADATA_KEY.encode()]
    outcomes = set()
    for _ in range(150):
        pq.write_table(table.replace_schema_metadata({METADATA_KEY: mutate(content, random)}), path)
        try:
            outcomes.add(read_map(path).regions is None)
        except FileError:
            outcomes.add("refused")
    assert outcomes >= {True, "refused"}


@pytest.mark.parametrize("change", ["missing", "other", "numbers"])
def test_columns_that_do_not_fit_the_regions_are_ignored(change, map_, tmp_path):
    path = tmp_path / "map.parquet"
    write_map(path, map_)
    table = pq.read_table(path)
    index = table.column_names.index("region_1")
    new = {"missing": None, "other": ["who"] * 720, "numbers": [1.5] * 720}[change]
    table = table.remove_column(index) if new is None else table.set_column(index, "region_1", pa.array(new))
    pq.write_table(table, path)
    assert read_map(path).regions is None


def test_stored_regions_are_used_unless_other_names_are_wanted(map_):
    assert regions_of(map_) is map_.regions
    other = regions_of(map_, "none")
    assert [region.center for region in other.regions] == [region.center for region in map_.regions.regions]
    assert {region.name for region in other.regions} == {""}


def test_map_without_regions_is_read_back(tmp_path):
    few = with_regions(Map(np.array([(1, 2), (3, 4), (5, 6)], dtype=np.float32), (8, 8)))
    assert few.regions.regions == ()
    write_map(tmp_path / "map.parquet", few)
    assert read_map(tmp_path / "map.parquet").regions is None


@pytest.fixture(scope="module")
def embedded(tmp_path_factory):
    """Return an input with clusters and texts."""
    folder = tmp_path_factory.mktemp("embedded")
    random = np.random.default_rng(0)
    codes = np.repeat(np.arange(4), 60)
    values = 20 * np.eye(4)[codes] + random.normal(size=(240, 4))
    words = np.array(["ignition", "Snowden", "vaccine", "hockey"])[codes]
    texts = [f"the news about {word} number {row}" for row, word in enumerate(words)]
    columns = {f"v{index}": values[:, index] for index in range(4)} | {"text": texts, "kind": words}
    pq.write_table(pa.table(columns), folder / "input.parquet")
    return folder


def test_embed_names_regions(embedded):
    run("embed", embedded / "input.parquet", "-o", embedded / "map.parquet", *QUICK)
    read = read_map(embedded / "map.parquet")
    names = [region.name for region in read.regions.level(1)]
    assert {word for name in names for word in name.split(" · ")} == {"ignition", "Snowden", "vaccine", "hockey"}
    assert {"region_1", "kind"} <= set(pq.read_schema(embedded / "map.parquet").names)
    run("score", embedded / "input.parquet", embedded / "map.parquet")
    run("plot", embedded / "map.parquet", "-o", embedded / "map.png", "--color", "region_1")


def test_embed_without_names_or_by_a_column(embedded):
    run("embed", embedded / "input.parquet", "-o", embedded / "plain.npz", "--names", "none", *QUICK)
    assert {region.name for region in read_map(embedded / "plain.npz").regions.regions} == {""}
    run("embed", embedded / "input.parquet", "-o", embedded / "kinds.npz", "--names", "kind", *QUICK)
    assert {region.name.split(" (")[0] for region in read_map(embedded / "kinds.npz").regions.regions} >= {"hockey"}
    failed = run("embed", embedded / "input.parquet", "-o", embedded / "no.npz", "--names", "titel", *QUICK, expect=1)
    assert "has no column 'titel' to name regions by" in failed.output
    assert not (embedded / "no.npz").exists()


def test_model_has_regions():
    random = np.random.default_rng(0)
    codes = np.repeat(np.arange(4), 60)
    model = PixelSNE(max_iter=60, perplexity=10, random_state=0).fit(
        20 * np.eye(4)[codes] + random.normal(size=(240, 4))
    )
    regions = model.regions({"kind": np.array(list("abcd"))[codes]})
    assert isinstance(regions, Regions)
    assert {kind for region in regions.level(1) for kind in region.name.split(" (")[0].split(" · ")} == set("abcd")
    assert regions.point_colors().shape == (240, 3)


def test_very_many_equal_names_are_stored_at_once():
    regions = [Region(1, "a" if index % 2 else "", (0.0, 0.0), 1, -1, (), "#000000") for index in range(20_000)]
    names = stored_names(regions)
    assert len(set(names)) == len(names)
    assert names[:4] == ["#1", "a", "#3", "a (2)"]


@pytest.mark.parametrize("problem", [MemoryError("too large"), Stopped(2)])
def test_a_map_is_written_even_if_its_regions_fail(problem, cells, tmp_path, monkeypatch):
    def fail(*_):
        raise problem

    monkeypatch.setattr("pixelsne.map_regions.find_regions", fail)
    result = run("embed", cells, "-o", tmp_path / "map.parquet", *(option for option in QUICK if option != "--quiet"))
    assert "the map is written without regions" in result.stderr
    assert read_map(tmp_path / "map.parquet").regions is None
