"""Each stage of a distributed run against its local twin, without a cluster: tasks are called at once."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from scipy import sparse

from pixelsne import _core
from pixelsne.affinities import joint_affinities
from pixelsne.distributed import affinities, checkpoint, descent, files, halo, reduce, result, shards, sized
from pixelsne.distributed.initial_positions import find_axes, start_positions
from pixelsne.estimator import PixelSNE
from pixelsne.files.errors import FileError
from pixelsne.files.source import Wanted
from pixelsne.initial_positions import initial_positions as local_positions
from pixelsne.neighbors import Neighbors, find_neighbors, find_neighbors_of_first
from pixelsne.reduce import fit_reduction
from pixelsne.schedule import Pace
from pixelsne.settings import check_settings


class Here:
    """A crew whose tasks are done when they are submitted."""

    def __init__(self, count):
        self.shards = count

    def task(self, _name, function, *arguments, shard=None):  # noqa: ARG002
        return function(*arguments)

    def each(self, _name, function, *lists):
        return [function(*arguments) for arguments in zip(*lists, strict=True)]

    def join(self, _name, function, parts):
        return function(list(parts))


def settings_of(**changes):
    return check_settings(PixelSNE(**changes).get_params(deep=False), 0)


@pytest.fixture(scope="module")
def groups():
    """4,000 points in 12 groups, 20 dimensions."""
    rng = np.random.default_rng(3)
    return (rng.normal(0, 4, (12, 20))[rng.integers(0, 12, 4000)] + rng.normal(size=(4000, 20))).astype(np.float32)


def blocks_of(values, count):
    return [reduce.Block(number, part) for number, part in enumerate(np.array_split(values, count))]


class TestCoreInShares:
    def test_a_field_in_shares_is_the_field(self, random):
        positions = random.normal(0, 10, (6000, 2)).astype(np.float32)
        push, field = np.empty_like(positions), _core.FieldRepulsion()
        normalizer = field.pixel_field(positions, 2048, push, 2)
        assert not field.lattice()[4]  # no tree took its place
        lattice = _core.choose_lattice(_core.bounds(positions, 1), len(positions), 2048)
        parts = np.array_split(positions, [1000, 1001, 4500])
        shares = [_core.FieldShare(part, lattice, 1) for part in parts]
        total = np.zeros((lattice[4], lattice[3]), dtype=np.float32)
        for share in shares:
            nodes = np.empty_like(total)
            share.deposit(nodes, 2)
            total += nodes
        found = _core.FieldConvolution().apply(total, lattice, len(positions), 2)
        pushes, sums = [np.empty_like(part) for part in parts], 0.0
        for share, part in zip(shares, pushes, strict=True):
            sums += share.read(total, part, 2)
        assert found == pytest.approx(normalizer, rel=1e-5)
        assert sums - len(positions) == pytest.approx(found, rel=1e-5)  # the sum of what is read is known before
        assert np.abs(np.concatenate(pushes) - push).max() < 1e-5 * np.abs(push).max()

    def test_tiny_maps_convolve_differences(self, random):
        positions = random.normal(0, 1e-4, (4000, 2)).astype(np.float32)
        push = np.empty_like(positions)
        normalizer = _core.FieldRepulsion().pixel_field(positions, 2048, push, 1)
        lattice = _core.choose_lattice(_core.bounds(positions, 1), len(positions), 2048)
        assert lattice[5]
        share, nodes = _core.FieldShare(positions, lattice, 1), np.empty((lattice[4], lattice[3]), dtype=np.float32)
        share.deposit(nodes, 1)
        assert _core.FieldConvolution().apply(nodes, lattice, len(positions), 1) == pytest.approx(normalizer)

    def test_move_and_recenter_are_a_step(self, random):
        shape = (500, 2)
        pull, push = (random.normal(size=shape).astype(np.float32) for _ in range(2))
        first = [random.normal(size=shape).astype(np.float32), np.zeros(shape, np.float32), np.ones(shape, np.float32)]
        second = [part.copy() for part in first]
        settings = (pull, push, 12.0, 3.0, 0.5, 0.8, 5.0, 1)
        _core.step(*first, *settings)
        sums = _core.move(*second, *settings)
        assert np.allclose(sums, second[0].sum(axis=0), rtol=1e-5)
        assert np.allclose(first[0], second[0] - np.array(sums) / 500, atol=1e-6)
        assert np.array_equal(first[1], second[1])

    def test_attraction_of_some_rows(self, clusters, cluster_affinities, random):
        positions = random.normal(0, 3, (len(clusters), 2)).astype(np.float32)
        whole = np.empty_like(positions)
        parts = cluster_affinities.offsets, cluster_affinities.columns, cluster_affinities.values
        _core.Attraction(*parts).forces(positions, whole, 1)
        own = 200
        end = int(parts[0][own])
        some = _core.Attraction(parts[0][: own + 1].copy(), parts[1][:end].copy(), parts[2][:end].copy(), len(clusters))
        found = np.empty((own, 2), dtype=np.float32)
        some.forces(positions, found, 1)
        assert np.array_equal(found, whole[:own])
        with pytest.raises(ValueError, match="columns"):
            _core.Attraction(parts[0][: own + 1].copy(), parts[1][:end].copy(), parts[2][:end].copy())

    def test_wrong_lattices_are_refused(self, random):
        positions = random.normal(size=(50, 2)).astype(np.float32)
        with pytest.raises(ValueError, match="multiples of 16"):
            _core.FieldShare(positions, (0.4, 0.0, 0.0, 33, 32, False), 1)
        with pytest.raises(ValueError, match="spacing"):
            _core.FieldShare(positions, (0.0, 0.0, 0.0, 32, 32, False), 1)
        share = _core.FieldShare(positions, (0.4, 0.0, 0.0, 32, 48, False), 1)
        with pytest.raises(ValueError, match="nodes"):
            share.deposit(np.empty((32, 48), dtype=np.float32), 1)


class TestSearchForSome:
    def search(self, points, asked, *, reorder, reach=0):
        token = _core.ProgressToken()
        return _core.cluster_neighbors(points, 10, 0, 64, 0.9, 20, reach, asked, reorder, token, 2)

    def test_those_who_ask_find_what_all_would(self, groups):
        every, distances, _ = self.search(groups, len(groups), reorder=False)
        some, near, _ = self.search(groups, 1000, reorder=False)
        assert np.array_equal(some, every[:1000])
        assert np.array_equal(near, distances[:1000])

    def test_numbered_anew(self, groups):
        plain, _, _ = self.search(groups, 1000, reorder=False)
        found, _, order = self.search(groups, 1000, reorder=True)
        assert np.array_equal(np.sort(order), np.arange(1000))
        numbers = np.arange(len(groups))
        numbers[:1000] = order
        assert np.array_equal(np.sort(numbers[found], axis=1), np.sort(plain[order], axis=1))

    def test_exploring_among_those_who_ask(self, groups):
        truth = _core.exact_neighbors(groups, 10, _core.ProgressToken(), 2)[0][:1000]

        def recall(found):
            return np.mean([len(set(a) & set(b)) for a, b in zip(found, truth, strict=True)]) / 10

        without, _, _ = self.search(groups, 1000, reorder=False)
        explored, _, _ = self.search(groups, 1000, reorder=False, reach=10)
        assert recall(explored) >= recall(without)

    def test_few_points_are_compared_exactly(self, clusters):
        found = find_neighbors_of_first(clusters, 100, 5, 0, 1)
        assert found.order is None
        assert np.array_equal(found.indices, find_neighbors(clusters, 5, "exact", 0, 1).indices[:100])


class TestReduce:
    @pytest.mark.parametrize("dimensions", [None, 50, 5])
    @pytest.mark.parametrize("cosine", [False, True])
    def test_moments_in_parts_are_those_of_all(self, groups, dimensions, cosine):
        values = groups * 1000 + 7
        found = reduce.fit_reduction(Here(2), blocks_of(values, 5), 20, dimensions, cosine=cosine)
        expected = fit_reduction(values, dimensions, 0, _core.ProgressToken(), to_length_one=cosine)
        assert found.units == expected.units
        assert np.allclose(found.mean, expected.mean)
        assert found.scale == pytest.approx(expected.scale)
        assert (found.directions is None) == (expected.directions is None)
        if found.directions is not None:
            assert np.allclose(found.directions, expected.directions, atol=1e-8)

    def test_empty_partitions_do_no_harm(self, groups):
        blocks = [reduce.Block(0, groups[:0]), *blocks_of(groups, 2)]
        found = reduce.fit_reduction(Here(2), blocks, 20, 5, cosine=False)
        assert np.allclose(found.mean, fit_reduction(groups, 5, 0, _core.ProgressToken()).mean)

    def test_wrong_partitions_are_told(self):
        with pytest.raises(ValueError, match="partition 3, row 1: NaN"):
            reduce.read_block(np.array([[1.0], [np.nan]]), 3)
        with pytest.raises(ValueError, match="partition 0 must hold numbers"):
            reduce.read_block(np.array([["a"]]), 0)

    def test_very_wide_input_is_refused(self):
        with pytest.raises(ValueError, match="distributed PCA takes up to"):
            reduce.fit_reduction(Here(1), [], 5000, 50, cosine=False)


class TestPartition:
    def settle(self, groups, count):
        crew, parts = Here(count), np.array_split(groups, 3)
        first = [0, len(parts[0]), len(parts[0]) + len(parts[1])]
        samples = shards.draw_samples(crew, parts, len(groups), 0)
        return shards.partition(crew, parts, samples, first, 0)

    @pytest.mark.parametrize("count", [1, 2, 3, 5])
    def test_every_point_lives_in_one_shard(self, groups, count):
        residents = self.settle(groups, count)
        rows = np.concatenate([one.rows[: one.own] for one in residents])
        assert np.array_equal(np.sort(rows), np.arange(len(groups)))
        for one in residents:
            assert np.array_equal(one.points, groups[one.rows])
            assert (one.owners[: one.own] == one.shard).all()
            assert (one.owners[one.own :] != one.shard).all()
            assert one.own < 2.5 * len(groups) / count  # about balanced

    def test_visitors_are_the_neighbors_of_the_border(self, groups):
        truth = find_neighbors(groups, 10, "exact", 0, 2).indices
        found = []
        for one in self.settle(groups, 2):
            there = set(one.rows.tolist())
            found += [len(there & set(truth[row].tolist())) for row in one.rows[: one.own]]
        assert np.mean(found) / 10 > 0.99


def prepare(groups, count, k=30):
    crew, settings = Here(count), settings_of(perplexity=10)
    residents = TestPartition().settle(groups, count)
    axes = find_axes(crew, np.array_split(groups, 3), [groups], "pca")
    searched, rows = affinities.distribute_affinities(crew, residents, axes, k, len(groups), settings)
    given, sources = halo.link(crew, rows)
    shares = crew.each("halo", descent.make_share, rows, given, sources)
    return crew, searched, shares


def as_matrix(shares, n):
    """The shards' rows of P as one dense matrix."""
    whole = np.zeros((n, n), dtype=np.float64)
    for share in shares:
        columns = np.concatenate([share.rows.rows, share.rows.halo_rows])
        lengths = np.diff(share.rows.offsets)
        whole[np.repeat(share.rows.rows, lengths), columns[share.rows.columns]] = share.rows.values
    return whole


class TestAffinities:
    @pytest.mark.parametrize("count", [1, 3])
    def test_rows_of_shards_are_the_symmetric_matrix(self, groups, count):
        _, searched, shares = prepare(groups, count)
        whole = as_matrix(shares, len(groups))
        assert whole.sum() == pytest.approx(1.0, rel=1e-4)
        assert np.allclose(whole, whole.T, rtol=1e-5)
        # The same neighbors and kernels, put together by the core.
        indices = np.empty((len(groups), 30), dtype=np.int32)
        values = np.empty((len(groups), 30), dtype=np.float32)
        for one in searched:
            indices[one.rows[: one.own]], values[one.rows[: one.own]] = one.rows[one.indices], one.values
        offsets, columns, expected = _core.joint_affinities(indices, values, _core.ProgressToken(), 1)
        rows = np.repeat(np.arange(len(groups)), np.diff(offsets))
        assert np.allclose(whole[rows, columns], expected, rtol=1e-5)
        assert np.count_nonzero(whole) <= len(columns)

    def test_neighbors_are_nearly_those_of_one_machine(self, groups):
        _, searched, _ = prepare(groups, 3)
        truth = find_neighbors(groups, 30, "exact", 0, 2).indices
        shared = [
            len(set(one) & set(truth[row]))
            for part in searched
            for row, one in zip(part.rows[: part.own], part.rows[part.indices], strict=True)
        ]
        assert np.mean(shared) / 30 > 0.97


class TestHalo:
    def test_every_shard_finds_its_halo_in_what_others_give(self, groups):
        _, _, shares = prepare(groups, 3)
        for share in shares:
            found = [other.given.rows[places] for other, places in zip(shares, share.sources, strict=True)]
            assert np.array_equal(np.concatenate(found), share.rows.halo_rows)
            assert np.array_equal(share.rows.rows[share.given.places], share.given.rows)

    def test_coordinates_travel_within_half_a_step(self, random):
        positions = random.normal(0, 50, (20_000, 2)).astype(np.float32)
        chosen = random.permutation(20_000)[:15_000].astype(np.int32)
        coded = halo.encode(positions, chosen, 2)
        step = np.array(coded.coding[2:])
        assert coded.numbers.dtype == np.uint16
        assert np.allclose(coded.coding[:2], positions[chosen].min(axis=0))
        assert np.allclose(step, np.ptp(positions[chosen], axis=0) / 65_535, rtol=1e-6)
        found = np.empty((15_000, 2), dtype=np.float32)
        halo.decode(coded, np.arange(15_000, dtype=np.int32), (0.0, 0.0), found, 2)
        assert (np.abs(found - positions[chosen]) <= 0.51 * step).all()

    def test_some_of_what_travels_is_taken_and_centered(self, random):
        positions = random.normal(0, 50, (500, 2)).astype(np.float32)
        coded, chosen = halo.encode(positions, np.arange(500, dtype=np.int32), 1), np.array([7, 3, 3], dtype=np.int32)
        found = np.empty((3, 2), dtype=np.float32)
        halo.decode(coded, chosen, (10.0, -2.0), found, 1)
        low, step = np.array(coded.coding[:2]), np.array(coded.coding[2:])
        assert np.allclose(found, low + step * coded.numbers[chosen] - [10.0, -2.0], atol=1e-5)

    @pytest.mark.parametrize("chosen", [0, 3])
    def test_none_and_equal_ones(self, chosen):
        positions, rows = np.full((3, 2), 7, np.float32), np.arange(chosen, dtype=np.int32)
        found = np.empty((chosen, 2), dtype=np.float32)
        halo.decode(halo.encode(positions, rows, 1), rows, (0.0, 0.0), found, 1)
        assert np.array_equal(found, positions[:chosen])

    def test_the_same_bits_at_any_thread_count(self, random):
        positions = random.normal(3, 50, (30_000, 2)).astype(np.float32)
        sums = {_core.sum_positions(positions, threads) for threads in (1, 2, 7)}
        assert len(sums) == 1
        assert np.allclose(sums.pop(), positions.sum(axis=0, dtype=np.float64))
        moved = np.empty_like(positions)
        _core.center_positions(positions, (1.5, -2.0), moved, 2)
        assert np.array_equal(moved, (positions - np.array([1.5, -2.0])).astype(np.float32))


class TestDescent:
    PLAN = descent.Plan(4000, 2048, 5.0)

    def begin(self, groups, count):
        crew, searched, shares = prepare(groups, count)
        stands = [descent.begin(one) for one in searched]
        return descent.Shards(crew, shares, stands, self.PLAN)

    def whole(self, moving, n=4000):
        parts = [
            result.send_home(share, stand, moving.news, [0])[0]
            for share, stand in zip(moving.shares, moving.stands, strict=True)
        ]
        return result.come_home(parts, 0, n)

    def cost(self, moving):
        pairs = zip(moving.shares, moving.stands, strict=True)
        looks = [descent.look(share, stand, moving.news, 1) for share, stand in pairs]
        mass = sum(one.mass for one in looks)
        return sum(one.logarithms for one in looks) + mass * np.log(moving.field().normalizer)

    def test_the_start_is_the_local_one(self, groups):
        found = self.whole(self.begin(groups, 3))
        expected = local_positions(groups, "pca", 0)
        assert np.allclose(found, expected, atol=1e-7)

    def test_a_start_ruled_by_outliers_is_the_local_one(self, groups):
        values = groups.copy()
        values[:3] *= 1e4
        axes = find_axes(Here(3), np.array_split(values, 3), [values], "pca")
        expected = local_positions(values, "pca", 0)
        assert np.allclose(start_positions(values, axes, 0), expected, atol=1e-7)
        assert np.abs(expected).max() < 6e-4  # nobody is far out

    def test_a_flat_start_gets_noise(self):
        values = np.zeros((50, 3), dtype=np.float32)
        values[:, 1] = np.arange(50)
        axes = find_axes(Here(1), [values], [values], "pca")
        start = start_positions(values, axes, 0)
        assert axes.flat == [False, True]
        assert np.ptp(start[:, 1]) > 0
        assert np.allclose(start, local_positions(values, "pca", 0), atol=1e-7)

    @pytest.mark.parametrize("count", [1, 2, 3, 20])
    def test_an_iteration_is_the_local_one(self, groups, count):
        moving = self.begin(groups, count)
        before = self.whole(moving)
        whole = as_matrix(moving.shares, len(groups))
        pace = Pace("early", 12.0, 0.8, 300.0)
        for _ in range(3):
            moving.step(pace)
        rows, columns = np.nonzero(whole)
        offsets = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=4000))]).astype(np.int64)
        attraction = _core.Attraction(offsets, columns.astype(np.int32), whole[rows, columns].astype(np.float32))
        positions = before.copy()
        velocity, gains, pull, push = (
            np.zeros_like(before),
            np.ones_like(before),
            np.empty_like(before),
            np.empty_like(before),
        )
        for _ in range(3):
            normalizer = _core.FieldRepulsion().pixel_field(positions, 2048, push, 1)
            attraction.forces(positions, pull, 1)
            _core.step(positions, velocity, gains, pull, push, 12.0, normalizer, 300.0, 0.8, 5.0, 1)
        moved = np.abs(positions - before).max()
        assert np.abs(self.whole(moving) - positions).max() < 0.01 * moved

    def test_shards_of_one_agree_with_shards_of_three(self, groups):
        """Up to neighbors that a partition misses."""
        costs = []
        for count in (1, 3):
            moving = self.begin(groups, count)
            for exaggeration, rate in ((12.0, 300.0), (1.0, 2000.0)):
                for _ in range(60):
                    moving.step(Pace("late", exaggeration, 0.8, rate))
            field = moving.field()
            looks = [
                descent.look(share, stand, moving.news, 1)
                for share, stand in zip(moving.shares, moving.stands, strict=True)
            ]
            costs.append(
                sum(one.logarithms for one in looks) + sum(one.mass for one in looks) * np.log(field.normalizer)
            )
        assert costs[1] == pytest.approx(costs[0], rel=0.03)

    def test_sixteen_bits_of_the_halo_are_enough(self, groups, monkeypatch):
        """The same run with coordinates that travel as they are."""

        def copy_to(coded, chosen, center, to, _threads):
            to[:] = coded.numbers[chosen] - center

        costs = []
        for exact in (False, True):
            if exact:
                monkeypatch.setattr(descent, "encode", lambda positions, chosen, _: halo.Coded((), positions[chosen]))
                monkeypatch.setattr(descent, "decode", copy_to)
            moving = self.begin(groups, 3)
            for exaggeration, rate in ((12.0, 300.0), (1.0, 2000.0)):
                for _ in range(60):
                    moving.step(Pace("late", exaggeration, 0.8, rate))
            costs.append(self.cost(moving))
        assert costs[0] == pytest.approx(costs[1], rel=0.005)

    def test_an_exploded_map_is_told(self):
        news = descent.News(2, (0.0, 0.0), (0.0, 0.0, np.inf, 1.0), halo.Coded((), np.empty((0, 2), np.uint16)))
        with pytest.raises(FloatingPointError, match="exploded"):
            descent.bounds_of([news])


def test_results_tell_their_size():
    block = reduce.Block(0, np.zeros((1000, 10)))
    assert block.__sizeof__() > 80_000
    assert sized.size_of([np.zeros(10), np.zeros(5)]) == 120


def test_neighbors_of_a_shard_are_never_the_point_itself(groups):
    _, searched, _ = prepare(groups, 2)
    for one in searched:
        assert not (one.indices == np.arange(one.own)[:, None]).any()


def test_joint_affinities_agree_on_what_is_local(clusters):
    """One shard is the local run."""
    crew = Here(1)
    residents = shards.partition(crew, [clusters], [clusters], [0], 0)
    settings = settings_of(perplexity=10, init="random")
    _, (rows,) = affinities.distribute_affinities(crew, residents, None, 30, len(clusters), settings)
    local = joint_affinities(Neighbors(*_core.exact_neighbors(clusters, 30, _core.ProgressToken(), 1)), (10.0,), 1)
    assert np.array_equal(rows.offsets, local.offsets)
    assert np.array_equal(rows.columns, local.columns)
    assert np.array_equal(rows.values, local.values)


class TestFiles:
    """What workers do with files, called here."""

    def test_shares_and_stands_come_back(self, groups, tmp_path):
        moving = TestDescent().begin(groups, 2)
        for shard, (share, stand) in enumerate(zip(moving.shares, moving.stands, strict=True)):
            assert checkpoint.save_share(share, str(tmp_path)) == shard
            assert checkpoint.save_stand(stand, str(tmp_path), 7, shard) == shard
            again = checkpoint.load_share(str(tmp_path), shard)
            assert again.rows.shard == shard
            for name in checkpoint.ROW_PARTS:
                assert np.array_equal(getattr(again.rows, name), getattr(share.rows, name))
            assert np.array_equal(again.given.places, share.given.places)
            assert all(np.array_equal(a, b) for a, b in zip(again.sources, share.sources, strict=True))
            stood = checkpoint.load_stand(str(tmp_path), 7, shard)
            for name in checkpoint.STAND_PARTS:
                assert np.array_equal(getattr(stood, name), getattr(stand, name))

    def test_a_file_is_a_block_and_its_map_a_file(self, tmp_path, random):
        values = random.normal(size=(20, 3)).astype(np.float32)
        table = pa.table({"a": values[:, 0], "b": values[:, 1], "c": values[:, 2], "name": ["x"] * 20})
        pq.write_table(table, tmp_path / "part.parquet")
        source, wanted = str(tmp_path / "part.parquet"), Wanted(label="name")
        block = files.read_values(source, wanted, 4)
        assert np.allclose(block.values, values)
        assert files.shape_of(block) == (20, 3, ("a", "b", "c"), 4)
        placed = random.uniform(0, 64, (20, 2)).astype(np.float32)
        target, screen = str(tmp_path / "map.parquet"), result.Screen((0, 0), (1, 1), (64, 64))
        assert files.write_part(placed, source, wanted, target, screen, {"seed": 0}) == 20
        written = pq.read_table(target)
        assert np.allclose(written["x"].to_numpy(), placed[:, 0])
        assert written["name"].to_pylist() == ["x"] * 20

    def test_remote_files_are_fetched_and_put(self, tmp_path, random):
        values = random.normal(size=(20, 3)).astype(np.float32)
        np.save(tmp_path / "part.npy", values)
        source = f"file://{tmp_path}/part.npy"
        assert files.expand(f"file://{tmp_path}/*.npy") == [source]
        assert np.array_equal(files.read_values(source, Wanted(), 0).values, values)
        placed, screen = random.uniform(0, 64, (20, 2)).astype(np.float32), result.Screen((0, 0), (1, 1), (64, 64))
        files.write_part(placed, source, Wanted(), f"file://{tmp_path}/map.parquet", screen, {})
        assert len(pq.read_table(tmp_path / "map.parquet")) == 20

    def test_a_sparse_matrix_is_refused(self, tmp_path):
        sparse.save_npz(tmp_path / "part.npz", sparse.random(30, 5, 0.5, format="csr"))
        with pytest.raises(FileError, match="sparse matrix"):
            files.read_values(str(tmp_path / "part.npz"), Wanted(), 0)

    def test_digests_tell_data_apart(self, groups):
        first, second = (reduce.digest(reduce.Block(0, groups + shift)) for shift in (0, 1))
        assert first != second
        assert reduce.join_digests([first, second]) != reduce.join_digests([second, first])
