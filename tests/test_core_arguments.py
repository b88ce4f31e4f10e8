"""The core refuses invalid arguments instead of crashing."""

import os
import subprocess
import sys

import numpy as np
import pytest

from pixelsne import _core

POINTS = np.zeros((10, 3), dtype=np.float32)
MAP = np.zeros((10, 2), dtype=np.float32)
TOKEN = _core.ProgressToken()


def csr(n=10, columns=None):
    offsets = np.arange(n + 1, dtype=np.int64)
    return [
        offsets,
        np.zeros(n, dtype=np.int32) if columns is None else columns,
        np.ones(n, dtype=np.float32),
    ]


def joint_affinities_of_part(known=12, points=20, indices=None, **changes):
    """Call the core with two edges from the points 10 and 11 of another shard."""
    edges = {"source_ids": [10, 11], "target_ids": [0, 3], "sources": [0, 1], "targets": [1, 1]} | changes
    arrays = [np.array(edges[name], dtype=np.int32) for name in edges]
    indices = np.zeros((10, 3), dtype=np.int32) if indices is None else indices
    incoming = [(*arrays, np.ones(2, dtype=np.float32))]
    return _core.joint_affinities_of_part(indices, POINTS, incoming, known, points, TOKEN, 1)


def test_edges_from_other_shards_are_added():
    offsets, columns, _ = joint_affinities_of_part(indices=np.tile(np.arange(3, dtype=np.int32), (10, 1)))
    assert {10, 11} <= set(columns[offsets[3] : offsets[4]].tolist())


def decode_positions(**changes):
    arguments = {
        "coding": (0.0, 0.0, 1.0, 1.0), "codes": np.zeros((4, 2), dtype=np.uint16),
        "rows": np.zeros(2, dtype=np.int32), "center": (0.0, 0.0), "out": np.zeros((2, 2), dtype=np.float32),
        "threads": 1,
    }  # fmt: skip
    return _core.decode_positions(**{**arguments, **changes})


def pixel_tree(**changes):
    arguments = {
        "positions": MAP, "origin": (0.0, 0.0), "unit_per_pixel": (1.0, 1.0), "resolution": (8, 8), "theta": 0.5,
        "center": "mass", "push": MAP.copy(), "threads": 1,
    }  # fmt: skip
    return _core.TreeRepulsion().pixel_tree(**{**arguments, **changes})


@pytest.mark.parametrize(
    "call",
    [
        lambda: _core.exact_neighbors(POINTS, 0, TOKEN, 1),
        lambda: _core.exact_neighbors(POINTS, 10, TOKEN, 1),
        lambda: _core.exact_neighbors(POINTS[:1], 1, TOKEN, 1),
        lambda: _core.exact_neighbors(np.full_like(POINTS, np.nan), 1, TOKEN, 1),
        lambda: _core.exact_neighbors(POINTS[:, :0].copy(), 1, TOKEN, 1),
        lambda: _core.neighbors_of_queries(POINTS, POINTS, 0, TOKEN, 1),
        lambda: _core.neighbors_of_queries(POINTS, POINTS, 11, TOKEN, 1),
        lambda: _core.neighbors_of_queries(MAP, POINTS, 1, TOKEN, 1),
        lambda: _core.neighbors_of_queries(np.full_like(POINTS, np.nan), POINTS, 1, TOKEN, 1),
        lambda: _core.neighbors_of_queries(POINTS, np.full_like(POINTS, np.inf), 1, TOKEN, 1),
        lambda: _core.project_rows(POINTS, MAP, 1),
        lambda: _core.center_rows(POINTS, 1.0, np.zeros(2), 1.0, 1e15, 1),
        lambda: _core.center_rows(POINTS.astype(np.float16), 1.0, np.zeros(POINTS.shape[1]), 1.0, 1e15, 1),
        lambda: _core.add_products(POINTS, np.zeros((2, 2)), 1),
        lambda: _core.FieldRepulsion().pixel_field(MAP, 64, MAP.copy(), 1, None, 0.0),
        lambda: _core.FieldRepulsion().pixel_field(MAP, 64, MAP.copy(), 1, None, 1.3),
        lambda: _core.place_new_points(POINTS, np.zeros((4, 3), dtype=np.int32), POINTS[:4], TOKEN, 1),
        lambda: _core.place_new_points(MAP, np.zeros((4, 2), dtype=np.int32), POINTS[:4], TOKEN, 1),
        lambda: _core.place_new_points(MAP, np.full((4, 3), 10, dtype=np.int32), POINTS[:4], TOKEN, 1),
        lambda: _core.place_new_points(MAP, np.zeros((4, 0), dtype=np.int32), POINTS[:4, :0].copy(), TOKEN, 1),
        lambda: _core.place_new_points(
            MAP, np.zeros((4, 3), dtype=np.int32), POINTS[:4], TOKEN, 1, np.ones(4, dtype=np.float32)
        ),
        lambda: _core.vp_tree_neighbors(POINTS, 10, 0, TOKEN, 1),
        lambda: _core.rp_forest_neighbors(POINTS, 10, 0, 4, 100, 1, 5, TOKEN, 1),
        lambda: _core.rp_forest_neighbors(POINTS, 5, 0, 0, 100, 1, 5, TOKEN, 1),
        lambda: _core.cluster_neighbors(POINTS, np.array([0, 99], np.int32), 1, 0, 4, 0.9, 2, 5, 2, False, TOKEN, 1),
        lambda: _core.cluster_neighbors(POINTS, np.arange(5, dtype=np.int32), 4, 0, 4, 0.9, 2, 5, 6, False, TOKEN, 1),
        lambda: _core.cluster_neighbors(POINTS, None, 10, 0, 4, 0.9, 2, 5, 6, False, TOKEN, 1),
        lambda: _core.cluster_neighbors(POINTS, None, 5, 0, 0, 0.9, 2, 5, 6, False, TOKEN, 1),
        lambda: _core.cluster_neighbors(POINTS, None, 5, 0, 4, 0.9, 0, 5, 6, False, TOKEN, 1),
        lambda: _core.cluster_neighbors(POINTS, None, 5, 0, 4, 0.0, 2, 5, 6, False, TOKEN, 1),
        lambda: _core.cluster_neighbors(POINTS, None, 5, 0, 4, 1.5, 2, 5, 6, False, TOKEN, 1),
        lambda: _core.conditional_affinities(np.zeros((3, 0), dtype=np.float32), [2.0], TOKEN, 1),
        lambda: _core.conditional_affinities(POINTS, [], TOKEN, 1),
        lambda: _core.conditional_affinities(POINTS, [0.0], TOKEN, 1),
        lambda: _core.joint_affinities(np.full((10, 3), 10, dtype=np.int32), POINTS, TOKEN, 1),
        lambda: _core.joint_affinities(np.full((10, 3), -1, dtype=np.int32), POINTS, TOKEN, 1),
        lambda: _core.joint_affinities(np.zeros((9, 3), dtype=np.int32), POINTS, TOKEN, 1),
        lambda: joint_affinities_of_part(indices=np.full((10, 3), 12, dtype=np.int32)),
        lambda: joint_affinities_of_part(indices=np.zeros((9, 3), dtype=np.int32)),
        lambda: joint_affinities_of_part(source_ids=[12, 11]),
        lambda: joint_affinities_of_part(source_ids=[-1, 11]),
        lambda: joint_affinities_of_part(source_ids=[]),
        lambda: joint_affinities_of_part(target_ids=[10, 0]),
        lambda: joint_affinities_of_part(sources=[0, 2]),
        lambda: joint_affinities_of_part(sources=[0, -1]),
        lambda: joint_affinities_of_part(targets=[2, 0]),
        lambda: joint_affinities_of_part(targets=[0, 0, 0]),
        lambda: joint_affinities_of_part(known=9),
        lambda: joint_affinities_of_part(points=9),
        lambda: _core.Attraction(*csr(columns=np.full(10, 10, dtype=np.int32))),
        lambda: _core.Attraction(*csr(columns=np.full(10, -1, dtype=np.int32))),
        lambda: _core.Attraction(*csr(columns=np.zeros(9, dtype=np.int32))),
        lambda: _core.Attraction(csr()[0][::-1].copy(), *csr()[1:]),
        lambda: _core.Attraction(csr()[0] + 1, *csr()[1:]),
        lambda: _core.Attraction(*csr()).forces(MAP[:5].copy(), MAP.copy(), 1),
        lambda: _core.Attraction(*csr()).forces(MAP, POINTS.copy(), 1),
        lambda: _core.Attraction(*csr()).divergence(POINTS, 1),
        lambda: _core.exact_repulsion(POINTS, POINTS.copy(), 1),
        lambda: _core.exact_repulsion(MAP, MAP[:5].copy(), 1),
        lambda: _core.exact_repulsion(MAP[:0].copy(), MAP[:0].copy(), 1),
        lambda: _core.exact_repulsion(MAP, MAP.copy(), 1, np.ones(9, dtype=np.float32)),
        lambda: _core.exact_repulsion(MAP, MAP.copy(), 1, np.zeros(10, dtype=np.float32)),
        lambda: _core.TreeRepulsion().barnes_hut(MAP, 0.5, MAP.copy(), 1, np.full(10, np.nan, dtype=np.float32)),
        lambda: _core.FieldRepulsion().pixel_field(MAP, 64, MAP.copy(), 1, np.full(10, -1, dtype=np.float32)),
        lambda: pixel_tree(weights=np.full(10, np.inf, dtype=np.float32)),
        lambda: _core.TreeRepulsion().barnes_hut(MAP, 0.5, MAP[:5].copy(), 1),
        lambda: pixel_tree(resolution=(0, 8)),
        lambda: pixel_tree(resolution=(8, 65_537)),
        lambda: pixel_tree(unit_per_pixel=(0.0, 1.0)),
        lambda: pixel_tree(unit_per_pixel=(float("nan"), 1.0)),
        lambda: pixel_tree(center="middle"),
        lambda: pixel_tree(push=MAP[:5].copy()),
        lambda: _core.encode_positions(MAP, np.full(2, 10, dtype=np.int32), 1),
        lambda: _core.encode_positions(MAP, np.full(2, -1, dtype=np.int32), 1),
        lambda: decode_positions(codes=np.zeros((4, 3), dtype=np.uint16)),
        lambda: decode_positions(codes=np.zeros((0, 2), dtype=np.uint16)),
        lambda: decode_positions(rows=np.full(2, 4, dtype=np.int32)),
        lambda: decode_positions(out=np.zeros((3, 2), dtype=np.float32)),
        lambda: _core.sum_positions(POINTS, 1),
        lambda: _core.center_positions(MAP, (0.0, 0.0), MAP[:5].copy(), 1),
        lambda: _core.bounds(POINTS, 1),
        lambda: _core.step(*[MAP.copy() for _ in range(4)], MAP[:5].copy(), 1.0, 1.0, 1.0, 0.5, 5.0, 1),
        lambda: _core.step(*[MAP.copy() for _ in range(5)], 1.0, 0.0, 1.0, 0.5, 5.0, 1),
    ],
)
def test_wrong_shapes_and_values_are_refused(call):
    with pytest.raises(ValueError, match=":"):  # every message is "argument: what is allowed"
        call()


@pytest.mark.parametrize(
    "call",
    [
        lambda: _core.exact_neighbors(POINTS.astype(np.float64), 3, TOKEN, 1),
        lambda: _core.exact_neighbors(np.asfortranarray(POINTS), 3, TOKEN, 1),
        lambda: _core.exact_neighbors(POINTS[::2], 3, TOKEN, 1),
        lambda: _core.exact_neighbors(POINTS[0], 3, TOKEN, 1),
        lambda: _core.exact_neighbors(POINTS, -1, TOKEN, 1),
        lambda: _core.exact_neighbors(None, 3, TOKEN, 1),
        lambda: _core.exact_neighbors(POINTS, 3, None, 1),
        lambda: _core.joint_affinities(np.zeros((10, 3), dtype=np.int64), POINTS, TOKEN, 1),
        lambda: _core.bounds(MAP.astype(np.float64), 1),
        lambda: _core.exact_repulsion(MAP, MAP.astype(np.float64), 1),
        lambda: _core.exact_repulsion(MAP, MAP.copy(), 1, np.ones(10)),
        lambda: _core.exact_repulsion(MAP, MAP.copy(), 1, MAP),
    ],
)
def test_wrong_types_are_refused(call):
    with pytest.raises(TypeError):
        call()


def test_read_only_arrays_are_read_and_never_written():
    frozen = MAP.copy()
    frozen.flags.writeable = False
    _core.exact_repulsion(frozen, MAP.copy(), 1)
    with pytest.raises(TypeError):
        _core.exact_repulsion(MAP, frozen, 1)


def test_nan_and_infinite_positions_do_not_crash_the_trees():
    broken = np.full((50, 2), np.nan, dtype=np.float32)
    broken[:10] = np.inf
    _core.TreeRepulsion().barnes_hut(broken, 0.5, np.empty_like(broken), 2)
    pixel_tree(positions=broken, push=np.empty_like(broken))


def run_python(code, **environment):
    return subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        env={**os.environ, **environment},
        check=False,
    )


MAP_SUM = """
import numpy as np
from pixelsne import PixelSNE, _core
points = np.random.default_rng(0).normal(size=(700, 20))
model = PixelSNE(repulsion="pixel-tree", neighbors="rp-forest", max_iter=5, random_state=0).fit(points)
print(_core.instruction_set, *np.abs(model.positions_).sum(axis=0))
"""


@pytest.mark.slow
def test_every_instruction_set_computes_the_same_map():
    """Five iterations, before rounding differences grow."""
    best = run_python(MAP_SUM).stdout.split()
    baseline = run_python(MAP_SUM, PIXELSNE_SIMD="baseline").stdout.split()
    assert baseline[0] == "baseline"
    np.testing.assert_allclose(np.array(baseline[1:], float), np.array(best[1:], float), rtol=1e-4)
    if best[0] == "avx512":
        narrower = run_python(MAP_SUM, PIXELSNE_SIMD="avx2").stdout.split()
        assert narrower[0] == "avx2"
        np.testing.assert_allclose(np.array(narrower[1:], float), np.array(best[1:], float), rtol=1e-4)


def test_an_unknown_instruction_set_is_an_error_at_import():
    result = run_python("import pixelsne._core", PIXELSNE_SIMD="mmx")
    assert result.returncode != 0
    assert "PIXELSNE_SIMD=mmx" in result.stderr


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
def test_a_forked_child_can_compute():
    """The parent's threads do not exist in the child. A pool that waited for them would hang."""
    code = """
import os, numpy as np
from pixelsne import _core
positions = np.random.default_rng(0).normal(size=(5000, 2)).astype(np.float32)
push = np.empty_like(positions)
before = _core.exact_repulsion(positions, push, 2)
child = os.fork()
if child == 0:
    os._exit(0 if _core.exact_repulsion(positions, push, 2) == before else 1)
print(os.waitpid(child, 0)[1])
"""
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False)
    assert result.stdout.strip() == "0", result.stderr
