import numpy as np
import pytest
from sklearn.datasets import load_digits

from pixelsne.affinities import joint_affinities
from pixelsne.neighbors import find_neighbors


@pytest.fixture(scope="session")
def digits():
    """1,797 handwritten digits (64 columns) and their labels."""
    return load_digits(return_X_y=True)


@pytest.fixture
def random():
    return np.random.default_rng(7)


@pytest.fixture(scope="session")
def clusters():
    """600 points in 8 Gaussian clusters, 20 dimensions, float32."""
    rng = np.random.default_rng(1)
    centers = rng.normal(0, 5, (8, 20))
    return (centers[rng.integers(0, 8, 600)] + rng.normal(0, 1, (600, 20))).astype(np.float32)


@pytest.fixture(scope="session")
def cluster_affinities(clusters):
    return joint_affinities(find_neighbors(clusters, 30, "exact", 0, 2), (10.0,), 2)
