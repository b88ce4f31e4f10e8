"""The pace of every iteration: exaggeration, momentum, rate.

Left to itself the schedule needs 350 iterations for the map that the usual 1,000 give. Exaggeration falls step
by step instead of at once, the rate is n / exaggeration, and momentum rises while the map spreads. At such a pace
points do not come to rest: they swing about their places, farther than their neighbors are away where points are
many. So the last iterations cool down.
benchmarks/schedule.py is the search that led here.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from pixelsne.settings import Settings

# Of 350 iterations: full exaggeration, its fall to the late value, the rise of momentum, and cooling. A shorter
# run shortens all four alike; a longer one stays at the highest pace in between.
USUAL_ITERATIONS = 350
EARLY_ITERATIONS = 40
FALLING_ITERATIONS = 80
RISING_ITERATIONS = 170
COOLING_ITERATIONS = 60

EARLY_MOMENTUM = 0.8
LATE_MOMENTUM = (0.9, 0.95)  # rising
COOL_MOMENTUM = 0.7

COOL_RATE = 0.1  # of the rate before
SMALLEST_AUTOMATIC_RATE = 50.0


@dataclass(frozen=True)
class Pace:
    """How one iteration moves."""

    phase: Literal["early", "late"]
    exaggeration: float
    momentum: float
    learning_rate: float  # of the gradient with its factor 4
    cools: bool = False  # one of the last iterations, in which the map comes to rest


def automatic_rate(n: int, exaggeration: float, share: float = 1.0) -> float:
    """Proportional to n, since affinities shrink with n, and against exaggeration, which grows them."""
    return max(SMALLEST_AUTOMATIC_RATE, share * n / exaggeration)


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


def late_momentum(step: int, left: int, max_iter: int) -> float:
    first, last = LATE_MOMENTUM
    risen = first + (last - first) * min(1.0, step / part_of(RISING_ITERATIONS, max_iter))
    return risen + (COOL_MOMENTUM - risen) * cooled(left, max_iter)


def plan_early(settings: Settings, n: int) -> list[Pace]:
    steady, fall = early_lengths(settings)
    exaggerations = [settings.early_exaggeration] * steady
    exaggerations += falling(settings.early_exaggeration, settings.exaggeration, fall)
    momentum = EARLY_MOMENTUM if settings.momentum is None else settings.momentum[0]
    rate = settings.learning_rate[0]
    return [Pace("early", value, momentum, rate or automatic_rate(n, value)) for value in exaggerations]


def plan_late(settings: Settings, n: int, step: int, left: int) -> Pace:
    max_iter, exaggeration = settings.max_iter, settings.exaggeration
    momentum = late_momentum(step, left, max_iter) if settings.momentum is None else settings.momentum[1]
    rate = settings.learning_rate[1] or automatic_rate(n, exaggeration, COOL_RATE ** cooled(left, max_iter))
    automatic = settings.momentum is None or settings.learning_rate[1] is None
    return Pace("late", exaggeration, momentum, rate, cools=automatic and cooled(left, max_iter) > 0)


def plan(settings: Settings, n: int) -> list[Pace]:
    """One pace for each iteration."""
    early = plan_early(settings, n)
    late = settings.max_iter - len(early)
    return early + [plan_late(settings, n, step, late - step) for step in range(late)]


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
