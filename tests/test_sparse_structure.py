"""Sparse matrices with inconsistent arrays are refused before any index is used."""

import subprocess
import sys

import anndata
import h5py
import numpy as np
import pytest
from scipy import sparse

from pixelsne import PixelSNE
from pixelsne.files.errors import FileError
from pixelsne.files.read_points import read_points
from pixelsne.sparse_structure import StructureError, to_csr

FORMATS = ("csr", "csc", "bsr", "coo", "dia", "lil", "dok")
OUT_OF_RANGE = 2_000_000_000


def counts(kind="csr"):
    matrix = sparse.random(60, 30, 0.2, format="csr", random_state=0)
    return matrix.asformat(kind)


def quick(**changes):
    return PixelSNE(**({"perplexity": 5, "max_iter": 20, "random_state": 0} | changes))


def break_entry(part, index, value):
    def change(matrix):
        getattr(matrix, part)[index] = value

    return change


def replace_part(part, make):
    def change(matrix):
        setattr(matrix, part, make(getattr(matrix, part)))

    return change


BROKEN = [
    ("csr", break_entry("indices", 7, OUT_OF_RANGE)),
    ("csr", break_entry("indices", 7, 30)),
    ("csr", break_entry("indices", 7, -1)),
    ("csr", break_entry("indptr", 9, OUT_OF_RANGE)),
    ("csr", break_entry("indptr", 9, 0)),
    ("csr", break_entry("indptr", 0, 3)),
    ("csr", break_entry("indptr", -1, OUT_OF_RANGE)),
    ("csr", replace_part("indices", lambda part: part.astype(np.float64))),
    ("csr", replace_part("indices", lambda part: part[:-5])),
    ("csr", replace_part("indptr", lambda part: part[:-5])),
    ("csr", replace_part("data", lambda part: part[:-5])),
    ("csr", replace_part("data", lambda part: part.astype(object))),
    ("csc", break_entry("indices", 7, OUT_OF_RANGE)),
    ("csc", break_entry("indptr", 9, OUT_OF_RANGE)),
    ("bsr", break_entry("indices", 0, OUT_OF_RANGE)),
    ("bsr", break_entry("indptr", 1, -5)),
    ("bsr", replace_part("data", lambda part: part[:, :, 0])),
    ("coo", lambda matrix: matrix.row.__setitem__(3, OUT_OF_RANGE)),
    ("coo", lambda matrix: matrix.col.__setitem__(3, -1)),
    ("coo", replace_part("data", lambda part: part[:-5])),
    ("dia", break_entry("offsets", 0, OUT_OF_RANGE)),
    ("dia", break_entry("offsets", 0, -60)),
    ("dia", replace_part("offsets", lambda part: np.repeat(part[:1], len(part)))),
    ("dia", replace_part("data", lambda part: part[:-1])),
    ("lil", lambda matrix: matrix.rows[2].append(OUT_OF_RANGE)),
    ("lil", lambda matrix: matrix.rows.__setitem__(2, [0.5] * len(matrix.data[2]))),
    ("lil", lambda matrix: matrix.rows[2].__setitem__(0, OUT_OF_RANGE)),
    ("dok", lambda matrix: matrix._dict.__setitem__((OUT_OF_RANGE, 0), 1.0)),
]


@pytest.mark.parametrize(("kind", "change"), BROKEN)
def test_an_inconsistent_structure_is_refused(kind, change):
    matrix = counts(kind)
    if kind == "lil":
        matrix.rows[2], matrix.data[2] = [1, 4], [1.0, 2.0]
    change(matrix)
    with pytest.raises(StructureError):
        to_csr(matrix)


@pytest.mark.slow
def test_the_estimator_refuses_an_inconsistent_matrix():
    """Runs in a separate process, because earlier code crashed here."""
    program = """
import numpy as np
from scipy import sparse
from pixelsne import PixelSNE

def broken():
    matrix = sparse.random(60, 60, 0.2, format="csr", random_state=0)
    matrix.indices[7] = 2_000_000_000
    return matrix

good = sparse.random(60, 60, 0.2, format="csr", random_state=0)
fitted = PixelSNE(perplexity=5, max_iter=20).fit(good)
graphs = [PixelSNE(perplexity=5, max_iter=20, metric=name) for name in ("precomputed", "affinities")]
calls = [model.fit for model in (PixelSNE(), PixelSNE(metric="manhattan"), *graphs)] + [fitted.transform]
for call in calls:
    try:
        call(broken())
    except ValueError as error:
        print("X is no valid sparse matrix: its indices[7] is 2000000000" in str(error))
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["True"] * 5


@pytest.mark.parametrize("kind", FORMATS)
def test_every_format_gives_the_same_matrix(kind):
    matrix = counts(kind)
    checked = to_csr(matrix)
    assert checked.has_canonical_format
    np.testing.assert_array_equal(checked.toarray(), counts().toarray())


def test_unsorted_indices_and_duplicates_are_normalized_in_a_copy():
    matrix = sparse.csr_array((np.array([1.0, 2.0, 3.0]), np.array([2, 0, 2]), np.array([0, 3])), shape=(1, 3))
    matrix.has_canonical_format = True  # wrong
    assert to_csr(matrix).toarray().tolist() == [[2.0, 0.0, 4.0]]
    assert matrix.indices.tolist() == [2, 0, 2]


def test_a_canonical_matrix_is_not_copied():
    matrix = counts()
    assert np.shares_memory(to_csr(matrix).data, matrix.data)


@pytest.mark.parametrize("metric", ["euclidean", "manhattan"])
def test_64_bit_indices_give_the_same_map(metric):
    matrix = counts()
    wide = matrix.copy()
    wide.indices, wide.indptr = wide.indices.astype(np.int64), wide.indptr.astype(np.int64)
    model = quick(metric=metric).fit(wide)
    np.testing.assert_array_equal(model.embedding_, quick(metric=metric).fit_transform(matrix))
    np.testing.assert_array_equal(model.transform(wide[:5]), model.embedding_[:5])


def parts_of(kind):
    matrix = counts(kind)
    names = {"csr": ("indices", "indptr"), "coo": ("row", "col"), "dia": ("offsets",)}[kind]
    return {"format": np.array(kind.encode()), "shape": np.array(matrix.shape), "data": matrix.data} | {
        name: getattr(matrix, name).copy() for name in names
    }


@pytest.mark.parametrize(
    ("kind", "part", "value"),
    [
        ("csr", "indices", OUT_OF_RANGE),
        ("csr", "indices", 30),
        ("csr", "indptr", OUT_OF_RANGE),
        ("csr", "shape", 7),
        ("coo", "row", 60),
        ("dia", "offsets", OUT_OF_RANGE),
    ],
)
def test_inconsistent_npz_files_are_refused(kind, part, value, tmp_path):
    parts = parts_of(kind)
    parts[part][1 if part == "shape" else 3] = value
    np.savez(tmp_path / "counts.npz", **parts)
    with pytest.raises(FileError, match=r"counts\.npz: is damaged"):
        read_points(tmp_path / "counts.npz")


def test_npz_files_with_indices_that_are_not_integers(tmp_path):
    parts = parts_of("csr")
    np.savez(tmp_path / "counts.npz", **(parts | {"indices": parts["indices"] + 0.5}))
    with pytest.raises(FileError, match="its indices are float64, not integers"):
        read_points(tmp_path / "counts.npz")


def test_npz_files_that_claim_more_rows_than_they_fill(tmp_path):
    parts = parts_of("coo")
    np.savez(tmp_path / "counts.npz", **(parts | {"shape": np.array([10**9, 30])}))
    with pytest.raises(FileError, match=r"claims to have shape \(1000000000, 30\), but holds 360 numbers"):
        read_points(tmp_path / "counts.npz")


@pytest.mark.slow
@pytest.mark.parametrize("part", ["indices", "indptr"])
@pytest.mark.parametrize("kind", ["csr", "csc"])
def test_inconsistent_h5ad_files_are_refused(kind, part, tmp_path):
    path = tmp_path / "cells.h5ad"
    anndata.AnnData(counts(kind)).write_h5ad(path)
    with h5py.File(path, "r+") as file:
        file[f"X/{part}"][3] = OUT_OF_RANGE
    with pytest.raises(FileError, match=rf"cells\.h5ad: is damaged: its {part}"):
        read_points(path)
