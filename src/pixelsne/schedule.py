"""The phases of the descent: exaggeration, momentum, rate."""

from dataclasses import dataclass
from typing import Literal

from pixelsne.settings import Settings

SMALLEST_AUTOMATIC_RATE = 50.0


@dataclass(frozen=True)
class Phase:
    name: Literal["early", "late"]
    iterations: int
    exaggeration: float
    momentum: float
    learning_rate: float  # of the gradient with its factor 4


def automatic_rate(n: int, exaggeration: float) -> float:
    """Proportional to n, as the field has found, since affinities shrink with n; exaggeration grows them."""
    return max(SMALLEST_AUTOMATIC_RATE, n / (4.0 * exaggeration))


def plan_phases(settings: Settings, n: int) -> tuple[Phase, Phase]:
    early_iterations = min(settings.early_exaggeration_iter, settings.max_iter)
    early_rate, late_rate = settings.learning_rate
    return (
        Phase(
            "early",
            early_iterations,
            settings.early_exaggeration,
            settings.momentum[0],
            early_rate or automatic_rate(n, settings.early_exaggeration),
        ),
        Phase(
            "late",
            settings.max_iter - early_iterations,
            settings.exaggeration,
            settings.momentum[1],
            late_rate or automatic_rate(n, settings.exaggeration),
        ),
    )
