"""The pace of every iteration: exaggeration, momentum, rate.

Left to itself the schedule needs 350 iterations for the map that the usual 1,000 give. Exaggeration falls step
by step instead of at once, the rate is n / exaggeration throughout, and momentum rises while the map spreads.
benchmarks/schedule.py is the search that led here.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from pixelsne.settings import Settings

# Of 350 iterations: full exaggeration, its fall to the late value, and the rise of momentum. A shorter run
# shortens all three alike; a longer one goes on at the last pace.
USUAL_ITERATIONS = 350
EARLY_ITERATIONS = 40
FALLING_ITERATIONS = 80
RISING_ITERATIONS = USUAL_ITERATIONS - EARLY_ITERATIONS - FALLING_ITERATIONS

EARLY_MOMENTUM = 0.8
LATE_MOMENTUM = (0.9, 0.95)  # rising

SMALLEST_AUTOMATIC_RATE = 50.0


@dataclass(frozen=True)
class Pace:
    """How one iteration moves."""

    phase: Literal["early", "late"]
    exaggeration: float
    momentum: float
    learning_rate: float  # of the gradient with its factor 4


def automatic_rate(n: int, exaggeration: float) -> float:
    """Proportional to n, since affinities shrink with n, and against exaggeration, which grows them."""
    return max(SMALLEST_AUTOMATIC_RATE, n / exaggeration)


def early_lengths(settings: Settings) -> tuple[int, int]:
    """Iterations at full exaggeration, and while it falls. A length asked for ends at once, as in the paper."""
    if settings.early_exaggeration_iter is not None:
        return min(settings.early_exaggeration_iter, settings.max_iter), 0
    share = min(1.0, settings.max_iter / USUAL_ITERATIONS)
    return round(EARLY_ITERATIONS * share), round(FALLING_ITERATIONS * share)


def falling(first: float, last: float, steps: int) -> Iterator[float]:
    """From first towards last, each by the same factor of the one before."""
    return (first * (last / first) ** (step / steps) for step in range(steps))


def late_momentum(settings: Settings, step: int) -> float:
    if settings.momentum is not None:
        return settings.momentum[1]
    steps = RISING_ITERATIONS * min(1.0, settings.max_iter / USUAL_ITERATIONS)
    first, last = LATE_MOMENTUM
    return first + (last - first) * min(1.0, step / steps)


def plan(settings: Settings, n: int) -> list[Pace]:
    """One pace for each iteration."""
    early, fall = early_lengths(settings)
    early_momentum = EARLY_MOMENTUM if settings.momentum is None else settings.momentum[0]
    early_rate, late_rate = settings.learning_rate
    exaggerations = [settings.early_exaggeration] * early
    exaggerations += falling(settings.early_exaggeration, settings.exaggeration, fall)
    paces = [Pace("early", value, early_momentum, early_rate or automatic_rate(n, value)) for value in exaggerations]
    rate = late_rate or automatic_rate(n, settings.exaggeration)
    late = range(settings.max_iter - len(paces))
    return paces + [Pace("late", settings.exaggeration, late_momentum(settings, step), rate) for step in late]
