"""More than 2^31 edges: the arithmetic of offsets, without the memory that such a matrix would take."""

import mmap
import sys

import numpy as np
import pytest

from pixelsne import _core

EDGES = 2**31 + 1000


def zeros_without_memory(count, dtype):
    """Return an array of zeros that takes no memory until it is written: all its pages are one page of zeros."""
    flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | getattr(mmap, "MAP_NORESERVE", 0x4000)
    return np.frombuffer(mmap.mmap(-1, count * np.dtype(dtype).itemsize, flags=flags), dtype=dtype)


@pytest.mark.slow
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs memory that is promised but not taken")
def test_offsets_above_two_to_the_thirty_first():
    columns, values = zeros_without_memory(EDGES, np.int32), zeros_without_memory(EDGES, np.float32)
    columns[-2:], values[-2:] = [0, 1], [0.25, 0.75]
    offsets = np.array([0, 10, EDGES - 2, EDGES], dtype=np.int64)  # two rows of zeros, then one with two edges
    positions = np.array([[0, 0], [1, 0], [3, 0]], dtype=np.float32)
    force = np.empty_like(positions)
    attraction = _core.Attraction(offsets, columns, values)
    attraction.forces(positions, force, 2)
    expected = 0.25 * 3 / (1 + 9) + 0.75 * 2 / (1 + 4)
    np.testing.assert_allclose(force, [[0, 0], [0, 0], [expected, 0]], rtol=1e-6)
    logarithms, mass = attraction.divergence(positions, 2)
    assert mass == pytest.approx(1.0)
    negative_entropy = 0.25 * np.log(0.25) + 0.75 * np.log(0.75)
    assert logarithms == pytest.approx(negative_entropy + 0.25 * np.log(10) + 0.75 * np.log(5), rel=1e-6)
