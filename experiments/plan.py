"""The cells of each table and figure, in full and in a quick run."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from experiments.cells import Cell
from experiments.methods import METHODS
from experiments.paper import DIGITS_JUDGED, POINTS, RESOLUTION, RESOLUTIONS, SETS

LARGE = 200_000  # points; from here on a run takes minutes, so there is only one
TIMED_ONCE_FROM = 50_000  # the same for the experiment on time by number of points
TREES_UP_TO = 100_000  # maximum number of points for the paper's trees


@dataclass(frozen=True)
class Scale:
    """How much is measured."""

    rows: int | None  # maximum number of rows of every data set; None: all rows
    repetitions: int
    judged_rows: int  # MNIST digits in the tables of quality
    judged_repetitions: int
    sizes: tuple[int, ...]  # numbers of points, for time by number of points
    exact_up_to: int  # the largest of these for t-SNE, whose time is quadratic
    digit_counts: tuple[int, ...]  # MNIST digits, for time by resolution
    limited: bool = True  # leave out methods that would take hours


FULL = Scale(
    rows=None,
    repetitions=3,
    judged_rows=DIGITS_JUDGED,
    judged_repetitions=10,
    sizes=(5_000, 10_000, 20_000, 50_000, 100_000, 200_000),
    exact_up_to=10_000,
    digit_counts=(30_000, 50_000),
)
QUICK = Scale(
    rows=3_000,
    repetitions=2,
    judged_rows=2_000,
    judged_repetitions=3,
    sizes=(1_000, 2_000, 5_000, 10_000),
    exact_up_to=2_000,
    digit_counts=(3_000, 5_000),
)


def seeds(count: int) -> range:
    return range(count)


def size_of(data: str, scale: Scale, sizes: dict[str, int]) -> int:
    available = sizes.get(data, POINTS[data])
    return min(available, scale.rows or available)


def methods_for(n: int, scale: Scale) -> list[str]:
    """Return the methods that finish in reasonable time. BH-SNE on RP's affinities is always among them."""
    names = ["t-sne", "bh-sne", "pixelsne-vp", "pixelsne-rp", "bh-sne-rp", "ours"]
    return [name for name in names if not scale.limited or n <= (METHODS[name].max_points or n)]


def times(scale: Scale, sizes: dict[str, int], sets: tuple[str, ...] = SETS) -> Iterator[Cell]:
    for data in sets:
        n = size_of(data, scale, sizes)
        rows = None if n == sizes.get(data, POINTS[data]) else n
        for method in methods_for(n, scale):
            count = 1 if method == "t-sne" or n >= LARGE else scale.repetitions
            for seed in seeds(count):
                yield Cell(data, method, RESOLUTION[data], seed, rows)
                if method == "ours":
                    yield Cell(data, method, RESOLUTION[data], seed, rows, threads=2)


def improvements(scale: Scale, sizes: dict[str, int]) -> Iterator[Cell]:
    for data in SETS:
        n = min(size_of(data, scale, sizes), TREES_UP_TO)
        rows = None if n == sizes.get(data, POINTS[data]) else n
        yield Cell(data, "pixelsne-rp", RESOLUTION[data], 0, rows, kind="trees")


def quality_by_resolution(scale: Scale, _sizes: dict[str, int]) -> Iterator[Cell]:
    n = scale.judged_rows
    for seed in seeds(scale.judged_repetitions):
        for resolution in RESOLUTIONS:
            yield Cell("mnist", "pixelsne-rp", resolution, seed, n)
        for method in ("pixelsne-rp-mass", "ours-50"):
            yield Cell("mnist", method, 1024, seed, n)
        yield Cell("mnist", "pixelsne-rp", 1024, 0, n, subset=seed + 1)


def cost(scale: Scale, sizes: dict[str, int]) -> Iterator[Cell]:
    yield from quality_by_resolution(scale, sizes)
    yield Cell("mnist", "pixelsne-rp", 1024, 0, scale.judged_rows, kind="start")
    for seed in seeds(scale.judged_repetitions):
        yield Cell("mnist", "bh-sne", 1024, seed, scale.judged_rows)


def size(scale: Scale, sizes: dict[str, int]) -> Iterator[Cell]:
    """Yield the cells of time by number of points, on the largest data set available."""
    data = largest(sizes)
    for n in scale.sizes:
        if n > sizes.get(data, POINTS[data]):
            continue
        limits = {"t-sne": scale.exact_up_to, "bh-sne": 50_000}
        for method in ("t-sne", "bh-sne", "bh-sne-rp", "pixelsne-rp", "ours"):
            if n <= limits.get(method, n) or not scale.limited:
                count = 1 if n >= TIMED_ONCE_FROM or method == "t-sne" else min(2, scale.repetitions)
                for seed in seeds(count):
                    yield Cell(data, method, RESOLUTION["newsagg"], seed, n)


def parts(scale: Scale, sizes: dict[str, int]) -> Iterator[Cell]:
    """Yield the cells for the parts of an iteration by number of points."""
    data = largest(sizes)
    for n in scale.sizes:
        if n <= sizes.get(data, POINTS[data]):
            yield Cell(data, "pixelsne-rp", RESOLUTION["newsagg"], 0, n, kind="parts")


def size_and_parts(scale: Scale, sizes: dict[str, int]) -> Iterator[Cell]:
    yield from size(scale, sizes)
    yield from parts(scale, sizes)


def largest(sizes: dict[str, int]) -> str:
    """Return NewsAgg if it is complete, otherwise the set with the most rows."""
    if sizes.get("newsagg", 0) >= max(FULL.sizes):
        return "newsagg"
    return max(sizes, key=lambda data: sizes[data], default="mnist")


def resolution(scale: Scale, _sizes: dict[str, int]) -> Iterator[Cell]:
    for n in scale.digit_counts:
        for seed in seeds(min(2, scale.repetitions)):
            yield Cell("mnist", "bh-sne-rp", 1024, seed, n)
            for side in RESOLUTIONS:
                yield Cell("mnist", "pixelsne-rp", side, seed, n)


def quality(scale: Scale, sizes: dict[str, int]) -> Iterator[Cell]:
    """Yield cells that `times` has measured already."""
    for cell in times(scale, sizes):
        if cell.method in {"bh-sne", "bh-sne-rp", "pixelsne-rp", "ours"} and cell.threads == 1:
            yield cell


def maps(scale: Scale, sizes: dict[str, int]) -> Iterator[Cell]:
    """Yield one cell of every method among those of `times`."""
    for cell in times(scale, sizes):
        if cell.seed == 0 and cell.threads == 1:
            yield cell


def headlines(scale: Scale, sizes: dict[str, int]) -> Iterator[Cell]:
    for cell in times(scale, sizes, ("newsagg",)):
        if cell.method == "pixelsne-rp" and cell.seed == 0:
            yield cell


EXPERIMENTS: dict[str, Callable[[Scale, dict[str, int]], Iterator[Cell]]] = {
    "times": times,
    "improvements": improvements,
    "quality-by-resolution": quality_by_resolution,
    "cost": cost,
    "size": size_and_parts,
    "resolution": resolution,
    "quality": quality,
    "maps": maps,
    "headlines": headlines,
}
