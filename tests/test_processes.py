"""Fits inside worker processes, forked or spawned, and inside threads."""

import multiprocessing
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from joblib import Parallel, delayed

from pixelsne import PixelSNE


def fit(seed):
    values = np.random.default_rng(0).normal(size=(400, 10))
    return PixelSNE(perplexity=10, max_iter=40, random_state=seed, n_jobs=2, neighbors="clusters").fit_transform(values)


@pytest.fixture(scope="module")
def expected():
    return [fit(seed) for seed in range(4)]


def test_fits_in_threads(expected):
    with ThreadPoolExecutor(4) as pool:
        np.testing.assert_array_equal(list(pool.map(fit, range(4))), expected)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_fits_in_processes(method, expected):
    with multiprocessing.get_context(method).Pool(2) as pool:
        np.testing.assert_array_equal(pool.map_async(fit, range(4)).get(timeout=120), expected)


@pytest.mark.slow
@pytest.mark.parametrize("backend", ["loky", "threading", "multiprocessing"])
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_fits_under_joblib(backend, expected):
    np.testing.assert_array_equal(
        Parallel(n_jobs=2, backend=backend, timeout=120)(delayed(fit)(seed) for seed in range(4)), expected
    )
