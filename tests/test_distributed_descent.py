"""A distributed descent against the local one, without a cluster."""

import numpy as np
import pytest

from pixelsne import _core
from pixelsne.distributed import descent, halo, result
from pixelsne.distributed.initial_positions import find_axes, start_positions
from pixelsne.initial_positions import initial_positions as local_positions
from pixelsne.schedule import ScheduleStep
from stages_here import Here, as_matrix, begin_descent


class TestDescent:
    def whole(self, moving, n=4000):
        parts = [
            result.split_by_partition(graph, state, moving.summaries, [0])[0]
            for graph, state in zip(moving.graphs, moving.states, strict=True)
        ]
        return result.assemble_partition(parts, 0, n)

    def cost(self, moving):
        pairs = zip(moving.graphs, moving.states, strict=True)
        looks = [descent.measure(graph, state, moving.summaries, 1) for graph, state in pairs]
        mass = sum(one.mass for one in looks)
        return sum(one.logarithms for one in looks) + mass * np.log(moving.field().normalizer)

    def test_the_start_is_the_local_one(self, groups):
        found = self.whole(begin_descent(groups, 3))
        expected = local_positions(groups, "pca", 0)
        assert np.allclose(found, expected, atol=1e-7)

    def test_a_start_ruled_by_outliers_is_the_local_one(self, groups):
        values = groups.copy()
        values[:3] *= 1e4
        axes = find_axes(Here(3), np.array_split(values, 3), len(values), [values], "pca")
        expected = local_positions(values, "pca", 0)
        assert np.allclose(start_positions(values, axes, 0), expected, atol=1e-7)
        assert np.abs(expected).max() < 6e-4  # nobody is far out

    def test_a_flat_start_gets_noise(self):
        values = np.zeros((50, 3), dtype=np.float32)
        values[:, 1] = np.arange(50)
        axes = find_axes(Here(1), [values], len(values), [values], "pca")
        start = start_positions(values, axes, 0)
        assert axes.flat == [False, True]
        assert np.ptp(start[:, 1]) > 0
        assert np.allclose(start, local_positions(values, "pca", 0), atol=1e-7)

    @pytest.mark.parametrize("count", [1, 2, 3, 20])
    def test_an_iteration_is_the_local_one(self, groups, count):
        moving = begin_descent(groups, count)
        before = self.whole(moving)
        whole = as_matrix(moving.graphs, len(groups))
        step = ScheduleStep("early", 12.0, 0.8, 300.0)
        for _ in range(3):
            moving.step(step)
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
            moving = begin_descent(groups, count)
            for exaggeration, rate in ((12.0, 300.0), (1.0, 2000.0)):
                for _ in range(60):
                    moving.step(ScheduleStep("late", exaggeration, 0.8, rate))
            field = moving.field()
            looks = [
                descent.measure(graph, state, moving.summaries, 1)
                for graph, state in zip(moving.graphs, moving.states, strict=True)
            ]
            costs.append(
                sum(one.logarithms for one in looks) + sum(one.mass for one in looks) * np.log(field.normalizer)
            )
        assert costs[1] == pytest.approx(costs[0], rel=0.03)

    def test_sixteen_bits_of_the_halo_are_enough(self, groups, monkeypatch):
        """The same run with coordinates that travel as they are."""

        def copy_to(encoded, chosen, center, to, _threads):
            to[:] = encoded.numbers[chosen] - center

        costs = []
        for exact in (False, True):
            if exact:
                monkeypatch.setattr(
                    descent, "encode", lambda positions, chosen, _: halo.EncodedPositions((), positions[chosen])
                )
                monkeypatch.setattr(descent, "decode", copy_to)
            moving = begin_descent(groups, 3)
            for exaggeration, rate in ((12.0, 300.0), (1.0, 2000.0)):
                for _ in range(60):
                    moving.step(ScheduleStep("late", exaggeration, 0.8, rate))
            costs.append(self.cost(moving))
        assert costs[0] == pytest.approx(costs[1], rel=0.005)

    def test_an_exploded_map_is_told(self):
        summaries = descent.ShardSummary(
            2, (0.0, 0.0), (0.0, 0.0, np.inf, 1.0), halo.EncodedPositions((), np.empty((0, 2), np.uint16))
        )
        with pytest.raises(FloatingPointError, match="exploded"):
            descent.bounds_of([summaries])
