"""The result of a run on one machine."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pixelsne.arrays import Positions
from pixelsne.descent_loop import History, StoppedBy
from pixelsne.neighborhood import Neighborhood
from pixelsne.screen import Screen
from pixelsne.spaces import Space


@dataclass(frozen=True)
class FittedMap:
    positions: Positions  # (n, 2), embedding units
    screen: Screen
    space: Space  # finds the neighbors of new points
    neighborhood: Neighborhood
    kl_divergence: float
    iterations: int
    stopped_by: StoppedBy
    timings: dict[str, float]  # seconds by stage
    history: History
    weights: NDArray[np.float32] | None = None  # (n), relative to their mean; None: all are equal
