"""The pace of every iteration: exaggeration, momentum, rate.

Left to itself the schedule needs 350 iterations for the map that the usual 1,000 give. Exaggeration falls step
by step instead of at once, the rate is proportional to n / exaggeration throughout, and rate and momentum rise
while the map spreads.
benchmarks/schedule.py is the search that led here.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from pixelsne.settings import Settings

# Of 350 iterations: full exaggeration, its fall to the late value, and the rise of rate and momentum. A shorter
# run shortens all three alike; a longer one goes on at the last pace.
USUAL_ITERATIONS = 350
EARLY_ITERATIONS = 40
FALLING_ITERATIONS = 80
RISING_ITERATIONS = USUAL_ITERATIONS - EARLY_ITERATIONS - FALLING_ITERATIONS

EARLY_MOMENTUM = 0.8
LATE_MOMENTUM = (0.9, 0.95)  # rising

RATE_SHARE = (0.7, 1.0)  # of n / exaggeration: early, and what it rises to
SMALLEST_AUTOMATIC_RATE = 50.0


@dataclass(frozen=True)
class Pace:
    """How one iteration moves."""

    phase: Literal["early", "late"]
    exaggeration: float
    momentum: float
    learning_rate: float  # of the gradient with its factor 4


def automatic_rate(n: int, exaggeration: float, share: float) -> float:
    """Proportional to n, since affinities shrink with n, and against exaggeration, which grows them."""
    return max(SMALLEST_AUTOMATIC_RATE, share * n / exaggeration)


def early_lengths(settings: Settings) -> tuple[int, int]:
    """Iterations at full exaggeration, and while it falls. A length asked for ends at once, as in the paper."""
    if settings.early_exaggeration_iter is not None:
        return min(settings.early_exaggeration_iter, settings.max_iter), 0
    share = min(1.0, settings.max_iter / USUAL_ITERATIONS)
    return round(EARLY_ITERATIONS * share), round(FALLING_ITERATIONS * share)


def falling(first: float, last: float, steps: int) -> Iterator[float]:
    """From first towards last, each by the same factor of the one before."""
    return (first * (last / first) ** (step / steps) for step in range(steps))


def rising(first_and_last: tuple[float, float], step: int, max_iter: int) -> float:
    """From first to last in equal steps, during the usual iterations."""
    first, last = first_and_last
    steps = RISING_ITERATIONS * min(1.0, max_iter / USUAL_ITERATIONS)
    return first + (last - first) * min(1.0, step / steps)


def plan_early(settings: Settings, n: int) -> list[Pace]:
    steady, fall = early_lengths(settings)
    exaggerations = [settings.early_exaggeration] * steady
    exaggerations += falling(settings.early_exaggeration, settings.exaggeration, fall)
    momentum = EARLY_MOMENTUM if settings.momentum is None else settings.momentum[0]
    rate = settings.learning_rate[0]
    return [Pace("early", value, momentum, rate or automatic_rate(n, value, RATE_SHARE[0])) for value in exaggerations]


def plan_late(settings: Settings, n: int, step: int) -> Pace:
    max_iter, exaggeration = settings.max_iter, settings.exaggeration
    momentum = rising(LATE_MOMENTUM, step, max_iter) if settings.momentum is None else settings.momentum[1]
    rate = settings.learning_rate[1] or automatic_rate(n, exaggeration, rising(RATE_SHARE, step, max_iter))
    return Pace("late", exaggeration, momentum, rate)


def plan(settings: Settings, n: int) -> list[Pace]:
    """One pace for each iteration."""
    early = plan_early(settings, n)
    return early + [plan_late(settings, n, step) for step in range(settings.max_iter - len(early))]
