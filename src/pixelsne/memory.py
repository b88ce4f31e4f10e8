"""Estimate the memory of a run, and check that there is enough, before the run starts."""

import os
from bisect import bisect_right
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from scipy import sparse

from pixelsne.choices import CORE_METRICS, PRECOMPUTED_METRICS
from pixelsne.components import MAX_ROWS, MIN_COMPONENTS, NUMBERS_IN_SAMPLE, QUERIES, most_components
from pixelsne.neighbors import CLUSTER_SIZE, choose_cluster_parameters, choose_search
from pixelsne.nn_descent import is_needed
from pixelsne.reduce import OVERSAMPLES, reduces
from pixelsne.reduction import MAX_COVARIANCE_COLUMNS
from pixelsne.settings import Settings

GIGABYTE = 1e9
FLOAT, DOUBLE, INDEX, KEY = 4, 8, 4, 8  # bytes
PAIR = INDEX + FLOAT  # a neighbor and its distance or affinity

# A row of the symmetric P holds the neighbors of a point and the points it is a neighbor of. So P has more than n k
# entries: 1.26 to 1.83 times as many on the data we measured. The estimate is therefore within 15 %.
JOINT_PER_CHOSEN = 1.58

# Symmetrizing processes an eighth of the rows at a time: their incoming edges, of 12 bytes each, and finished rows.
SHARE_AT_ONCE = 1 / 16
EDGE = 12

# Bytes of a point in the descent: position, velocity, gains, both forces, and its index in the order of the field.
POINT_IN_DESCENT = 100

# Bytes of a point's weight, in the input and in the descent, and of the factors of its step.
WEIGHT = 32

# Bytes per entry of a precomputed graph, which is copied, sorted and transposed.
PAIR_IN_GRAPH = 48

# Bytes of pynndescent: of a point for candidates and trees, of a pair for the heaps and copies of the result. Numba,
# its compiled code and blocks of candidates have a size that does not depend on n.
POINT_IN_NN_DESCENT = 500
PAIR_IN_NN_DESCENT = 20
NUMBA = 650e6

# Matrices of a reduction: covariance, its copy and its eigenvectors; or basis, image and their product. Copies of the
# sampled rows: in all columns, along all components, and intermediate results.
MATRICES = 3
SAMPLES = 3
DISTANCES = 3  # between sampled rows: in all columns, along components, and their order

# An error advises no fewer neighbors than this: maps with fewer show little structure.
MIN_NEIGHBORS = 9

# Bytes that do not depend on n: blocks of rows, the field's lattice, buffers of threads.
FIXED = 19e6


@dataclass(frozen=True)
class Workload:
    """The sizes that decide how much memory a run needs."""

    n: int
    dimensions: int  # after reduction, at most; 0 without coordinates
    neighbors: int
    search: str  # a key of neighbors.SEARCHES, or "precomputed"
    counted_by: str = "n_neighbors"  # the parameter that sets the number of neighbors; "": the input sets it
    columns: int = 0  # columns of an input that is reduced; 0: no reduction
    fewest_dimensions: int | None = None  # the fewest that n_pca="auto" may choose; None: equal to `dimensions`
    weighted: bool = False
    copied_columns: int = 0  # columns that pynndescent copies to float32


def workload(values: Any, settings: Settings, neighbor_count: int, *, weighted: bool = False) -> Workload:
    n, columns = values.shape
    by_perplexity = settings.n_neighbors is None and settings.perplexity is not None
    counted_by = "perplexity" if by_perplexity else "n_neighbors"
    if settings.metric in PRECOMPUTED_METRICS and sparse.issparse(values):
        neighbor_count, counted_by = max(neighbor_count, -(-values.nnz // n)), ""
    if settings.metric not in CORE_METRICS:
        if settings.metric in PRECOMPUTED_METRICS or not is_needed(n):
            return Workload(n, 0, neighbor_count, "precomputed", counted_by, weighted=weighted)
        copied = -(-values.nnz // n) * 2 if sparse.issparse(values) else columns
        return Workload(n, 0, neighbor_count, "nn-descent", counted_by, weighted=weighted, copied_columns=copied)
    reduced = columns if reduces(columns, settings.n_pca) else 0
    if not reduced or isinstance(settings.n_pca, int):
        dimensions, fewest = min(n, settings.n_pca) if reduced else columns, None
    else:
        dimensions = most_components(n, columns, iterates=columns > MAX_COVARIANCE_COLUMNS)
        fewest = min(dimensions, MIN_COMPONENTS)
    search = choose_search(settings.neighbors, n, dimensions, neighbor_count)
    return Workload(n, dimensions, neighbor_count, search, counted_by, reduced, fewest, weighted)


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
    matrices = columns**2 if columns <= MAX_COVARIANCE_COLUMNS else columns * (work.dimensions + OVERSAMPLES)
    rows = 0 if work.fewest_dimensions is None else min(work.n, MAX_ROWS)
    sample = SAMPLES * min(rows * columns, NUMBERS_IN_SAMPLE) + DISTANCES * rows * min(rows, QUERIES)
    return DOUBLE * (MATRICES * matrices + sample)


def near_clusters_bytes(work: Workload) -> float:
    """Return the bytes of the lists of near clusters, and of the bits for the clusters compared with each point."""
    clusters = work.n / CLUSTER_SIZE
    probes = choose_cluster_parameters(work.n, work.dimensions, work.neighbors).probes
    return clusters * PAIR * min(clusters, 8 * probes) + work.n * min(clusters, 5 * probes) / 8


def search_bytes(work: Workload) -> float:
    """Return the bytes of the search, without points and results."""
    points, pairs = FLOAT * work.n * work.dimensions, work.n * work.neighbors
    return {
        "exact": 2 * points,  # reordered points, and panels
        "vp-tree": 40 * work.n,
        "rp-forest": KEY * pairs + points,
        "clusters": KEY * pairs + points + near_clusters_bytes(work),  # reordered points
        "precomputed": (PAIR_IN_GRAPH - PAIR) * pairs,
        "nn-descent": NUMBA + work.n * (FLOAT * work.copied_columns + POINT_IN_NN_DESCENT) + PAIR_IN_NN_DESCENT * pairs,
    }.get(work.search, KEY * pairs + points)


def bytes_by_stage(work: Workload) -> dict[str, float]:
    """Return the peak bytes of each stage, without the input."""
    points, pairs = FLOAT * work.n * work.dimensions, work.n * work.neighbors
    joint = JOINT_PER_CHOSEN * PAIR * pairs
    return {
        "reduce": points + reducing_bytes(work),
        "neighbors": points + PAIR * pairs + search_bytes(work),
        "affinities": points + PAIR * pairs + joint + SHARE_AT_ONCE * (EDGE * pairs + joint),
        "descent": points + joint + (POINT_IN_DESCENT + (WEIGHT if work.weighted else 0)) * work.n,
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
    """Return the folders of this process's control groups and their parents, which limit memory in containers."""
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


# File names in the two versions of control groups: the limit, the memory in use, and the part that can be reclaimed.
GROUP_FILES = (
    ("memory.max", "memory.current", "inactive_file"),
    ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"),
)


def left_in_group(folder: Path) -> float:
    """Return the bytes left in a control group; infinite without a limit. Cached files count as free."""
    for limit, used, reclaimable in GROUP_FILES:
        most, now = read_number(folder / limit), read_number(folder / used)
        if most is not None and now is not None:
            return max(0.0, most - now + read_entry(folder / "memory.stat", reclaimable))
    return float("inf")


def read_entry(path: Path, name: str) -> float:
    """Return the number on the line `name number` of a file; 0 if there is no such line."""
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


def check_memory_for_values(rows: int, columns: int, size: int) -> None:
    """Raise MemoryError if the rest of an input does not fit. size: its bytes."""
    free = available()
    if size > free:
        raise MemoryError(
            f"{rows:,} rows of {columns} numbers take another {size / GIGABYTE:.1f} GB, "
            f"{free / GIGABYTE:.1f} GB are available; take fewer rows or columns"
        )


def check_memory_for_points(n: int, dimensions: int) -> None:
    """Raise MemoryError if the reduced points do not fit."""
    size, free = FLOAT * n * dimensions, available()
    if size > free:
        raise MemoryError(
            f"{n:,} points of {dimensions} dimensions take {size / GIGABYTE:.1f} GB, {free / GIGABYTE:.1f} GB are "
            f"available; take fewer points, or a lower n_pca (50, for example)"
        )


def check_memory(work: Workload, extra_bytes: int = 0) -> None:
    """Raise MemoryError if a run of this size does not fit. extra_bytes: bytes of an input that is not read yet.

    While n_pca="auto" has not chosen yet, the check assumes the fewest components.
    """
    work = least(work)
    needed, free = estimate(work) + extra_bytes, available()
    if needed > free:
        raise MemoryError(
            f"{work.n:,} points with {work.neighbors} neighbors each take about {needed / GIGABYTE:.1f} GB, "
            f"{free / GIGABYTE:.1f} GB are available; {remedy(work, free - extra_bytes)}"
        )


def remedy(work: Workload, free: float) -> str:
    """Return advice on what would fit."""
    fitting = fewer_neighbors(work, free) if work.counted_by else 0
    if fitting >= MIN_NEIGHBORS:
        lower = fitting // 3 if work.counted_by == "perplexity" else fitting
        return (
            f"lower {work.counted_by} to {lower} ({fitting} neighbors each; {work.neighbors} now), or take fewer points"
        )
    if work.dimensions == 0:
        return "take fewer points, or a graph with fewer entries"
    return f"take fewer points, or a lower n_pca ({work.dimensions} dimensions now)"


def fewer_neighbors(work: Workload, free: float) -> int:
    """Return the largest number of neighbors that fits; 0 if none does."""
    counts = range(1, work.neighbors)
    return bisect_right(counts, free, key=lambda k: estimate(replace(work, neighbors=k)))
