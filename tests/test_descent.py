"""The gradient, the step and the loop against closed forms, finite differences and float64 references."""

from dataclasses import replace

import numpy as np
import pytest

import reference
from pixelsne import PixelSNE, _core
from pixelsne.affinities import Affinities
from pixelsne.descent import Descent
from pixelsne.descent_loop import median_move
from pixelsne.initial_positions import DEFAULT_INIT_SCALE, noise_positions
from pixelsne.schedule import COARSE_SPACING, COOLING_SPACING, make_schedule, skip_to_cooldown
from pixelsne.screen import Screen
from pixelsne.settings import settings_of


def make_settings(**changes):
    return settings_of(PixelSNE(**changes))


def core_gradient(affinities, positions):
    attraction, push = np.empty_like(positions), np.empty_like(positions)
    _core.Attraction(affinities.offsets, affinities.columns, affinities.values).forces(positions, attraction, 2)
    normalizer = _core.exact_repulsion(positions, push, 2)
    return 4 * (attraction - push / normalizer)


def test_gradient_against_finite_differences(cluster_affinities, random):
    joint = reference.dense(cluster_affinities)
    positions = random.normal(0, 3, (600, 2)).astype(np.float32)
    ours = core_gradient(cluster_affinities, positions)
    for point, axis in [(0, 0), (17, 1), (599, 0)]:
        shift = np.zeros((600, 2))
        shift[point, axis] = 1e-5
        exact = positions.astype(np.float64)
        slope = (reference.kl_divergence(joint, exact + shift) - reference.kl_divergence(joint, exact - shift)) / 2e-5
        assert ours[point, axis] == pytest.approx(slope, rel=1e-3, abs=1e-7)


def sparse(matrix):
    n = len(matrix)
    rows, columns = np.nonzero(matrix)
    offsets = np.searchsorted(rows, np.arange(n + 1)).astype(np.int64)
    return Affinities(offsets, columns.astype(np.int32), matrix[rows, columns].astype(np.float32))


def test_two_points_have_no_gradient():
    """p_12 = q_12 = 1/2 at any distance, so the gradient is zero."""
    affinities = sparse(np.array([[0, 0.5], [0.5, 0]]))
    for distance in (0.1, 1.0, 10.0):
        gradient = core_gradient(affinities, np.array([[0, 0], [distance, 0]], dtype=np.float32))
        np.testing.assert_allclose(gradient, 0, atol=1e-6)


def test_four_points_on_a_square():
    """Sides of length a have p, diagonals have r, 8p + 4r = 1. By symmetry one number gives all forces."""
    a, p = 1.5, 0.1
    r = (1 - 8 * p) / 4
    joint = np.full((4, 4), p)
    joint[[0, 1, 2, 3], [2, 3, 0, 1]] = r
    np.fill_diagonal(joint, 0)
    corners = a * np.array([[0, 0], [1, 0], [1, 1], [0, 1]], dtype=np.float32)
    side, diagonal = 1 / (1 + a**2), 1 / (1 + 2 * a**2)
    normalizer = 8 * side + 4 * diagonal
    attraction = a * (side * (p - side / normalizer) + diagonal * (r - diagonal / normalizer))
    expected = 4 * attraction * np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]])
    # The forces are of order 0.1 and nearly cancel. float32 keeps seven digits of them.
    np.testing.assert_allclose(core_gradient(sparse(joint), corners), expected, atol=1e-7)


def test_step_against_the_reference(random):
    shape = (5000, 2)
    state = reference.State(random.normal(size=shape), random.normal(size=shape), random.random(shape) + 0.01)
    single_precision = [part.astype(np.float32) for part in (state.positions, state.velocity, state.gains)]
    state = reference.State(*(part.astype(np.float64) for part in single_precision))
    attraction, push = (random.normal(size=shape).astype(np.float32) for _ in range(2))
    gradient = 4 * (2.0 * attraction.astype(np.float64) - push / 3.0)
    for limit in (0.5, np.inf):
        expected = reference.step(state, gradient, 0.7, 0.8, limit)
        positions, velocity, gains = (part.copy() for part in single_precision)
        bounds = _core.step(positions, velocity, gains, attraction, push, 2.0, 3.0, 0.7, 0.8, limit, 2)
        np.testing.assert_allclose(positions, expected.positions, atol=1e-5)
        np.testing.assert_allclose(velocity, expected.velocity, atol=1e-5)
        np.testing.assert_allclose(gains, expected.gains, rtol=1e-6)
        np.testing.assert_array_equal(bounds, [*positions.min(axis=0), *positions.max(axis=0)])
        assert np.hypot(*velocity.T).max() <= limit * (1 + 1e-6)


def test_bounds_against_numpy(random):
    positions = random.normal(size=(10_000, 2)).astype(np.float32)
    np.testing.assert_array_equal(_core.bounds(positions, 2), [*positions.min(axis=0), *positions.max(axis=0)])


def reference_step(joint, state, step, settings):
    gradient = reference.gradient(joint, state.positions, step.exaggeration)
    return reference.step(state, gradient, step.learning_rate, step.momentum, settings.step_limit)


def relative_error(ours, truth):
    return np.sqrt(np.square(ours - truth).mean() / np.square(truth).mean())


@pytest.mark.slow
def test_float32_loop_against_the_float64_reference(cluster_affinities):
    """Compares only the first iterations, because later a gain may flip on a rounding error."""
    settings = make_settings(repulsion="exact", max_iter=10, tol=0)
    start = noise_positions(600, 0)
    descent = Descent(cluster_affinities, start.copy(), settings)
    joint, expected = reference.dense(cluster_affinities), reference.State.at(start)
    for snapshot, step in zip(descent, make_schedule(settings, 600), strict=True):
        expected = reference_step(joint, expected, step, settings)
        assert relative_error(descent.positions, expected.positions) < 1e-5, snapshot.iteration


@pytest.mark.slow
def test_each_float32_step_against_the_float64_reference(cluster_affinities):
    """Compares one step from the same state in every iteration of a run, through all phases."""
    settings = make_settings(repulsion="exact", max_iter=80, tol=0)
    descent = Descent(cluster_affinities, noise_positions(600, 0), settings)
    joint = reference.dense(cluster_affinities)
    snapshots = iter(descent)
    for step in make_schedule(settings, 600):
        state = reference.State(
            *(part.astype(np.float64) for part in (descent.positions, descent._velocity, descent._gains))
        )
        next(snapshots)
        assert relative_error(descent.positions, reference_step(joint, state, step, settings).positions) < 1e-5


@pytest.mark.slow
@pytest.mark.parametrize(
    ("exaggeration", "rate", "deviation", "pixels"), [(1.0, 50.0, 1.0, 1e-7), (12.0, 10.0, 1e-4, 1e-5)]
)
def test_the_papers_recurrence_in_pixels_equals_descent_in_embedding_units(
    cluster_affinities, exaggeration, rate, deviation, pixels
):
    """Compares z, with the paper's running product of (gamma / r)^2, and y in float64, 1024 x 768, 50 iterations.

    The matching step in z uses the gradient in y divided by the root of beta and rescales the velocity with the screen.
    Both agree to rounding. In the second case the map grows by four orders of magnitude, and so does the rounding.
    """
    joint = reference.dense(cluster_affinities)
    resolution = np.array([1024.0, 768.0])
    momentum = 0.5
    y = reference.State.at(noise_positions(600, 3) * (deviation / DEFAULT_INIT_SCALE))

    def normalized(coordinates):
        """The equation for z^(t): coordinates on the screen, and gamma. epsilon = 0, because beta must be exact."""
        low = coordinates.min(axis=0)
        gamma = coordinates.max(axis=0) - low
        return resolution * (coordinates - low) / gamma, gamma

    z, gamma = normalized(y.positions)
    start = z
    beta = (gamma / resolution) ** 2
    velocity, gains = np.zeros_like(z), np.ones_like(z)
    for _ in range(50):
        y = reference.step(y, reference.gradient(joint, y.positions, exaggeration), rate, momentum)
        in_units = z * np.sqrt(beta)  # Eq. q_wrt_z: distances weighted by beta
        gradient = reference.gradient(joint, in_units, exaggeration) / np.sqrt(beta)
        uphill = gradient * np.sign(velocity) > 0
        gains = np.maximum(np.where(uphill, gains * 0.8, gains + 0.2), 0.01)
        velocity = momentum * velocity - rate * gains * gradient
        z, gamma = normalized(z + velocity)
        beta = beta * (gamma / resolution) ** 2
        velocity = velocity * resolution / gamma
        np.testing.assert_allclose(z, normalized(y.positions)[0], rtol=0, atol=pixels)
    assert np.median(np.abs(z - start)) > 50, "the map must have moved, or nothing was compared"


def test_the_step_limit_holds(cluster_affinities):
    settings = make_settings(repulsion="exact", max_iter=30, learning_rate=1e5, step_limit=0.25)
    descent = Descent(cluster_affinities, noise_positions(600, 0), settings)
    before = descent.positions.copy()
    for _ in descent:
        # recentering shifts all points equally, by no more than the longest step
        assert np.hypot(*(descent.positions - before).T).max() <= 0.5
        before = descent.positions.copy()


def test_a_diverging_map_names_the_learning_rate(cluster_affinities):
    settings = make_settings(repulsion="exact", max_iter=500, learning_rate=1e30, step_limit=None)
    with pytest.raises(FloatingPointError, match="learning_rate"):
        list(Descent(cluster_affinities, noise_positions(600, 0), settings))


def test_snapshots_of_a_descent(cluster_affinities):
    settings = make_settings(repulsion="exact", max_iter=120, early_exaggeration_iter=60, tol=0)
    descent = Descent(cluster_affinities, noise_positions(600, 0), settings)
    snapshots = list(descent)
    assert [snapshot.iteration for snapshot in snapshots] == list(range(1, 121))
    assert [snapshot.phase for snapshot in snapshots] == ["early"] * 60 + ["late"] * 60
    assert [snapshot.iteration for snapshot in snapshots if snapshot.kl is not None] == [50, 100]
    assert descent.history.columns()["iteration"].tolist() == [50, 100]
    assert snapshots[-1].fraction == 1.0
    positions = snapshots[-1].positions
    positions[:] = 0  # a copy: the map does not change
    assert np.abs(descent.positions).max() > 1
    assert descent.stopped_by == "max_iter"


def test_a_converged_run_cools_down_before_it_ends(cluster_affinities):
    settings = make_settings(repulsion="exact", max_iter=350, tol=1e9)
    descent = Descent(cluster_affinities, noise_positions(600, 0), settings)
    fractions = [snapshot.fraction for snapshot in descent]
    assert descent.stopped_by == "tol"
    assert descent.iteration == 150 + 49  # the first measurement of the late phase, then all iterations of the cooldown
    assert fractions == sorted(fractions)
    assert fractions[-1] == 1.0
    by_hand = replace(settings, momentum=(0.5, 0.8), learning_rate=(100.0, 100.0))
    at_once = Descent(cluster_affinities, noise_positions(600, 0), by_hand)
    assert sum(1 for _ in at_once) == 150


@pytest.mark.slow
def test_tol_ends_a_converged_run(cluster_affinities):
    settings = make_settings(repulsion="exact", max_iter=5000, early_exaggeration_iter=100, tol=3.0)
    descent = Descent(cluster_affinities, noise_positions(600, 0), settings)
    list(descent)
    assert descent.stopped_by == "tol"
    assert 100 < descent.iteration < 5000
    assert descent.history.columns()["moved"][-1] < 3.0
    never = Descent(cluster_affinities, noise_positions(600, 0), replace(settings, tol=0.0, max_iter=400))
    list(never)
    assert never.stopped_by == "max_iter"


def test_median_move_ignores_shift_and_scale(random):
    before = random.normal(500, 100, (1000, 2)).astype(np.float32)
    assert median_move(before, before * np.float32(1.3) - np.float32(40)) < 1e-3
    after = before.copy()
    after[0] = [5000, 5000]  # an outlier does not affect the rest
    assert median_move(before, after) < 1.0
    steps = random.normal(0, 1, (1000, 2))
    assert median_move(before, (before + 5 * steps).astype(np.float32)) == pytest.approx(5 * 1.177, rel=0.1)


def test_median_move_of_coincident_points():
    spot = np.zeros((10, 2), dtype=np.float32)
    assert median_move(spot, spot) == 0


def test_the_default_schedule():
    schedule = make_schedule(make_settings(max_iter=400), 48_000)
    assert [step.phase for step in schedule] == ["early"] * 110 + ["late"] * 290
    assert {(step.exaggeration, step.momentum, step.learning_rate) for step in schedule[:90]} == {(12.0, 0.8, 500.0)}
    falling = np.array([step.exaggeration for step in schedule[90:111]])
    np.testing.assert_allclose(falling, 12 ** np.linspace(1, 0, 21))
    np.testing.assert_allclose([step.learning_rate for step in schedule[90:111]], 6_000 / falling)
    rates, momenta = (
        np.array([getattr(step, name) for step in schedule[110:]]) for name in ("learning_rate", "momentum")
    )
    assert rates[0] == pytest.approx(6_000)
    np.testing.assert_allclose(rates[1:41] / rates[:40], 8 ** (1 / 40))
    np.testing.assert_allclose(rates[40:240], 48_000)
    np.testing.assert_allclose(momenta[:41], np.linspace(0.8, 0.965, 41))
    np.testing.assert_allclose(momenta[40:240], 0.965)
    assert {step.spacing for step in schedule[:-50]} == {COARSE_SPACING}
    assert [step.spacing for step in schedule[-49:]] == [COOLING_SPACING] * 49  # the cooldown


def test_the_learning_rate_has_a_lower_limit():
    schedule = make_schedule(make_settings(max_iter=350), 96)
    assert schedule[0].learning_rate == 5.0
    assert schedule[200].learning_rate == 96.0


def test_the_last_iterations_cool_down():
    schedule = make_schedule(make_settings(max_iter=1000), 70_000)
    cooling = schedule[-50:]
    assert (cooling[0].momentum, cooling[0].learning_rate) == pytest.approx((0.965, 70_000))
    assert (cooling[25].momentum, cooling[25].learning_rate) == pytest.approx((0.8325, 70_000 * 0.1**0.5))
    assert cooling[-1].momentum == pytest.approx(0.7, abs=0.01)
    assert cooling[-1].learning_rate == pytest.approx(7_000, rel=0.05)


def test_a_converged_map_skips_to_the_cooldown():
    schedule = make_schedule(make_settings(max_iter=350), 70_000)
    first = next(index for index, step in enumerate(schedule) if step.cools)
    assert skip_to_cooldown(schedule, 200, 0.5, 1.0) == first
    assert skip_to_cooldown(schedule, first, 0.5, 1.0) == first  # the next step cools anyway, but the map has converged
    for done, moved in ((200, None), (200, 1.0), (200, float("nan")), (50, 0.5), (first + 1, 0.5)):
        assert skip_to_cooldown(schedule, done, moved, 1.0) is None
    steady = make_schedule(make_settings(max_iter=350, momentum=0.8, learning_rate=200.0), 70_000)
    assert skip_to_cooldown(steady, 200, 0.5, 1.0) == 350


def test_a_short_run_keeps_the_proportions_of_the_schedule():
    schedule = make_schedule(make_settings(max_iter=25), 70_000)
    assert len(schedule) == 25
    # 9 early steps; the first of 2 falling ones is 12, too
    assert [step.exaggeration == 12.0 for step in schedule] == [True] * 10 + [False] * 15
    assert [step.phase for step in schedule] == ["early"] * 11 + ["late"] * 14
    assert max(step.momentum for step in schedule) > 0.96
    assert [step.learning_rate < 69_000 for step in schedule[11:]] == [True] * 4 + [False] * 6 + [True] * 4


def test_rates_and_momenta_of_the_user_are_used():
    schedule = make_schedule(
        make_settings(max_iter=100, early_exaggeration_iter=60, learning_rate=(10, 20), momentum=0.7), 1000
    )
    assert {(step.exaggeration, step.learning_rate, step.momentum) for step in schedule[:60]} == {(12.0, 10, 0.7)}
    assert {(step.exaggeration, step.learning_rate, step.momentum) for step in schedule[60:]} == {(1.0, 20, 0.7)}
    assert len(make_schedule(make_settings(max_iter=100, early_exaggeration_iter=250), 1000)) == 100


def test_snapshots_are_in_input_order(cluster_affinities, random):
    settings = make_settings(repulsion="exact", max_iter=5)
    order = random.permutation(600).astype(np.int32)
    descent = Descent(cluster_affinities, noise_positions(600, 0), settings, order)
    last = list(descent)[-1]
    assert np.array_equal(last.positions[order], descent.positions)


def test_the_screen_of_a_snapshot_fits_its_positions(cluster_affinities):
    settings = make_settings(repulsion="pixel-tree", max_iter=10, resolution=(300, 200), aspect="equal")
    for snapshot in Descent(cluster_affinities, noise_positions(600, 0), settings):
        bounds = _core.bounds(snapshot.positions, 1)
        assert snapshot.screen == Screen.around(bounds, (300, 200), "equal")


def test_a_mirrored_start_gives_a_mirrored_map(cluster_affinities):
    """No rule may prefer a direction, for instance the gains of the first step."""
    settings = make_settings(repulsion="exact", max_iter=10, tol=0)
    start = noise_positions(600, 0)
    maps = []
    for sign in (1, -1):
        descent = Descent(cluster_affinities, np.float32(sign) * start, settings)
        list(descent)
        maps.append(descent.positions)
    assert np.array_equal(maps[0], -maps[1])
