"""How much memory a run will take, told before it is taken."""

import os
from bisect import bisect_right
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from scipy import sparse

from pixelsne.choices import CORE_METRICS, GIVEN_METRICS
from pixelsne.components import FEWEST_COMPONENTS, MOST_ROWS, NUMBERS_IN_SAMPLE, most_components
from pixelsne.neighbors import CLUSTER_SIZE, choose_effort, choose_search
from pixelsne.reduce import SPARE_DIRECTIONS, reduces
from pixelsne.reduction import WIDEST_COVARIANCE
from pixelsne.settings import Settings

GIGABYTE = 1e9
FLOAT, DOUBLE, INDEX, KEY = 4, 8, 4, 8  # bytes
PAIR = INDEX + FLOAT  # a neighbor and its distance or affinity

# A symmetric P has more entries than n k: whom a point chose, and who chose it. Between 1.26 and 1.83 times
# as many on data we have measured, so that the estimate is true to some 15 %.
JOINT_PER_CHOSEN = 1.58

# Of symmetrizing, an eighth is at work at a time: edges of 12 bytes come in, finished rows go out.
SHARE_AT_WORK = 1 / 8
EDGE = 12

# Of a point in the descent: position, velocity, gains, both forces, and its place in the field's order.
POINT_IN_DESCENT = 100

# A user's own graph is copied, sorted and turned.
PAIR_IN_GRAPH = 48

# Of a reduction: a covariance, its copy and its vectors, or a basis, its image and their product; a sample of rows
# in all columns, along all components, and what comes between.
MATRICES = 3
SAMPLES = 3

# With fewer, a map shows little more than who is next to whom; no advice, then.
FEWEST_NEIGHBORS = 9

# Blocks of rows, the field's lattice, buffers of threads, whatever n is.
FIXED = 19e6


@dataclass(frozen=True)
class Workload:
    """The sizes that decide how much memory a run needs."""

    n: int
    dimensions: int  # after reduction, at most; 0 where there are no coordinates
    neighbors: int
    search: str  # of neighbors.SEARCHES, or "given"
    counted_by: str = "perplexity"  # what the number of neighbors comes from; "": from the input alone
    columns: int = 0  # of an input that is reduced; 0: it is not
    fewest_dimensions: int | None = None  # that n_pca="auto" may choose; None: as many as at most


def workload(values: Any, settings: Settings, neighbor_count: int) -> Workload:
    n, columns = values.shape
    counted_by = "perplexity" if settings.n_neighbors is None else "n_neighbors"
    if settings.metric in GIVEN_METRICS and sparse.issparse(values):
        neighbor_count, counted_by = max(neighbor_count, -(-values.nnz // n)), ""
    if settings.metric not in CORE_METRICS:
        return Workload(n, 0, neighbor_count, "given", counted_by)
    reduced = columns if reduces(columns, settings.n_pca) else 0
    if not reduced or isinstance(settings.n_pca, int):
        dimensions, fewest = min(n, settings.n_pca) if reduced else columns, None
    else:
        dimensions = most_components(n, columns, iterates=columns > WIDEST_COVARIANCE)
        fewest = min(dimensions, FEWEST_COMPONENTS)
    search = choose_search(settings.neighbors, n, dimensions, neighbor_count)
    return Workload(n, dimensions, neighbor_count, search, counted_by, reduced, fewest)


def reduced_to(work: Workload, dimensions: int) -> Workload:
    """Return the workload with the number of components that n_pca="auto" has chosen."""
    return replace(work, dimensions=dimensions, fewest_dimensions=dimensions)


def least(work: Workload) -> Workload:
    """Return the workload with the fewest components that n_pca="auto" can choose."""
    fewest = work.dimensions if work.fewest_dimensions is None else work.fewest_dimensions
    return replace(work, dimensions=fewest)


def reducing_bytes(work: Workload) -> float:
    """Return the bytes of the reduction, without its result: covariance and directions, and a sample."""
    columns = work.columns
    matrices = columns**2 if columns <= WIDEST_COVARIANCE else columns * (work.dimensions + SPARE_DIRECTIONS)
    sample = 0 if work.fewest_dimensions is None else min(work.n, MOST_ROWS) * columns
    return DOUBLE * (MATRICES * matrices + SAMPLES * min(sample, NUMBERS_IN_SAMPLE))


def clusters_around_bytes(work: Workload) -> float:
    """Return what the list of clusters around each cluster takes, and the table of those each point looked at."""
    clusters = work.n / CLUSTER_SIZE
    probes = choose_effort(work.n, work.dimensions).probes
    return clusters * PAIR * min(clusters, 8 * probes) + work.n * min(clusters, 5 * probes) / 8


def search_bytes(work: Workload) -> float:
    """Return the bytes of the search, without points and results."""
    points, pairs = FLOAT * work.n * work.dimensions, work.n * work.neighbors
    return {
        "exact": 2 * points,  # in another order, and in panels
        "vp-tree": 40 * work.n,
        "rp-forest": KEY * pairs + points,
        "clusters": KEY * pairs + points + clusters_around_bytes(work),  # in another order
        "given": (PAIR_IN_GRAPH - PAIR) * pairs,
    }.get(work.search, KEY * pairs + points)


def bytes_by_stage(work: Workload) -> dict[str, float]:
    """Return the peak bytes of each stage, without the input."""
    points, pairs = FLOAT * work.n * work.dimensions, work.n * work.neighbors
    joint = JOINT_PER_CHOSEN * PAIR * pairs
    return {
        "reduce": points + reducing_bytes(work),
        "neighbors": points + PAIR * pairs + search_bytes(work),
        "affinities": points + PAIR * pairs + joint + SHARE_AT_WORK * (EDGE * pairs + joint),
        "descent": points + joint + POINT_IN_DESCENT * work.n,
    }


def estimate(work: Workload) -> int:
    """Return the peak bytes of the run."""
    return int(FIXED + max(bytes_by_stage(work).values()))


def read_number(path: Path) -> float | None:
    try:
        return float(path.read_text(encoding="ascii"))
    except (OSError, ValueError):
        return None


def own_groups() -> list[Path]:
    """Return the control groups of this process and their parents; containers and batch systems limit memory there."""
    root = Path("/sys/fs/cgroup")
    folders = []
    try:
        lines = Path("/proc/self/cgroup").read_text(encoding="utf-8").splitlines()
    except OSError:
        return []
    for line in lines:
        _, controllers, path = line.split(":", 2)
        base = root / "memory" if "memory" in controllers.split(",") else root
        if base != root or not controllers:
            folder = base / path.lstrip("/")
            folders += [folder, *(parent for parent in folder.parents if parent.is_relative_to(base))]
    return folders


# Names in the two versions of such groups: the limit, what is used, and what of it can be had back at once.
GROUP_FILES = (
    ("memory.max", "memory.current", "inactive_file"),
    ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"),
)


def left_in_group(folder: Path) -> float:
    """Return the bytes left in a control group; infinite without a limit. Cached files count as free."""
    for limit, used, reclaimable in GROUP_FILES:
        most, now = read_number(folder / limit), read_number(folder / used)
        if most is not None and now is not None:
            return max(0.0, most - now + read_figure(folder / "memory.stat", reclaimable))
    return float("inf")


def read_figure(path: Path, name: str) -> float:
    """Return the number of a line `name number` of a file; 0 if there is none."""
    try:
        lines = path.read_text(encoding="ascii").splitlines()
    except OSError:
        return 0.0
    return next((float(line.split()[1]) for line in lines if line.split()[:1] == [name]), 0.0)


def free_memory() -> float:
    """Return the free memory of the machine, without swap; infinite if unknown."""
    try:
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
        return next(1024.0 * float(line.split()[1]) for line in lines if line.startswith("MemAvailable:"))
    except (OSError, StopIteration):
        pass
    if "SC_PHYS_PAGES" in getattr(os, "sysconf_names", {}):
        return float(os.sysconf("SC_PHYS_PAGES")) * os.sysconf("SC_PAGE_SIZE")
    return float("inf")


def available() -> float:
    """Return the bytes that this process can allocate."""
    return min([free_memory(), *map(left_in_group, own_groups())])


def check_room_for_values(rows: int, columns: int, size: int) -> None:
    """Raise MemoryError if the rest of an input does not fit. size: its bytes."""
    there = available()
    if size > there:
        raise MemoryError(
            f"{rows:,} rows of {columns} numbers take another {size / GIGABYTE:.1f} GB, "
            f"{there / GIGABYTE:.1f} GB are available; take fewer rows or columns"
        )


def check_room_for_points(n: int, dimensions: int) -> None:
    """Raise MemoryError if the reduced points do not fit."""
    size, there = FLOAT * n * dimensions, available()
    if size > there:
        raise MemoryError(
            f"{n:,} points of {dimensions} dimensions take {size / GIGABYTE:.1f} GB, {there / GIGABYTE:.1f} GB are "
            f"available; take fewer points, or a lower n_pca (50, for example)"
        )


def check_memory(work: Workload, beside: int = 0) -> None:
    """Raise MemoryError if a run of this size does not fit. beside: bytes of an input that is not read yet.

    Where n_pca="auto" has not chosen yet, a run is refused only if it could not fit with the fewest components.
    """
    work = least(work)
    needed, there = estimate(work) + beside, available()
    if needed > there:
        raise MemoryError(
            f"{work.n:,} points with {work.neighbors} neighbors each take about {needed / GIGABYTE:.1f} GB, "
            f"{there / GIGABYTE:.1f} GB are available; {remedy(work, there - beside)}"
        )


def remedy(work: Workload, there: float) -> str:
    """Return advice on what would fit."""
    fitting = fewer_neighbors(work, there) if work.counted_by else 0
    if fitting >= FEWEST_NEIGHBORS:
        lower = fitting // 3 if work.counted_by == "perplexity" else fitting
        return (
            f"lower {work.counted_by} to {lower} ({fitting} neighbors each; {work.neighbors} now), or take fewer points"
        )
    if work.dimensions == 0:
        return "take fewer points, or a graph with fewer entries"
    return f"take fewer points, or a lower n_pca ({work.dimensions} dimensions now)"


def fewer_neighbors(work: Workload, there: float) -> int:
    """Return the largest number of neighbors that fits; 0 if none does."""
    counts = range(1, work.neighbors)
    return bisect_right(counts, there, key=lambda k: estimate(replace(work, neighbors=k)))
