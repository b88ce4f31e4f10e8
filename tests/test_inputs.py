"""Accepted input: any type and layout of numbers, dense, sparse or on disk."""

import os

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.metrics import pairwise_distances

from pixelsne import PixelSNE
from pixelsne.choices import PRECOMPUTED_METRICS
from pixelsne.distributed.reduce import read_block
from pixelsne.reduce import reduce
from pixelsne.spaces import METRICS_FOR_SPARSE

DTYPES = [np.float16, np.float32, np.float64, np.int8, np.uint8, np.int32, np.uint64, np.bool_]


def quick(**changes):
    return PixelSNE(**({"perplexity": 10, "max_iter": 60, "random_state": 0} | changes))


@pytest.fixture(scope="module")
def counts(digits):
    return digits[0][:150]


@pytest.mark.parametrize("dtype", DTYPES)
def test_any_dtype_gives_the_map_of_its_values(dtype, counts):
    values = (counts > 8 if dtype is np.bool_ else counts).astype(dtype)
    np.testing.assert_array_equal(quick().fit_transform(values), quick().fit_transform(values.astype(np.float64)))


def layouts(values, folder):
    wide = np.zeros((len(values), 2 * values.shape[1]))
    wide[:, ::2] = values
    frozen = values.copy()
    frozen.flags.writeable = False
    on_disk = np.memmap(folder / "values.dat", dtype=np.float64, mode="w+", shape=values.shape)
    on_disk[:] = values
    return {
        "fortran": np.asfortranarray(values),
        "strided": wide[:, ::2],
        "backward": values[::-1].copy()[::-1],
        "read-only": frozen,
        "memmap": on_disk,
        "list": values.tolist(),
        "big-endian": values.astype(">f8"),
        "objects": values.astype(object),
    }


@pytest.mark.parametrize(
    "layout", ["fortran", "strided", "backward", "read-only", "memmap", "list", "big-endian", "objects"]
)
def test_any_layout_gives_the_same_map(layout, counts, tmp_path):
    np.testing.assert_array_equal(
        quick().fit_transform(layouts(counts, tmp_path)[layout]), quick().fit_transform(counts)
    )


@pytest.mark.parametrize("kind", [sparse.csr_array, sparse.csc_matrix, sparse.coo_array])
@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
def test_sparse_input_gives_the_points_of_dense_input(kind, metric, counts):
    model = quick(n_pca=20, metric=metric)
    dense = model.fit(counts)._fitted_map.space.points
    filled = quick(n_pca=20, metric=metric).fit(kind(counts))._fitted_map.space.points
    np.testing.assert_allclose(filled, dense, atol=1e-4)


def random_sparse(random, rows, columns, count):
    coordinates = random.integers(0, rows, count), random.integers(0, columns, count)
    return sparse.csr_array((random.uniform(size=count), coordinates), shape=(rows, columns))


@pytest.mark.slow
def test_very_wide_sparse_input_is_never_made_dense(random, monkeypatch):
    values = random_sparse(random, 300, 30_000, 9000)
    monkeypatch.setattr(sparse.csr_array, "toarray", lambda _: pytest.fail("was made dense"))
    assert np.isfinite(quick().fit_transform(values)).all()


@pytest.mark.slow
def test_components_of_wide_input_against_an_svd(random):
    values = random.normal(size=(200, 3000)) * 0.1 + random.normal(size=(200, 5)) @ random.normal(size=(5, 3000))
    centered = values - values.mean(axis=0)
    left, sizes, _ = np.linalg.svd(centered, full_matrices=False)
    true = left[:, :5] * sizes[:5] / centered.std()
    for rows in (values, sparse.csr_array(values)):
        found = reduce(rows, 5, 0)
        np.testing.assert_allclose(np.abs(found), np.abs(true), atol=2e-3 * np.abs(true).max())


def test_sparse_without_reduction_needs_few_columns(counts):
    assert quick(n_pca=None).fit(sparse.csr_array(counts)).embedding_.shape == (150, 2)
    wide = random_sparse(np.random.default_rng(0), 50, 5000, 2500)
    with pytest.raises(ValueError, match="n_pca=None would convert"):
        quick(n_pca=None).fit(wide)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_sparse_must_be_finite(bad, counts):
    values = sparse.csr_array(counts)
    values.data[5] = bad
    with pytest.raises(ValueError, match=r"NaN|infinity"):
        quick().fit(values)


@pytest.fixture
def masked(counts):
    hidden = np.zeros(counts.shape, dtype=bool)
    hidden[3, 2] = hidden[7, 60] = True
    return np.ma.masked_array(counts, mask=hidden)


def test_masked_entries_are_refused(masked, counts):
    """Masked entries are missing values. Fill values of files are often among them."""
    with pytest.raises(ValueError, match=r"X has 2 masked entries, the first at \[3, 2\].*pass X.filled\(value\)"):
        quick().fit(masked)
    with pytest.raises(ValueError, match="2 masked entries"):
        quick().fit(counts).transform(masked)
    assert np.isfinite(quick().fit_transform(masked.filled(0))).all()  # the remedy in the message


@pytest.mark.parametrize("mask", [np.ma.nomask, False])
def test_an_empty_mask_has_no_effect(mask, counts):
    bare = np.ma.masked_array(counts, mask=mask)
    np.testing.assert_array_equal(quick().fit_transform(bare), quick().fit_transform(counts))


def test_masked_partitions_are_refused(masked, counts):
    with pytest.raises(ValueError, match=r"partition 4 of X has 2 masked entries.*da.ma.filled\(X, value\)"):
        read_block(masked, 4)
    assert np.array_equal(read_block(np.ma.masked_array(counts), 0).values, counts)


def with_indices(matrix, dtype):
    """Return a matrix with indices of this type, as scipy makes them when it joins large matrices."""
    matrix = sparse.csr_array(matrix)
    matrix.indices, matrix.indptr = matrix.indices.astype(dtype), matrix.indptr.astype(dtype)
    return matrix


def sparse_input(metric, counts):
    if metric not in PRECOMPUTED_METRICS:
        return counts
    distances = pairwise_distances(counts)
    farthest = np.sort(distances, axis=1)[:, 40:41]
    return np.where(distances <= farthest, distances if metric == "precomputed" else np.exp(-distances / 10), 0)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.*too large for a graph")
@pytest.mark.parametrize("metric", [*METRICS_FOR_SPARSE, *PRECOMPUTED_METRICS])
def test_64_bit_indices_give_the_same_map(metric, counts):
    values = sparse_input(metric, counts)
    narrow, wide = (with_indices(values, dtype) for dtype in (np.int32, np.int64))
    model, expected = quick(metric=metric).fit(wide), quick(metric=metric).fit(narrow)
    np.testing.assert_array_equal(model.embedding_, expected.embedding_)
    if metric != "affinities":
        new = with_indices(0.9 * values[:9], np.int64)
        np.testing.assert_array_equal(model.transform(new), expected.transform(new))
        np.testing.assert_array_equal(expected.transform(new), quick(metric=metric).fit(narrow).transform(new))


def test_a_saved_model_accepts_64_bit_indices(counts, tmp_path):
    model = quick(metric="manhattan").fit(with_indices(counts, np.int64))
    model.save(tmp_path / "model")
    placed = PixelSNE.load(tmp_path / "model").transform(with_indices(counts[:5], np.int64))
    np.testing.assert_array_equal(placed, model.embedding_[:5])


KINDS = st.sampled_from(["normal", "constant", "duplicates", "huge", "tiny", "nan", "infinite", "one column far"])


def make_values(kind, n, d, dtype, seed):
    rng = np.random.default_rng(seed)
    values = rng.normal(size=(n, d))
    if kind == "constant":
        values[:] = 3.0
    elif kind == "duplicates":
        values = values[rng.integers(0, max(1, n // 4), n)]
    elif kind in {"huge", "tiny"}:
        values *= 1e30 if kind == "huge" else 1e-30
    elif kind in {"nan", "infinite"}:
        values[rng.integers(n), rng.integers(d)] = np.nan if kind == "nan" else -np.inf
    elif kind == "one column far":
        values[:, 0] += 1e12
    with np.errstate(all="ignore"):
        return values.astype(dtype)


@pytest.mark.slow
@settings(max_examples=int(os.environ.get("EXAMPLES", "500")), suppress_health_check=[HealthCheck.too_slow])
@given(
    kind=KINDS,
    n=st.integers(2, 200),
    d=st.integers(1, 50),
    dtype=st.sampled_from(DTYPES),
    stride=st.sampled_from([1, 2, -1]),
    fortran=st.booleans(),
    metric=st.sampled_from(["euclidean", "cosine"]),
    resolution=st.sampled_from([16, 64, (1024, 16)]),
    seed=st.integers(0, 2**20),
)
@pytest.mark.filterwarnings(
    "ignore:perplexity", "ignore:invalid value", "ignore:overflow", "ignore:.*dominate the scale"
)
def test_a_finite_map_inside_the_screen_or_a_clear_error(kind, n, d, dtype, stride, fortran, metric, resolution, seed):
    values = make_values(kind, n, d, dtype, seed)
    values = np.asfortranarray(values) if fortran else values
    values = values[::stride] if len(values) > 3 else values
    model = PixelSNE(resolution=resolution, perplexity=5, max_iter=30, random_state=seed, metric=metric)
    if np.isfinite(values.astype(np.float64)).all():
        placed = model.fit_transform(values)
        assert placed.shape == (len(values), 2)
        assert np.isfinite(placed).all()
        assert (placed >= 0).all()
        assert (placed < np.broadcast_to(resolution, 2)).all()
    else:
        with pytest.raises(ValueError, match=r"NaN|infinity"):
            model.fit(values)


# Columns of vectors, and containers of arrays


def vector_columns(vectors):
    lists = vectors.tolist()
    return {
        "pandas": pd.Series(list(vectors)),
        "pandas, lists": pd.Series(lists),
        "pandas, a frame": pd.DataFrame({"embedding": lists}),
        "polars, lists": pl.Series(lists),
        "polars, arrays": pl.Series(vectors),
        "polars, a frame": pl.DataFrame({"embedding": vectors}),
        "pyarrow": pa.array(lists),
        "pyarrow, in chunks": pa.chunked_array([pa.array(lists[:50]), pa.array(lists[50:])]),
        "pyarrow, of one size": pa.FixedSizeListArray.from_arrays(pa.array(vectors.ravel()), vectors.shape[1]),
        "pyarrow, a table": pa.table({"embedding": lists}),
    }


@pytest.mark.parametrize("kind", sorted(vector_columns(np.zeros((60, 2)))))
def test_a_column_of_vectors_is_embedded(kind, random):
    vectors = random.normal(size=(80, 6)).astype(np.float32)
    column = vector_columns(vectors)[kind]
    model = PixelSNE(perplexity=5, max_iter=30, random_state=0)
    np.testing.assert_array_equal(model.fit_transform(column), model.fit_transform(vectors))
    model.fit(column)
    assert model.n_features_in_ == 6
    np.testing.assert_array_equal(model.transform(column[:10]), model.embedding_[:10])


@pytest.mark.parametrize("kind", [pd.Series, pl.Series, pa.array])
def test_vectors_of_different_lengths_are_refused(kind):
    with pytest.raises(ValueError, match="row 2 of X has 1 numbers where row 0 has 2"):
        PixelSNE().fit(kind([[1.0, 2.0], [3.0, 4.0], [5.0]]))


def test_a_column_of_numbers_is_refused():
    with pytest.raises(ValueError, match=r"reshape\(-1, 1\)"):
        PixelSNE().fit(pd.Series([1.0, 2.0, 3.0]))


def test_anndata_is_refused_with_its_arrays_named(random):
    anndata = pytest.importorskip("anndata")
    cells = anndata.AnnData(random.normal(size=(20, 3)), obsm={"X_pca": random.normal(size=(20, 2))})
    with pytest.raises(ValueError, match=r"X is an AnnData; give one of its arrays: X.X, X.obsm\['X_pca'\]"):
        PixelSNE().fit(cells)
