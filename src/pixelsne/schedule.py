"""The schedule: exaggeration, momentum and learning rate of every iteration.

350 iterations give the map that the usual 1,000 give. After exaggeration, rate and momentum rise within 60 iterations
to far more than is usual. During exaggeration such a rate would be unstable: it tears apart the arrangement that the
start has, which neither KL nor neighborhood precision shows (benchmarks/schedule.py does). Points do not come to rest
at the full rate and momentum: they swing about their positions, farther than their neighbors are away where points are
many. So the last iterations cool down.
"""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from pixelsne.settings import Settings

# Of 350 iterations: full exaggeration, its fall, the rise of rate and momentum after it, and cooling. A shorter run
# shortens all four alike; a longer one stays at the full rate in between.
USUAL_ITERATIONS = 350
EARLY_ITERATIONS = 60
FALLING_ITERATIONS = 20
RISING_ITERATIONS = 60
COOLING_ITERATIONS = 60

EARLY_MOMENTUM = 0.8
LATE_MOMENTUM = 0.95
COOL_MOMENTUM = 0.7

# The early rate as a share of n / exaggeration. Where points lie close together, the attraction's second derivatives
# reach 8 exaggeration / n (a normalized Laplacian, whose eigenvalues end at 2, times the gradient's factor 4).
# Descent with momentum m is stable up to a rate of 2 (1 + m) divided by that: a share of 0.45, less what gains and
# points with many links add. Half of the field's usual share keeps the large arrangement better at the same KL
# (benchmarks/schedule.py), from there on it makes no difference.
EARLY_RATE = 0.125
COOL_RATE = 0.1  # of the rate before
SMALLEST_AUTOMATIC_RATE = 5.0  # below 480 points; a higher limit scrambles the large arrangement there


@dataclass(frozen=True)
class ScheduleStep:
    """The parameters of one iteration."""

    phase: Literal["early", "late"]
    exaggeration: float
    momentum: float
    learning_rate: float  # of the gradient with its factor 4
    cools: bool = False  # one of the last iterations, in which the map comes to rest


def automatic_rate(n: int, exaggeration: float, share: float) -> float:
    """Return a rate proportional to n, since affinities shrink with n, and to 1 / exaggeration."""
    return max(SMALLEST_AUTOMATIC_RATE, share * n / exaggeration)


def part_of(iterations: int, max_iter: int) -> float:
    """Return the length of a part of the schedule in a run of max_iter: shorter runs shorten all parts alike."""
    return iterations * min(1.0, max_iter / USUAL_ITERATIONS)


def exaggerations(settings: Settings) -> list[float]:
    """Return the exaggerations of the early phase. A given length ends at once, as in the paper; else it falls."""
    first, last = settings.early_exaggeration, settings.exaggeration
    if settings.early_exaggeration_iter is not None:
        return [first] * min(settings.early_exaggeration_iter, settings.max_iter)
    fall = round(part_of(FALLING_ITERATIONS, settings.max_iter))
    falling = [float(first * (last / first) ** (step / fall)) for step in range(fall)]
    return [first] * round(part_of(EARLY_ITERATIONS, settings.max_iter)) + falling


def risen(step: int, max_iter: int) -> float:
    """Return a value that rises from 0 at the end of exaggeration to 1. step: iterations since then."""
    return min(1.0, step / part_of(RISING_ITERATIONS, max_iter))


def cooled(left: int, max_iter: int) -> float:
    """Return 0 until the last iterations, then a value that rises to 1. left: remaining iterations, with this one."""
    return max(0.0, 1.0 - left / part_of(COOLING_ITERATIONS, max_iter))


def early_step(settings: Settings, n: int, exaggeration: float) -> ScheduleStep:
    momentum = EARLY_MOMENTUM if settings.momentum is None else settings.momentum[0]
    rate = settings.learning_rate[0] or automatic_rate(n, exaggeration, EARLY_RATE)
    return ScheduleStep("early", exaggeration, momentum, rate)


def late_step(settings: Settings, n: int, step: int, left: int) -> ScheduleStep:
    """step: iterations since exaggeration; left: remaining iterations, with this one."""
    warm, cold = risen(step, settings.max_iter), cooled(left, settings.max_iter)
    momentum = EARLY_MOMENTUM + (LATE_MOMENTUM - EARLY_MOMENTUM) * warm
    momentum += (COOL_MOMENTUM - momentum) * cold
    share = EARLY_RATE ** (1.0 - warm) * COOL_RATE**cold
    rate = settings.learning_rate[1] or automatic_rate(n, settings.exaggeration, share)
    automatic = settings.momentum is None or settings.learning_rate[1] is None
    momentum = momentum if settings.momentum is None else settings.momentum[1]
    return ScheduleStep("late", settings.exaggeration, momentum, rate, cools=automatic and cold > 0)


def make_schedule(settings: Settings, n: int) -> list[ScheduleStep]:
    """Return one step per iteration."""
    early = [early_step(settings, n, exaggeration) for exaggeration in exaggerations(settings)]
    late = settings.max_iter - len(early)
    return early + [late_step(settings, n, step, late - step) for step in range(late)]


def warn_of_no_late_phase(settings: Settings) -> None:
    """Warn if early exaggeration lasts to the end of the run."""
    early = settings.early_exaggeration_iter
    if early is not None and early >= settings.max_iter and settings.early_exaggeration > settings.exaggeration:
        warnings.warn(
            f"early_exaggeration_iter={early} leaves none of the {settings.max_iter} iterations without early "
            f"exaggeration, and the map without detail; use fewer, or 'auto', or max_iter above {early}",
            UserWarning,
            stacklevel=5,
        )


def skip_to_cooldown(schedule: Sequence[ScheduleStep], done: int, moved: float | None, tol: float) -> int | None:
    """Return the step at which a map that no longer moves continues: the first of the cooldown.

    done: steps so far. moved: median pixels since the last measurement, None without one. The result is None
    while the map moves, before the late phase, and once it cools: then the next step follows.
    """
    step = schedule[done - 1]
    stands_still = moved is not None and moved < tol and step.phase == "late"
    if not stands_still or step.cools:
        return None
    return next((at for at in range(done, len(schedule)) if schedule[at].cools), len(schedule))
