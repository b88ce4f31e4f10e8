"""Functions of the core for shards against the same computation on all points."""

import numpy as np
import pytest

from pixelsne import _core
from pixelsne.neighbors import find_neighbors, find_neighbors_of_first


class TestFieldOfShards:
    def test_the_field_of_shards_equals_the_field_of_all_points(self, random):
        positions = random.normal(0, 10, (6000, 2)).astype(np.float32)
        push, field = np.empty_like(positions), _core.FieldRepulsion()
        normalizer = field.pixel_field(positions, 2048, push, 2)
        assert not field.lattice()[4]  # no tree replaced the lattice
        lattice = _core.choose_lattice(_core.bounds(positions, 1), len(positions), 2048)
        parts = np.array_split(positions, [1000, 1001, 4500])
        shards = [_core.ShardField(part, lattice, 1) for part in parts]
        total = np.zeros((lattice[4], lattice[3]), dtype=np.float32)
        for shard in shards:
            nodes = np.empty_like(total)
            shard.deposit(nodes, 2)
            total += nodes
        found = _core.FieldConvolution().apply(total, lattice, len(positions), 2)
        pushes, sums = [np.empty_like(part) for part in parts], 0.0
        for shard, part in zip(shards, pushes, strict=True):
            sums += shard.interpolate(total, part, 2)
        assert found == pytest.approx(normalizer, rel=1e-5)
        assert sums - len(positions) == pytest.approx(found, rel=1e-5)  # the sum of reads is known before the read
        assert np.abs(np.concatenate(pushes) - push).max() < 1e-5 * np.abs(push).max()

    def test_tiny_maps_convolve_differences(self, random):
        positions = random.normal(0, 1e-4, (4000, 2)).astype(np.float32)
        push = np.empty_like(positions)
        normalizer = _core.FieldRepulsion().pixel_field(positions, 2048, push, 1)
        lattice = _core.choose_lattice(_core.bounds(positions, 1), len(positions), 2048)
        assert lattice[5]
        shard, nodes = _core.ShardField(positions, lattice, 1), np.empty((lattice[4], lattice[3]), dtype=np.float32)
        shard.deposit(nodes, 1)
        assert _core.FieldConvolution().apply(nodes, lattice, len(positions), 1) == pytest.approx(normalizer)

    def test_move_and_recenter_equal_a_step(self, random):
        shape = (500, 2)
        attraction, push = (random.normal(size=shape).astype(np.float32) for _ in range(2))
        first = [random.normal(size=shape).astype(np.float32), np.zeros(shape, np.float32), np.ones(shape, np.float32)]
        second = [part.copy() for part in first]
        settings = (attraction, push, 12.0, 3.0, 0.5, 0.8, 5.0, 1)
        _core.step(*first, *settings)
        sums = _core.move(*second, *settings)
        assert np.allclose(sums, second[0].sum(axis=0), rtol=1e-5)
        assert np.allclose(first[0], second[0] - np.array(sums) / 500, atol=1e-6)
        assert np.array_equal(first[1], second[1])

    def test_attraction_of_the_first_rows(self, clusters, cluster_affinities, random):
        positions = random.normal(0, 3, (len(clusters), 2)).astype(np.float32)
        whole = np.empty_like(positions)
        parts = cluster_affinities.offsets, cluster_affinities.columns, cluster_affinities.values
        _core.Attraction(*parts).forces(positions, whole, 1)
        own = 200
        end = int(parts[0][own])
        attraction = _core.Attraction(
            parts[0][: own + 1].copy(), parts[1][:end].copy(), parts[2][:end].copy(), len(clusters)
        )
        found = np.empty((own, 2), dtype=np.float32)
        attraction.forces(positions, found, 1)
        assert np.array_equal(found, whole[:own])
        with pytest.raises(ValueError, match="columns"):
            _core.Attraction(parts[0][: own + 1].copy(), parts[1][:end].copy(), parts[2][:end].copy())

    def test_wrong_lattices_are_refused(self, random):
        positions = random.normal(size=(50, 2)).astype(np.float32)
        with pytest.raises(ValueError, match="multiples of 16"):
            _core.ShardField(positions, (0.4, 0.0, 0.0, 33, 32, False), 1)
        with pytest.raises(ValueError, match="spacing"):
            _core.ShardField(positions, (0.0, 0.0, 0.0, 32, 32, False), 1)
        shard = _core.ShardField(positions, (0.4, 0.0, 0.0, 32, 48, False), 1)
        with pytest.raises(ValueError, match="nodes"):
            shard.deposit(np.empty((32, 48), dtype=np.float32), 1)


class TestSearchForSomeQueries:
    def search(self, points, n_queries, *, reorder, reach=0):
        token = _core.ProgressToken()
        return _core.cluster_neighbors(points, None, 10, 0, 64, 0.9, 20, reach, n_queries, reorder, token, 2)

    def test_the_first_points_have_the_neighbors_that_all_points_have(self, groups):
        """Up to clusters with scores near the limit, which depend on the order of the points."""
        all_indices, distances, _ = self.search(groups, len(groups), reorder=False)
        some_indices, near, _ = self.search(groups, 1000, reorder=False)
        assert np.mean(some_indices == all_indices[:1000]) > 0.9
        assert np.mean(near <= distances[:1000, -1:]) > 0.99

    def test_reordered_indices_name_the_same_neighbors(self, groups):
        plain, _, _ = self.search(groups, 1000, reorder=False)
        found, _, order = self.search(groups, 1000, reorder=True)
        assert np.array_equal(np.sort(order), np.arange(1000))
        input_indices = np.arange(len(groups))
        input_indices[:1000] = order
        assert np.array_equal(np.sort(input_indices[found], axis=1), np.sort(plain[order], axis=1))

    def test_exploring_does_not_lower_the_recall(self, groups):
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
