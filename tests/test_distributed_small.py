"""Small maps and degenerate data on shards, against one machine. Runs without a cluster."""

import numpy as np
import pytest

from local_runner import begin_descent, collect, run_locally
from pixelsne import PixelSNE, _core
from pixelsne.distributed import descent, repulsion
from pixelsne.distributed.shards import Cells, merge_small_shards, renumber
from pixelsne.reduce import center_and_rescale
from pixelsne.schedule import ScheduleStep


def local_kl(values, **changes):
    """Return the KL of a local fit with duplicates kept, because a cluster does not merge them."""
    return PixelSNE(**{"random_state": 0, "duplicates": "keep"} | changes).fit(values).kl_divergence_


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:perplexity=30 is too large")
@pytest.mark.parametrize("n", [2, 3, 10, 60])
def test_few_points_have_the_local_kl(random, n):
    """Compares means: among few points either run may end in a better minimum."""
    draws = random.normal(size=(6, n, 5)).astype(np.float32)
    runs = [run_locally(values, 2) for values in draws]
    for run, positions in runs:
        assert np.isfinite(positions).all()
        assert np.ptp(positions, axis=0).max() > 1
        assert run.descent.kl >= -1e-6
    assert np.mean([run.descent.kl for run, _ in runs]) <= 1.1 * np.mean([local_kl(values) for values in draws]) + 0.01


@pytest.mark.slow
def test_many_equal_rows_have_the_local_kl():
    """On a lattice their KL was 74 % higher, because equal rows make sparse maps."""
    rng = np.random.default_rng(0)
    values = rng.normal(size=(60, 10)).astype(np.float32)[rng.integers(0, 60, 2500)]
    run, _ = run_locally(values, 2)
    assert run.runner.shards == 2
    assert run.descent.kl == pytest.approx(local_kl(values), rel=0.1)


def nearly_equal_rows(kind, rng):
    if kind == "all equal":
        return np.ones((3000, 5), dtype=np.float32)
    if kind == "few differ":
        return np.ones((3000, 5)) + np.where(np.arange(3000)[:, None] < 20, rng.normal(size=(3000, 5)), 0)
    if kind == "one far away":
        return rng.normal(size=(3000, 5)) * np.where(np.arange(3000)[:, None] < 1, 1e9, 1)
    return (1 + 2e-8 * rng.normal(size=(3000, 5))).astype(np.float32)  # 30 distinct rows


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["all equal", "few differ", "one far away", "rounding"])
def test_every_shard_has_enough_points_and_ghosts(random, kind):
    values = center_and_rescale(nearly_equal_rows(kind, random))
    shard_points = collect(values, 4, k=90)
    assert 1 <= len(shard_points) <= 4
    for one in shard_points:
        assert one.own > 0
        assert len(one.rows) >= 900
    rows = np.concatenate([one.rows[: one.own] for one in shard_points])
    assert np.array_equal(np.sort(rows), np.arange(3000))


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["all equal", "few differ", "rounding"])
def test_nearly_equal_rows_have_a_map(random, kind):
    """Compares mean KLs, because runs of equal rows end in random minima."""
    distributed, local = [], []
    for _ in range(3):
        values = nearly_equal_rows(kind, random)
        run, positions = run_locally(values, 3)
        assert np.isfinite(positions).all()
        distributed.append(run.descent.kl)
        local.append(local_kl(values))
    assert np.mean(distributed) <= 1.1 * np.mean(local)


@pytest.mark.parametrize(
    ("own", "visible", "expected"),
    [
        ([50, 60], [60, 80], [0, 1]),
        ([50, 3], [60, 8], [0, 0]),  # the last one is merged with the previous one
        ([3, 50], [8, 60], [0, 0]),
        ([20, 20, 20, 20], [20, 20, 20, 20], [0, 0, 0, 0]),
        ([30, 30, 30, 30], [30, 30, 30, 30], [0, 0, 1, 1]),
        ([0, 50, 60], [70, 60, 60], [0, 0, 1]),  # enough ghosts, but no points of its own
        ([3, 4], [3, 4], [0, 0]),
    ],
)
def test_small_shards_are_merged_with_the_next(own, visible, expected):
    assert merge_small_shards(own, visible, 50) == expected


def test_cells_of_merged_shards_are_renumbered():
    cells = Cells(np.zeros((4, 2), np.float32), np.array([0, 1, 2, 2], np.int32))
    assert renumber(cells, [0, 0, 1]).owners.tolist() == [0, 0, 1, 1]


@pytest.mark.slow
@pytest.mark.parametrize("count", [1, 3, 12])
def test_gathered_positions_have_the_push_of_one_machine(groups, count):
    shards = begin_descent(groups, count)
    shards.settings = repulsion.DescentSettings(4000, 2048, 5.0, gathers_positions=True)
    for _ in range(20):
        shards.step(ScheduleStep("late", 12.0, 0.8, 300.0))
    positions = np.concatenate([descent.centered(state, shards.summaries) for state in shards.states])
    expected = np.empty_like(positions)
    normalizer = _core.FieldRepulsion().pixel_field(positions, 2048, expected, 1)
    field = shards.repulsion()
    assert field.normalizer == normalizer
    found = [field.of_shard(shard, shards.summaries) for shard in range(len(shards.states))]
    assert np.array_equal(np.concatenate(found), expected)
    whole, _ = shards.measure(1, exactly=True)
    assert whole.normalizer == pytest.approx(_core.exact_repulsion(positions, expected, 1), rel=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("iterations", [49, 50])
def test_the_final_kl_has_an_exact_normalizer(groups, iterations):
    """The history measures iteration 50, too, with the normalizer of the field, as on one machine."""
    run, _ = run_locally(groups, 2, perplexity=5, max_iter=iterations)
    whole, parts = run.descent.tasks.measure(1, exactly=True)
    exact = sum(part.logarithms for part in parts) + sum(part.mass for part in parts) * np.log(whole.normalizer)
    assert run.descent.kl == exact
    assert all(kl != exact for kl in run.descent.history.columns()["kl"])


@pytest.mark.slow
def test_tasks_do_not_change_their_arguments(groups):
    """A task that is computed again must find its arguments unchanged."""
    shards = begin_descent(groups, 2)
    shards.settings = repulsion.DescentSettings(4000, 2048, 5.0, gathers_positions=True)
    summaries, state, graph = shards.summaries, shards.states[0], shards.graphs[0]
    field = shards.repulsion()
    deposited = descent.deposit(graph, state, summaries, shards.settings)
    before = deposited.copy()
    descent.move_shard(graph, state, field, summaries, shards.settings, ScheduleStep("late", 12.0, 0.8, 300.0))
    assert np.array_equal(deposited, before)
