"""Each stage before a distributed descent against its local counterpart. Runs without a cluster."""

import numpy as np
import pytest

from local_runner import LocalRunner, as_matrix, collect, prepare, settings_of
from pixelsne import _core
from pixelsne.affinities import joint_affinities
from pixelsne.distributed import affinities, halo, reduce, shards, sized
from pixelsne.neighborhood import choose_neighborhood
from pixelsne.neighbors import Neighbors, find_neighbors
from pixelsne.reduce import fit_reduction
from pixelsne.row_transforms import ROW_TRANSFORMS


def blocks_of(values, count):
    return [reduce.Block(number, part) for number, part in enumerate(np.array_split(values, count))]


def reduce_blocks(blocks, columns, dimensions, metric="euclidean"):
    counts = [len(block.values) for block in blocks]
    first_rows = [0, *np.cumsum(counts[:-1]).tolist()] if counts else []
    rows = reduce.ShardedRows(LocalRunner(2), blocks, first_rows, (sum(counts), columns))
    return reduce.fit_reduction(rows, dimensions, 0, metric)


class TestReduce:
    @pytest.mark.parametrize("dimensions", [None, 50, 5])
    @pytest.mark.parametrize("metric", ROW_TRANSFORMS)
    def test_moments_of_blocks_equal_those_of_all_rows(self, groups, dimensions, metric):
        values = groups * 1000 + 7
        found = reduce_blocks(blocks_of(values, 5), 20, dimensions, metric)
        expected = fit_reduction(values, dimensions, 0, _core.ProgressToken(), metric=metric)
        assert found.preprocessing == expected.preprocessing
        assert np.allclose(found.mean, expected.mean)
        assert found.scale == pytest.approx(expected.scale)
        assert (found.directions is None) == (expected.directions is None)
        if found.directions is not None:
            # Products are summed in float32 over 256 rows, and parts begin at other rows.
            assert np.allclose(found.directions, expected.directions, atol=1e-6)

    def test_extreme_values_of_blocks_equal_those_of_all_rows(self, groups):
        values = groups.astype(np.float64)
        values[3000, 4], values[[7, 900]] = 9.97e36, 1e20
        found = reduce_blocks(blocks_of(values, 5), 20, 5)
        expected = fit_reduction(values, 5, 0, _core.ProgressToken())
        assert "41 values of X in 3 rows" in expected.warning
        assert found.warning == expected.warning
        assert found.preprocessing.unit == expected.preprocessing.unit
        assert (found.preprocessing.ordinary.low == expected.preprocessing.ordinary.low).all()
        assert (found.preprocessing.ordinary.high == expected.preprocessing.ordinary.high).all()
        assert np.allclose(found.directions, expected.directions, atol=1e-6)

    @pytest.mark.slow
    @pytest.mark.parametrize("power", [0.0, 0.6, 2.0])
    def test_blocks_keep_as_many_components_as_all_rows(self, random, power):
        values = random.normal(size=(1000, 150)) * np.arange(1, 151.0) ** -power
        found = reduce_blocks(blocks_of(values, 4), 150, "auto")
        assert found.n_components == fit_reduction(values, "auto", 0, _core.ProgressToken()).n_components

    def test_empty_partitions_are_ignored(self, groups):
        blocks = [reduce.Block(0, groups[:0]), *blocks_of(groups, 2)]
        found = reduce_blocks(blocks, 20, 5)
        assert np.allclose(found.mean, fit_reduction(groups, 5, 0, _core.ProgressToken()).mean)

    def test_invalid_partitions_are_refused(self):
        with pytest.raises(ValueError, match="partition 3, row 1: NaN"):
            reduce.read_block(np.array([[1.0], [np.nan]]), 3)
        with pytest.raises(ValueError, match="partition 0 must hold numbers"):
            reduce.read_block(np.array([["a"]]), 0)

    def test_very_wide_input_is_refused(self):
        with pytest.raises(ValueError, match="distributed PCA takes up to"):
            reduce_blocks([], 5000, 50)


class TestPartition:
    @pytest.mark.slow
    @pytest.mark.parametrize("count", [1, 2, 3, 5])
    def test_every_point_belongs_to_one_shard(self, groups, count):
        shard_points = collect(groups, count)
        rows = np.concatenate([one.rows[: one.own] for one in shard_points])
        assert np.array_equal(np.sort(rows), np.arange(len(groups)))
        for one in shard_points:
            assert np.array_equal(one.points, groups[one.rows])
            assert (one.owners[: one.own] == one.shard).all()
            assert (one.owners[one.own :] != one.shard).all()
            assert one.own < 2.5 * len(groups) / count  # roughly balanced

    def test_ghosts_include_the_neighbors_of_owned_points(self, groups):
        truth = find_neighbors(groups, 10, "exact", 0, 2).indices
        found = []
        for one in collect(groups, 2):
            available = set(one.rows.tolist())
            found += [len(available & set(truth[row].tolist())) for row in one.rows[: one.own]]
        assert np.mean(found) / 10 > 0.99


class TestAffinities:
    @pytest.mark.slow
    @pytest.mark.parametrize("count", [1, 3])
    def test_rows_of_shards_form_the_symmetric_matrix(self, groups, count):
        _, kernels, graphs = prepare(groups, count)
        whole = as_matrix(graphs, len(groups))
        assert whole.sum() == pytest.approx(1.0, rel=1e-4)
        assert np.allclose(whole, whole.T, rtol=1e-5)
        # The same neighbors and kernels, symmetrized by the core.
        indices = np.empty((len(groups), 30), dtype=np.int32)
        values = np.empty((len(groups), 30), dtype=np.float32)
        for one in kernels:
            indices[one.rows[: one.own]], values[one.rows[: one.own]] = one.rows[one.indices], one.values
        offsets, columns, expected = _core.joint_affinities(indices, values, _core.ProgressToken(), 1)
        rows = np.repeat(np.arange(len(groups)), np.diff(offsets))
        assert np.allclose(whole[rows, columns], expected, rtol=1e-5)
        assert np.count_nonzero(whole) <= len(columns)

    @pytest.mark.slow
    def test_neighbors_nearly_equal_those_of_one_machine(self, groups):
        _, kernels, _ = prepare(groups, 3)
        truth = find_neighbors(groups, 30, "exact", 0, 2).indices
        shared = [
            len(set(one) & set(truth[row]))
            for part in kernels
            for row, one in zip(part.rows[: part.own], part.rows[part.indices], strict=True)
        ]
        assert np.mean(shared) / 30 > 0.97


class TestHalo:
    @pytest.mark.slow
    def test_exported_points_of_other_shards_contain_the_halo(self, groups):
        _, _, graphs = prepare(groups, 3)
        for graph in graphs:
            found = [other.exported.rows[indices] for other, indices in zip(graphs, graph.sources, strict=True)]
            assert np.array_equal(np.concatenate(found), graph.affinities.halo_rows)
            assert np.array_equal(graph.affinities.rows[graph.exported.indices], graph.exported.rows)

    def test_encoded_coordinates_err_by_half_a_step(self, random):
        positions = random.normal(0, 50, (20_000, 2)).astype(np.float32)
        rows = random.permutation(20_000)[:15_000].astype(np.int32)
        encoded = halo.encode(positions, rows, 2)
        step = np.array(encoded.coding[2:])
        assert encoded.numbers.dtype == np.uint16
        assert np.allclose(encoded.coding[:2], positions[rows].min(axis=0))
        assert np.allclose(step, np.ptp(positions[rows], axis=0) / 65_535, rtol=1e-6)
        found = np.empty((15_000, 2), dtype=np.float32)
        halo.decode(encoded, np.arange(15_000, dtype=np.int32), (0.0, 0.0), found, 2)
        assert (np.abs(found - positions[rows]) <= 0.51 * step).all()

    def test_selected_codes_are_decoded_and_centered(self, random):
        positions = random.normal(0, 50, (500, 2)).astype(np.float32)
        encoded, rows = halo.encode(positions, np.arange(500, dtype=np.int32), 1), np.array([7, 3, 3], dtype=np.int32)
        found = np.empty((3, 2), dtype=np.float32)
        halo.decode(encoded, rows, (10.0, -2.0), found, 1)
        low, step = np.array(encoded.coding[:2]), np.array(encoded.coding[2:])
        assert np.allclose(found, low + step * encoded.numbers[rows] - [10.0, -2.0], atol=1e-5)

    @pytest.mark.parametrize("count", [0, 3])
    def test_no_points_and_equal_points_are_encoded(self, count):
        positions, rows = np.full((3, 2), 7, np.float32), np.arange(count, dtype=np.int32)
        found = np.empty((count, 2), dtype=np.float32)
        halo.decode(halo.encode(positions, rows, 1), rows, (0.0, 0.0), found, 1)
        assert np.array_equal(found, positions[:count])

    def test_the_same_bits_at_any_thread_count(self, random):
        positions = random.normal(3, 50, (30_000, 2)).astype(np.float32)
        sums = {_core.sum_positions(positions, threads) for threads in (1, 2, 7)}
        assert len(sums) == 1
        assert np.allclose(sums.pop(), positions.sum(axis=0, dtype=np.float64))
        centered = np.empty_like(positions)
        _core.center_positions(positions, (1.5, -2.0), centered, 2)
        assert np.array_equal(centered, (positions - np.array([1.5, -2.0])).astype(np.float32))


def test_results_report_their_size():
    block = reduce.Block(0, np.zeros((1000, 10)))
    assert block.__sizeof__() > 80_000
    assert sized.size_of([np.zeros(10), np.zeros(5)]) == 120


@pytest.mark.slow
def test_neighbors_of_a_shard_are_never_the_point_itself(groups):
    _, kernels, _ = prepare(groups, 2)
    for one in kernels:
        assert not (one.indices == np.arange(one.own)[:, None]).any()


@pytest.mark.slow
def test_joint_affinities_of_one_shard_equal_the_local_ones(clusters):
    """A single shard is a local run."""
    runner = LocalRunner(1)
    router, cells = shards.PointRouter(runner, [clusters], [0]), shards.make_cells([clusters], 1, 0)
    shard_points = router.collect(cells, router.route(cells), 30)
    settings = settings_of(perplexity=10, init="random")
    neighborhood = choose_neighborhood(settings, len(clusters))
    _, (rows,) = affinities.distribute_affinities(runner, shard_points, None, neighborhood, len(clusters), settings)
    local = joint_affinities(Neighbors(*_core.exact_neighbors(clusters, 30, _core.ProgressToken(), 1)), (10.0,), 1)
    assert np.array_equal(rows.offsets, local.offsets)
    assert np.array_equal(rows.columns, local.columns)
    assert np.array_equal(rows.values, local.values)
