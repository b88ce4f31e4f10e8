"""A distributed descent against the local one. Runs without a cluster."""

import numpy as np
import pytest

from local_runner import LocalRunner, as_matrix, begin_descent, run_locally
from pixelsne import _core
from pixelsne.distributed import descent, halo, result
from pixelsne.distributed.initial_positions import find_axes, initial_positions
from pixelsne.initial_positions import initial_positions as local_positions
from pixelsne.schedule import ScheduleStep


class TestDescent:
    def positions_of(self, shards, n=4000):
        parts = [
            result.split_by_partition(graph, state, shards.summaries, [0])[0]
            for graph, state in zip(shards.graphs, shards.states, strict=True)
        ]
        return result.assemble_partition(parts, 0, n)

    def cost(self, shards):
        pairs = zip(shards.graphs, shards.states, strict=True)
        measurements = [descent.measure(graph, state, shards.summaries, 1) for graph, state in pairs]
        mass = sum(one.mass for one in measurements)
        return sum(one.logarithms for one in measurements) + mass * np.log(shards.repulsion().normalizer)

    @pytest.mark.slow
    def test_initial_positions_equal_the_local_ones(self, groups):
        found = self.positions_of(begin_descent(groups, 3))
        expected = local_positions(groups, "pca", 0)
        assert np.allclose(found, expected, atol=1e-7)

    def test_initial_positions_with_outliers_equal_the_local_ones(self, groups):
        values = groups.copy()
        values[:3] *= 1e4
        axes = find_axes(LocalRunner(3), np.array_split(values, 3), len(values), [values], "pca")
        expected = local_positions(values, "pca", 0)
        assert np.allclose(initial_positions(values, axes, 0), expected, atol=1e-7)
        assert np.abs(expected).max() < 6e-4  # no outliers

    @pytest.mark.parametrize("init", ["pca", "random"])
    def test_initial_positions_of_another_scale(self, init, groups):
        axes = find_axes(LocalRunner(3), np.array_split(groups, 3), len(groups), [groups], init, 0.5)
        expected = local_positions(groups, init, 0, 0.5)
        assert np.allclose(initial_positions(groups, axes, 0, 0.5), expected, atol=1e-3)
        run, _ = run_locally(groups[:600], 1, init=init, init_scale=0.5, perplexity=5, max_iter=1)
        assert run.settings.init_scale == 0.5

    def test_a_constant_axis_of_the_start_gets_noise(self):
        values = np.zeros((50, 3), dtype=np.float32)
        values[:, 1] = np.arange(50)
        axes = find_axes(LocalRunner(1), [values], len(values), [values], "pca")
        start = initial_positions(values, axes, 0)
        assert axes.flat == [False, True]
        assert np.ptp(start[:, 1]) > 0
        assert np.allclose(start, local_positions(values, "pca", 0), atol=1e-7)

    @pytest.mark.slow
    @pytest.mark.parametrize("count", [1, 2, 3, 20])
    def test_iterations_equal_the_local_ones(self, groups, count):
        shards = begin_descent(groups, count)
        before = self.positions_of(shards)
        matrix = as_matrix(shards.graphs, len(groups))
        step = ScheduleStep("early", 12.0, 0.8, 300.0)
        for _ in range(3):
            shards.step(step)
        rows, columns = np.nonzero(matrix)
        offsets = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=4000))]).astype(np.int64)
        edges = _core.Attraction(offsets, columns.astype(np.int32), matrix[rows, columns].astype(np.float32))
        positions = before.copy()
        velocity, gains, attraction, push = (
            np.zeros_like(before),
            np.ones_like(before),
            np.empty_like(before),
            np.empty_like(before),
        )
        for _ in range(3):
            normalizer = _core.FieldRepulsion().pixel_field(positions, 2048, push, 1)
            edges.forces(positions, attraction, 1)
            _core.step(positions, velocity, gains, attraction, push, 12.0, normalizer, 300.0, 0.8, 5.0, 1)
        moved = np.abs(positions - before).max()
        assert np.abs(self.positions_of(shards) - positions).max() < 0.01 * moved

    @pytest.mark.slow
    def test_one_shard_and_three_shards_have_the_same_cost(self, groups):
        """Up to neighbors that the shards miss."""
        costs = []
        for count in (1, 3):
            shards = begin_descent(groups, count)
            for exaggeration, rate in ((12.0, 300.0), (1.0, 2000.0)):
                for _ in range(60):
                    shards.step(ScheduleStep("late", exaggeration, 0.8, rate))
            field = shards.repulsion()
            measurements = [
                descent.measure(graph, state, shards.summaries, 1)
                for graph, state in zip(shards.graphs, shards.states, strict=True)
            ]
            costs.append(
                sum(one.logarithms for one in measurements)
                + sum(one.mass for one in measurements) * np.log(field.normalizer)
            )
        assert costs[1] == pytest.approx(costs[0], rel=0.03)

    @pytest.mark.slow
    def test_sixteen_bits_of_the_halo_are_enough(self, groups, monkeypatch):
        """Compares with a run whose coordinates are sent unchanged."""

        def copy_to(encoded, rows, center, out, _threads):
            out[:] = encoded.numbers[rows] - center

        costs = []
        for exact in (False, True):
            if exact:
                monkeypatch.setattr(
                    descent, "encode", lambda positions, rows, _: halo.EncodedPositions((), positions[rows])
                )
                monkeypatch.setattr(descent, "decode", copy_to)
            shards = begin_descent(groups, 3)
            for exaggeration, rate in ((12.0, 300.0), (1.0, 2000.0)):
                for _ in range(60):
                    shards.step(ScheduleStep("late", exaggeration, 0.8, rate))
            costs.append(self.cost(shards))
        assert costs[0] == pytest.approx(costs[1], rel=0.005)

    def test_a_diverged_map_is_reported(self):
        summaries = descent.ShardSummary(
            2, (0.0, 0.0), (0.0, 0.0, np.inf, 1.0), halo.EncodedPositions((), np.empty((0, 2), np.uint16))
        )
        with pytest.raises(FloatingPointError, match="diverged"):
            descent.bounds_of([summaries])
