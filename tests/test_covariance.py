"""Centered rows and products of their columns, against NumPy in float64."""

import numpy as np
import pytest

from pixelsne import _core
from pixelsne.reduce import fit_reduction

DTYPES = ("float32", "float64", "uint8", "int8", "uint16", "int16", "uint32", "int32", "uint64", "int64", "bool")
LIMIT = 1e15


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("threads", [1, 2, 7])
def test_rows_of_any_type_are_centered(dtype, threads, random):
    values = (random.random((300, 77)) * 100).astype(dtype)
    mean = random.random(77)
    expected = (values.astype(np.float64) / 3.0 - mean) / 0.7
    centered = _core.center_rows(values, 3.0, mean, 0.7, LIMIT, threads)
    assert np.array_equal(centered, expected.astype(np.float32))


def test_magnitudes_are_clipped_before_and_after_centering():
    values, mean = np.array([[1e300, -1e300, 5.0]]), np.array([0.0, 0.0, 4.0])
    centered = _core.center_rows(values, 1.0, mean, 1e-20, 1e10, 1)
    assert centered.tolist() == [[np.float32(1e10), np.float32(-1e10), np.float32(1e10)]]


@pytest.mark.parametrize("rows", [1, 255, 256, 257, 700])
@pytest.mark.parametrize("columns", [1, 5, 32, 33, 100])
def test_products_of_columns_are_those_of_float64(rows, columns, random):
    block = random.normal(size=(rows, columns)).astype(np.float32)
    sums = np.zeros((columns, columns))
    _core.add_products(block, sums, 2)
    _core.add_products(block, sums, 2)
    exact = 2 * np.tril(block.astype(np.float64).T @ block.astype(np.float64))
    np.testing.assert_allclose(np.tril(sums), exact, rtol=1e-5, atol=1e-5 * np.sqrt(rows))
    assert (np.triu(sums, 1) == 0).all()


def test_products_have_the_same_bits_with_any_number_of_threads(random):
    block = random.normal(size=(1000, 90)).astype(np.float32)
    found = []
    for threads in (1, 2, 7):
        sums = np.zeros((90, 90))
        _core.add_products(block, sums, threads)
        found.append(sums)
    assert np.array_equal(found[0], found[1])
    assert np.array_equal(found[0], found[2])


def test_directions_are_those_of_the_exact_covariance(random):
    """The largest angle between the subspaces is stated in ARCHITECTURE.md for MNIST; here it is bounded."""
    values = (random.normal(size=(4000, 120)) * np.linspace(5, 0.1, 120) + 1000).astype(np.float32)
    reduction = fit_reduction(values, 20, 0, _core.ProgressToken(), threads=2)
    centered = values.astype(np.float64) - values.mean(axis=0, dtype=np.float64)
    exact = np.linalg.eigh(centered.T @ centered)[1][:, ::-1][:, :20]
    cosines = np.linalg.svd(exact.T @ reduction.directions, compute_uv=False)
    assert np.sqrt(1 - min(1.0, cosines.min()) ** 2) < 1e-3
