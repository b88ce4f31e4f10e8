"""Merge basins into ever larger regions, and choose the levels at which a map is described."""

import heapq
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pixelsne.arrays import AnyArray
from pixelsne.density_basins import KERNEL_AREA, Basins

# A peak is no noise if it exceeds its saddle by this many standard deviations of the difference of two Poisson counts.
SIGNIFICANCE = 3.6
MIN_POINTS = 12  # of a region
MIN_SHARE = 1 / 1500  # of all points

MAX_LEVELS = 5
MAX_REGIONS = 700
FIRST_LEVEL = (5, 15)
GROWTH = (2.5, 5.5)  # regions of a level in relation to the level above
MIN_GROWTH = 1.5  # of the last level
END = np.log(2.0)  # the gap between the least important region and noise
OUTSIDE = 1.5  # what a first level of fewer regions costs, for each factor of 1.5 or so


@dataclass(frozen=True)
class Merge:
    """One step: region `merged` becomes a part of `into`."""

    merged: int
    into: int
    importance: float  # points above the saddle, roughly
    is_noise: bool


class RegionGraph:
    """Regions and the saddles between them, which are merged one after another, the least important first."""

    def __init__(self, basins: Basins) -> None:
        self._peaks = basins.peaks.tolist()
        self._counts = basins.counts.tolist()
        self._fewest = max(MIN_POINTS, MIN_SHARE * sum(self._counts))
        self._saddles: list[dict[int, float]] = [{} for _ in self._peaks]
        for (first, second), height in zip(basins.pairs.tolist(), basins.saddles.tolist(), strict=True):
            self._saddles[first][second] = self._saddles[second][first] = height
        self._versions = [0] * len(self._peaks)
        self._heap: list[tuple[bool, float, int, int, int]] = []
        for region in range(len(self._peaks)):
            self._push(region)

    def _push(self, region: int) -> None:
        if self._saddles[region]:
            neighbor, saddle = max(self._saddles[region].items(), key=lambda item: (item[1], -item[0]))
            peak, count = self._peaks[region], self._counts[region]
            deviation = np.sqrt((peak + saddle) / KERNEL_AREA)
            is_real = count >= self._fewest and peak - saddle > SIGNIFICANCE * deviation
            importance = count * (1 - saddle / peak) if peak > 0 else 0.0
            heapq.heappush(self._heap, (bool(is_real), importance, region, neighbor, self._versions[region]))

    def merge_all(self) -> list[Merge]:
        merges = []
        while self._heap:
            is_real, importance, region, neighbor, version = heapq.heappop(self._heap)
            if version == self._versions[region]:
                merges.append(Merge(region, neighbor, importance, not is_real))
                self._merge(region, neighbor)
        return merges

    def _merge(self, merged: int, into: int) -> None:
        self._versions[merged] = -1
        self._peaks[into] = max(self._peaks[into], self._peaks[merged])
        self._counts[into] += self._counts[merged]
        links = self._saddles[into]
        for neighbor, height in self._saddles[merged].items():
            del self._saddles[neighbor][merged]
            if neighbor != into:
                links[neighbor] = self._saddles[neighbor][into] = max(height, links.get(neighbor, 0.0))
                self._versions[neighbor] += 1
                self._push(neighbor)
        self._saddles[merged] = {}
        self._versions[into] += 1
        self._push(into)


def choose_numbers(gaps: AnyArray) -> list[int]:
    """Return the number of regions of each level, coarsest first.

    gaps: gaps[k] is the logarithm of the ratio of the importance of the k-th region to that of the next one, for k up
    to the number of regions that are no noise.
    """
    last = len(gaps) - 1
    if last <= 1:
        return [last] if last else []
    numbers = [best_number(gaps, min(2, last), min(FIRST_LEVEL[1], last), FIRST_LEVEL)]
    while numbers[-1] < last and len(numbers) < MAX_LEVELS:
        low, high = (int(np.ceil(growth * numbers[-1])) for growth in GROWTH)
        if last < MIN_GROWTH * numbers[-1]:
            break
        low = min(low, last)
        numbers.append(best_number(gaps, low, min(high, last), (3 * numbers[-1], 4 * numbers[-1])))
    return numbers


def best_number(gaps: AnyArray, low: int, high: int, preferred: tuple[int, int]) -> int:
    """Return the number between low and high after which importance falls most, near the preferred ones."""
    numbers = np.arange(low, high + 1)
    away = np.log(np.maximum(preferred[0] / numbers, 1)) + np.log(np.maximum(numbers / preferred[1], 1))
    return int(numbers[np.argmax(gaps[numbers] - OUTSIDE / np.log(1.5) * away)])


def find_levels(basins: Basins) -> list[NDArray[np.int32]]:
    """Return for each level, coarsest first, the region of each basin: the index of one of its basins."""
    merges = RegionGraph(basins).merge_all()
    noise = [index for index, merge in enumerate(merges) if merge.is_noise]
    total = min(len(basins.peaks) - (noise[-1] + 1 if noise else 0), MAX_REGIONS)
    importances = np.maximum.accumulate([merge.importance for merge in merges] or [0.0])
    gaps = np.zeros(total + 1)
    gaps[-1] = END
    for number in range(2, total):  # the merge of the least important of `number` regions, and the one before
        index = len(merges) - number + 1
        gaps[number] = np.log(importances[index] / max(importances[index - 1], 1e-300))
    return [labels_after(merges, len(basins.peaks), number) for number in choose_numbers(gaps)]


def labels_after(merges: list[Merge], basins: int, regions: int) -> NDArray[np.int32]:
    """Return the region of each basin once so many regions are left."""
    target = np.arange(basins, dtype=np.int32)
    for merge in merges[: basins - regions]:
        target[merge.merged] = merge.into
    while True:
        further = target[target]
        if np.array_equal(further, target):
            return target
        target = further
