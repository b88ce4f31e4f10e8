"""`embed --weight`: a column of weights, in every format."""

import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from command_line import QUICK, run
from pixelsne import PixelSNE
from pixelsne.commands.fitting import weights_of
from pixelsne.files.read_map import read_map
from pixelsne.files.read_points import read_points
from pixelsne.files.source import ReadOptions


@pytest.fixture(scope="module")
def values(digits):
    return digits[0][:200, 10:30]


@pytest.fixture(scope="module")
def weights():
    return np.where(np.arange(200) % 10, 1.0, 7.5)


@pytest.fixture(scope="module")
def expected(values, weights):
    return PixelSNE(perplexity=10, max_iter=60, random_state=0, scale="none").fit(values, weights=weights)


def write(path, values, weights, name="count"):
    columns = {f"p{index}": column for index, column in enumerate(values.T)} | {name: weights}
    table = pa.table(columns | {"kind": ["a"] * len(values)})
    if path.suffix == ".csv":
        import pyarrow.csv  # noqa: PLC0415

        pyarrow.csv.write_csv(table, path)
    else:
        pq.write_table(table, path)
    return path


@pytest.mark.parametrize("kind", ["parquet", "csv", "npz"])
def test_a_column_of_weights(kind, values, weights, expected, tmp_path):
    path = tmp_path / f"cells.{kind}"
    if kind == "npz":
        np.savez(path, X=values, count=weights)
    else:
        write(path, values, weights)
    run("embed", path, "-o", tmp_path / "map.parquet", "--weight", "count", "--scale", "none", *QUICK)
    one = read_map(tmp_path / "map.parquet")
    np.testing.assert_array_equal(one.placed, expected.embedding_)
    np.testing.assert_array_equal(one.extra_columns["count"], weights)
    assert one.metadata["weight"] == "count"
    assert one.metadata["kl_divergence"] == expected.kl_divergence_


@pytest.mark.slow
def test_cells_of_an_h5ad_file_have_weights(values, weights, expected, tmp_path):
    anndata = pytest.importorskip("anndata")
    pandas = pytest.importorskip("pandas")
    cells = pandas.DataFrame({"count": weights}, index=[str(row) for row in range(200)])
    anndata.AnnData(X=values, obs=cells).write_h5ad(tmp_path / "cells.h5ad")
    run("embed", tmp_path / "cells.h5ad", "-o", tmp_path / "map.npy", "--weight", "count", *QUICK)
    np.testing.assert_array_equal(np.load(tmp_path / "map.npy"), expected.embedding_)


def test_a_score_counts_the_weights_of_the_map(values, weights, expected, tmp_path):
    path = write(tmp_path / "cells.parquet", values, weights)
    run("embed", path, "-o", tmp_path / "map.parquet", "--weight", "count", "--scale", "none", *QUICK)
    result = json.loads(run("score", path, tmp_path / "map.parquet", "--json").stdout)
    assert result["kl_divergence"] == pytest.approx(expected.kl_divergence_, rel=1e-3)


def test_fractions_after_whole_numbers(tmp_path):
    """Arrow infers integers from the first megabytes of a csv."""
    rows = [f"{row % 97},{row % 89},1,{'x' * 200}" for row in range(20_000)]
    rows[-1] = "5,6,2.5,x"
    (tmp_path / "cells.csv").write_text("\n".join(["a,b,count,note", *rows]))
    source = read_points(tmp_path / "cells.csv", ReadOptions(weight="count"))
    assert source.columns == ("a", "b")
    assert weights_of(source, "count")[-2:].tolist() == [1.0, 2.5]


def test_a_run_with_weights_resumes_with_its_weights(values, weights, tmp_path, monkeypatch):
    monkeypatch.setattr("pixelsne.files.checkpoint.Checkpoint.remove", lambda _: None)  # as if killed at the end
    path, checkpoint = write(tmp_path / "cells.parquet", values, weights), tmp_path / "run.ckpt"
    common = ["embed", path, "-o", tmp_path / "map.parquet", *QUICK]
    run(*common, "--weight", "count", "--checkpoint", checkpoint, "--every", "0")
    first = read_map(tmp_path / "map.parquet").placed
    run(*common, "--weight", "count", "--resume", checkpoint)
    np.testing.assert_array_equal(read_map(tmp_path / "map.parquet").placed, first)
    heavier = write(tmp_path / "heavier.parquet", values, weights + 1)
    result = run("embed", heavier, *common[2:], "--weight", "count", "--resume", checkpoint, expect=1)
    assert "was made with other weights; pass those" in result.stderr


WRONG = {
    "missing": ("size", np.ones(200), r"has no column 'size'; it has p0"),
    "text": ("kind", np.ones(200), r"column 'kind' holds string, not numbers; choose another column with --weight"),
    "negative": ("count", np.arange(200) - 1.0, r"column 'count', row 1: -1 is not a weight, which must be 0 or more"),
    "no value": ("count", [*[1.0] * 199, None], r"column 'count', row 200: no value is not a weight"),
    "infinite": ("count", [*[1.0] * 199, np.inf], r"column 'count', row 200: inf is not a weight"),
    "zeros": ("count", np.zeros(200), r"column 'count' holds only zeros; some weights must be above 0; omit --weight"),
}


@pytest.mark.parametrize("wrong", WRONG)
def test_wrong_weights_are_refused(wrong, values, tmp_path):
    name, weights, message = WRONG[wrong]
    path = write(tmp_path / "cells.parquet", values, weights)
    result = run("embed", path, "-o", tmp_path / "map.csv", "--weight", name, *QUICK, expect=1)
    assert message in result.stderr
    assert not (tmp_path / "map.csv").exists()


def test_the_weight_is_not_embedded(values, weights, tmp_path):
    path = write(tmp_path / "cells.parquet", values, weights)
    result = run(
        "embed", path, "-o", tmp_path / "map.csv", "--weight", "count", "--columns", "p0,count", *QUICK, expect=1
    )
    assert "column 'count' is the weight, which is not embedded; leave it out of --columns" in result.stderr
    np.save(tmp_path / "plain.npy", values)
    result = run("embed", tmp_path / "plain.npy", "-o", tmp_path / "map.csv", "--weight", "count", *QUICK, expect=1)
    assert "has no array 'count' of 200 weights; it has none" in result.stderr


def test_a_typo_among_the_weights_of_a_csv(values, weights, tmp_path):
    path = write(tmp_path / "cells.csv", values, weights)
    path.write_text(path.read_text().replace("7.5", "7.5x", 1))
    result = run("embed", path, "-o", tmp_path / "map.csv", "--weight", "count", *QUICK, expect=1)
    assert "column 'count', row 1: '7.5x' is not a number" in result.stderr


def test_weights_are_for_one_machine(values, weights, tmp_path):
    pytest.importorskip("distributed")
    path = write(tmp_path / "cells.parquet", values, weights)
    result = run("embed", path, "-o", tmp_path / "map", "--cluster", "local", "--weight", "count", expect=2)
    assert "--weight is for one machine: omit it, or omit --cluster" in result.stderr
