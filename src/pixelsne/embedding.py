"""The result of a run."""

from dataclasses import dataclass

from pixelsne.arrays import Placed, Positions
from pixelsne.descent import History, StoppedBy
from pixelsne.screen import Screen


@dataclass(frozen=True)
class Embedding:
    positions: Positions  # (n, 2), embedding units
    screen: Screen
    kl_divergence: float
    iterations: int
    stopped_by: StoppedBy
    perplexity: tuple[float, ...]
    timings: dict[str, float]  # seconds by stage
    history: History

    @property
    def placed(self) -> Placed:
        return self.screen.place(self.positions)
