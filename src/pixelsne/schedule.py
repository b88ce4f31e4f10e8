"""The schedule: exaggeration, momentum and learning rate of every iteration.

250 iterations give the map that the usual 1,000 give. After exaggeration, the learning rate and the momentum rise
within 40 iterations to far more than is usual. During exaggeration such a rate is unstable: it destroys the arrangement
of the initial positions, which neither KL nor neighborhood precision shows (benchmarks/schedule.py does). At the full
rate and momentum, points oscillate about their positions. In large maps they oscillate farther than the distances to
their neighbors, so the last iterations cool down.

A map that continues (init_scale=None) has the momentum at which a run ends, and less than half of its rate:
exaggeration would tear it apart, and a higher rate would set points in motion that have come to rest.
"""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from pixelsne.settings import Settings

# Parts of a run of 250 iterations: full exaggeration, its fall, the rise of rate and momentum after it, and cooling.
# A shorter run shortens all four in proportion; a longer one stays at the full rate before it cools.
USUAL_ITERATIONS = 250
EARLY_ITERATIONS = 90
FALLING_ITERATIONS = 20
RISING_ITERATIONS = 40
COOLING_ITERATIONS = 50

EARLY_MOMENTUM = 0.8
LATE_MOMENTUM = 0.965
COOL_MOMENTUM = 0.7

# The early rate as a share of n / exaggeration. Where points lie close together, the attraction's second derivatives
# reach 8 exaggeration / n (a normalized Laplacian, whose eigenvalues end at 2, times the gradient's factor 4).
# Descent with momentum m is stable up to a rate of 2 (1 + m) divided by that, which is a share of 0.45. Gains and
# points with many edges lower it. Half of the usual share of 0.25 keeps the large arrangement better at the same KL
# (benchmarks/schedule.py); a still smaller share makes no difference.
EARLY_RATE_FACTOR = 0.125
COOL_RATE_FACTOR = 0.1  # of the rate before
CONTINUING_RATE_FACTOR = 0.04  # of n, for a map that continues: finished maps stay within tol
MIN_AUTOMATIC_RATE = 5.0  # reached below 480 points while exaggerated; a higher limit destroys their arrangement

# Spacings of the pixel field's lattice, embedding units. The time of a Fourier transform is proportional to
# 1 / spacing². Maps are as good if COARSE_SPACING is used before the cooldown and COOLING_SPACING during it
# (benchmarks/field_error.py).
SPACING = 0.42
COOLING_SPACING = 0.55
COARSE_SPACING = 1.0


@dataclass(frozen=True)
class ScheduleStep:
    """The parameters of one iteration."""

    phase: Literal["early", "late"]
    exaggeration: float
    momentum: float
    learning_rate: float  # of the gradient with its factor 4
    cools: bool = False  # whether it is one of the last, cooling iterations
    spacing: float = SPACING  # of the pixel field's lattice


def automatic_rate(n: int, exaggeration: float, factor: float) -> float:
    """Return a rate proportional to n, since affinities shrink with n, and to 1 / exaggeration."""
    return max(MIN_AUTOMATIC_RATE, factor * n / exaggeration)


def part_of(iterations: int, max_iter: int) -> float:
    """Return the length of a part of the schedule in a run of max_iter iterations: shorter runs have shorter parts."""
    return iterations * min(1.0, max_iter / USUAL_ITERATIONS)


def continues(settings: Settings) -> bool:
    """Return whether the run continues a map. With a number of early iterations, even 0, it has the usual schedule."""
    return settings.init_scale is None and settings.early_exaggeration_iter is None


def exaggerations(settings: Settings) -> list[float]:
    """Return the exaggeration of each early iteration: constant if their number is given, else falling at the end."""
    first, last = settings.early_exaggeration, settings.exaggeration
    if settings.early_exaggeration_iter is not None:
        return [first] * min(settings.early_exaggeration_iter, settings.max_iter)
    fall = round(part_of(FALLING_ITERATIONS, settings.max_iter))
    falling = [float(first * (last / first) ** (step / fall)) for step in range(fall)]
    return [first] * round(part_of(EARLY_ITERATIONS, settings.max_iter)) + falling


def warmup_fraction(step: int, max_iter: int) -> float:
    """Return how far rate and momentum have risen, from 0 at the end of exaggeration to 1. step: iterations since."""
    return min(1.0, step / part_of(RISING_ITERATIONS, max_iter))


def cooldown_fraction(left: int, max_iter: int) -> float:
    """Return how far the map has cooled: 0 before the last iterations, 1 at the end. left: remaining iterations."""
    return max(0.0, 1.0 - left / part_of(COOLING_ITERATIONS, max_iter))


def has_cooldown(settings: Settings) -> bool:
    """Return whether the schedule ends with cooling iterations."""
    return settings.momentum is None or settings.learning_rate[1] is None


def spacing_before_cooldown(settings: Settings) -> float:
    """Return the spacing of the lattice before cooling iterations."""
    return COARSE_SPACING if has_cooldown(settings) else SPACING


def early_step(settings: Settings, n: int, exaggeration: float) -> ScheduleStep:
    momentum = EARLY_MOMENTUM if settings.momentum is None else settings.momentum[0]
    rate = settings.learning_rate[0] or automatic_rate(n, exaggeration, EARLY_RATE_FACTOR)
    return ScheduleStep("early", exaggeration, momentum, rate, spacing=spacing_before_cooldown(settings))


def late_step(settings: Settings, n: int, step: int, left: int) -> ScheduleStep:
    """Return a step of the late phase. step: iterations since exaggeration; left: iterations left, with this one."""
    warmup, cooldown = warmup_fraction(step, settings.max_iter), cooldown_fraction(left, settings.max_iter)
    momentum = EARLY_MOMENTUM + (LATE_MOMENTUM - EARLY_MOMENTUM) * warmup
    momentum += (COOL_MOMENTUM - momentum) * cooldown
    factor = EARLY_RATE_FACTOR ** (1.0 - warmup) * COOL_RATE_FACTOR**cooldown
    rate = settings.learning_rate[1] or automatic_rate(n, settings.exaggeration, factor)
    momentum = momentum if settings.momentum is None else settings.momentum[1]
    cools = has_cooldown(settings) and cooldown > 0
    spacing = COOLING_SPACING if cools else spacing_before_cooldown(settings)
    return ScheduleStep("late", settings.exaggeration, momentum, rate, cools=cools, spacing=spacing)


def continuing_step(settings: Settings, n: int) -> ScheduleStep:
    """Return the step of a run that continues a map: the momentum at the end of a run, less than half of its rate."""
    momentum = COOL_MOMENTUM if settings.momentum is None else settings.momentum[1]
    rate = settings.learning_rate[1] or automatic_rate(n, settings.exaggeration, CONTINUING_RATE_FACTOR)
    return ScheduleStep("late", settings.exaggeration, momentum, rate)


def make_schedule(settings: Settings, n: int) -> list[ScheduleStep]:
    """Return one step per iteration."""
    if continues(settings):
        return [continuing_step(settings, n)] * settings.max_iter
    early = [early_step(settings, n, exaggeration) for exaggeration in exaggerations(settings)]
    late = settings.max_iter - len(early)
    return early + [late_step(settings, n, step, late - step) for step in range(late)]


def warn_of_no_late_phase(settings: Settings) -> None:
    """Warn if early exaggeration lasts to the end of the run."""
    early = settings.early_exaggeration_iter
    if early is not None and early >= settings.max_iter and settings.early_exaggeration > settings.exaggeration:
        warnings.warn(
            f"early_exaggeration_iter={early} covers all {settings.max_iter} iterations, so the map shows no detail; "
            f"lower it, use 'auto', or set max_iter above {early}",
            UserWarning,
            stacklevel=5,
        )


def skip_to_cooldown(schedule: Sequence[ScheduleStep], done: int, moved: float | None, tol: float) -> int | None:
    """Return the index of the first cooling step, if the map has converged; else None.

    done: the number of steps so far. moved: median pixels since the last measurement; None if nothing was measured. A
    map converges in the late phase only. Once it cools, the result is None.
    """
    step = schedule[done - 1]
    has_converged = moved is not None and moved < tol and step.phase == "late"
    if not has_converged or step.cools:
        return None
    return next((index for index in range(done, len(schedule)) if schedule[index].cools), len(schedule))
