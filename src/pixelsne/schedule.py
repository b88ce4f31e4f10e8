"""The schedule: exaggeration, momentum and learning rate of every iteration.

350 iterations give the map that the usual 1,000 give. Exaggeration falls step by step instead of ending at once, and
the rate rises meanwhile from a quarter of n / exaggeration to all of it. A higher rate during full exaggeration is
unstable: it tears apart the arrangement that the start has, which neither KL nor neighborhood precision shows
(benchmarks/schedule.py does). Points do not come to rest at the full rate and momentum: they swing about their
positions, farther than their neighbors are away where points are many. So the last iterations cool down.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from pixelsne.settings import Settings

# Of 350 iterations: full exaggeration, its fall to the late value while the rate rises, and cooling. A shorter run
# shortens all three alike; a longer one stays at the full rate in between.
USUAL_ITERATIONS = 350
EARLY_ITERATIONS = 40
FALLING_ITERATIONS = 80
COOLING_ITERATIONS = 60

EARLY_MOMENTUM = 0.8
LATE_MOMENTUM = 0.95
COOL_MOMENTUM = 0.7

# The early rate as a share of n / exaggeration. Where points lie close together, the attraction's second derivatives
# reach 8 exaggeration / n (a normalized Laplacian, whose eigenvalues end at 2, times the gradient's factor 4).
# Descent with momentum m is stable up to a rate of 2 (1 + m) divided by that: a share of 0.45, less what gains and
# points with many links add.
EARLY_RATE = 0.25
COOL_RATE = 0.1  # of the rate before
SMALLEST_AUTOMATIC_RATE = 10.0  # below 480 points; a higher limit scrambles the large arrangement there


@dataclass(frozen=True)
class Pace:
    """How one iteration moves."""

    phase: Literal["early", "late"]
    exaggeration: float
    momentum: float
    learning_rate: float  # of the gradient with its factor 4
    cools: bool = False  # one of the last iterations, in which the map comes to rest


def automatic_rate(n: int, exaggeration: float, share: float) -> float:
    """Proportional to n, since affinities shrink with n, and against exaggeration, which grows them."""
    return max(SMALLEST_AUTOMATIC_RATE, share * n / exaggeration)


def risen(step: int, max_iter: int) -> float:
    """The rate's share of n / exaggeration, `step` iterations after the end of full exaggeration."""
    return float(EARLY_RATE ** max(0.0, 1.0 - max(0, step) / part_of(FALLING_ITERATIONS, max_iter)))


def part_of(iterations: int, max_iter: int) -> float:
    """How long a part of the usual 350 is in a run of max_iter."""
    return iterations * min(1.0, max_iter / USUAL_ITERATIONS)


def early_lengths(settings: Settings) -> tuple[int, int]:
    """Iterations at full exaggeration, and while it falls. A length asked for ends at once, as in the paper."""
    if settings.early_exaggeration_iter is not None:
        return min(settings.early_exaggeration_iter, settings.max_iter), 0
    return round(part_of(EARLY_ITERATIONS, settings.max_iter)), round(part_of(FALLING_ITERATIONS, settings.max_iter))


def falling(first: float, last: float, steps: int) -> Iterator[float]:
    """From first towards last, each by the same factor of the one before."""
    return (first * (last / first) ** (step / steps) for step in range(steps))


def cooled(left: int, max_iter: int) -> float:
    """0 until the last iterations, then rising to 1; left: iterations to go, this one included."""
    return max(0.0, 1.0 - left / part_of(COOLING_ITERATIONS, max_iter))


def plan_early(settings: Settings, n: int) -> list[Pace]:
    steady, fall = early_lengths(settings)
    exaggerations = [settings.early_exaggeration] * steady
    exaggerations += falling(settings.early_exaggeration, settings.exaggeration, fall)
    momentum = EARLY_MOMENTUM if settings.momentum is None else settings.momentum[0]
    rate = settings.learning_rate[0]
    return [
        Pace("early", value, momentum, rate or automatic_rate(n, value, risen(step - steady, settings.max_iter)))
        for step, value in enumerate(exaggerations)
    ]


def plan_late(settings: Settings, n: int, step: int, left: int) -> Pace:
    """step: iterations since full exaggeration; left: iterations to go, this one included."""
    cold = cooled(left, settings.max_iter)
    momentum = LATE_MOMENTUM + (COOL_MOMENTUM - LATE_MOMENTUM) * cold
    share = risen(step, settings.max_iter) * COOL_RATE**cold
    rate = settings.learning_rate[1] or automatic_rate(n, settings.exaggeration, share)
    automatic = settings.momentum is None or settings.learning_rate[1] is None
    momentum = momentum if settings.momentum is None else settings.momentum[1]
    return Pace("late", settings.exaggeration, momentum, rate, cools=automatic and cold > 0)


def plan(settings: Settings, n: int) -> list[Pace]:
    """One pace for each iteration."""
    early = plan_early(settings, n)
    steady = early_lengths(settings)[0]
    late = range(len(early), settings.max_iter)
    return early + [plan_late(settings, n, step - steady, settings.max_iter - step) for step in late]


def skip_to_cooling(paces: Sequence[Pace], done: int, moved: float | None, tol: float) -> int | None:
    """Where a map that stands still goes on: at the last iterations, in which it comes to rest.

    done: paces taken so far. moved: median pixels since the last look, None where nobody looked. The result is None
    while the map moves, before the late phase, and once it cools: then the next pace follows.
    """
    pace = paces[done - 1]
    stands_still = moved is not None and moved < tol and pace.phase == "late"
    if not stands_still or pace.cools:
        return None
    return next((at for at in range(done, len(paces)) if paces[at].cools), len(paces))
