"""What may come in: any type and layout of numbers, dense, sparse or on disk."""

import os

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy import sparse

from pixelsne import PixelSNE
from pixelsne.reduce import reduce

DTYPES = [np.float16, np.float32, np.float64, np.int8, np.uint8, np.int32, np.uint64, np.bool_]


def quick(**changes):
    return PixelSNE(**({"perplexity": 10, "max_iter": 60, "random_state": 0} | changes))


@pytest.fixture(scope="module")
def counts(digits):
    return digits[0][:150]


@pytest.mark.parametrize("dtype", DTYPES)
def test_any_type_gives_the_map_of_its_values(dtype, counts):
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
def test_sparse_input(kind, metric, counts):
    model = quick(n_pca=20, metric=metric)
    dense = model.fit(counts)._embedding.space.points
    filled = quick(n_pca=20, metric=metric).fit(kind(counts))._embedding.space.points
    np.testing.assert_allclose(filled, dense, atol=1e-4)


def scattered(random, rows, columns, count):
    places = random.integers(0, rows, count), random.integers(0, columns, count)
    return sparse.csr_array((random.uniform(size=count), places), shape=(rows, columns))


def test_very_wide_sparse_input_is_never_filled_in(random, monkeypatch):
    values = scattered(random, 300, 30_000, 9000)
    monkeypatch.setattr(sparse.csr_array, "toarray", lambda _: pytest.fail("filled in"))
    assert np.isfinite(quick().fit_transform(values)).all()


def test_wide_directions_against_a_decomposition(random):
    values = random.normal(size=(200, 3000)) * 0.1 + random.normal(size=(200, 5)) @ random.normal(size=(5, 3000))
    centered = values - values.mean(axis=0)
    left, sizes, _ = np.linalg.svd(centered, full_matrices=False)
    true = left[:, :5] * sizes[:5] / centered.std()
    for given_values in (values, sparse.csr_array(values)):
        found = reduce(given_values, 5, 0)
        np.testing.assert_allclose(np.abs(found), np.abs(true), atol=2e-3 * np.abs(true).max())


def test_sparse_without_reduction_needs_few_columns(counts):
    assert quick(n_pca=None).fit(sparse.csr_array(counts)).embedding_.shape == (150, 2)
    wide = scattered(np.random.default_rng(0), 50, 5000, 2500)
    with pytest.raises(ValueError, match="n_pca=None would fill in"):
        quick(n_pca=None).fit(wide)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_sparse_must_be_finite(bad, counts):
    values = sparse.csr_array(counts)
    values.data[5] = bad
    with pytest.raises(ValueError, match=r"NaN|infinity"):
        quick().fit(values)


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


@settings(
    max_examples=int(os.environ.get("EXAMPLES", "500")), deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
@given(
    kind=KINDS,
    n=st.integers(2, 200),
    d=st.integers(1, 50),
    dtype=st.sampled_from(DTYPES),
    stride=st.sampled_from([1, 2, -1]),
    fortran=st.booleans(),
    metric=st.sampled_from(["euclidean", "cosine"]),
    resolution=st.sampled_from([1, 64, (1024, 3)]),
    seed=st.integers(0, 2**20),
)
@pytest.mark.filterwarnings("ignore:perplexity", "ignore:invalid value", "ignore:overflow")
def test_a_finite_map_inside_the_screen_or_a_clear_error(kind, n, d, dtype, stride, fortran, metric, resolution, seed):
    values = make_values(kind, n, d, dtype, seed)
    values = np.asfortranarray(values) if fortran else values
    values = values[::stride] if len(values) > 3 else values
    model = PixelSNE(resolution, perplexity=5, max_iter=30, random_state=seed, metric=metric)
    if np.isfinite(values.astype(np.float64)).all():
        placed = model.fit_transform(values)
        assert placed.shape == (len(values), 2)
        assert np.isfinite(placed).all()
        assert (placed >= 0).all()
        assert (placed < np.broadcast_to(resolution, 2)).all()
    else:
        with pytest.raises(ValueError, match=r"NaN|infinity"):
            model.fit(values)
