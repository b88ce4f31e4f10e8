"""The C++ core. Every function checks shapes and dtypes and releases the GIL while it runs.

`threads` never changes a result. Arrays must be C-contiguous and of exactly the dtype named here.
"""

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float32]
Indices: TypeAlias = NDArray[np.int32]
Bounds: TypeAlias = tuple[float, float, float, float]  # low x, low y, high x, high y
Lattice: TypeAlias = tuple[float, float, float, int, int, bool]  # spacing, origin, columns, rows, convolve K - 1
Coding: TypeAlias = tuple[float, float, float, float]

instruction_set: str

class Cancelled(Exception): ...  # noqa: N818 - it is not an error

class ProgressToken:
    def __init__(self) -> None: ...
    def expect(self, units: int) -> None: ...
    def advance(self, units: int) -> None: ...
    def cancel(self) -> None: ...
    @property
    def cancelled(self) -> bool: ...
    @property
    def fraction(self) -> float: ...

# points (n, d) -> indices (n, k), distances (n, k)
def exact_neighbors(points: Floats, k: int, token: ProgressToken, threads: int) -> tuple[Indices, Floats]: ...

# queries (m, d), points (n, d) -> indices (m, k), distances (m, k)
def neighbors_of_queries(
    queries: Floats, points: Floats, k: int, token: ProgressToken, threads: int
) -> tuple[Indices, Floats]: ...
def vp_tree_neighbors(
    points: Floats, k: int, seed: int, token: ProgressToken, threads: int
) -> tuple[Indices, Floats]: ...
def rp_forest_neighbors(
    points: Floats,
    k: int,
    seed: int,
    trees: int,
    candidates: int,
    rounds: int,
    reach: int,
    token: ProgressToken,
    threads: int,
) -> tuple[Indices, Floats]: ...

# Neighbors of the first n_queries points, among all points. With reorder, the query points are renumbered cluster by
# cluster, and the third array has the index of each row's point. Otherwise it is empty. rows: the points to search,
# which are then numbered by their positions in it; None: all points.
def cluster_neighbors(
    points: Floats,
    rows: Indices | None,
    k: int,
    seed: int,
    size: int,
    recall: float,
    max_probes: int,
    reach: int,
    n_queries: int,
    reorder: bool,
    token: ProgressToken,
    threads: int,
) -> tuple[Indices, Floats, Indices]: ...

# -> (n) the points in cluster order; near clusters are close together
def cluster_order(points: Floats, size: int, seed: int, token: ProgressToken, threads: int) -> Indices: ...

# distances (n, k) -> conditional affinities (n, k), whose rows sum to 1
def conditional_affinities(
    distances: Floats, perplexities: list[float], token: ProgressToken, threads: int
) -> Floats: ...

# -> offsets (n + 1), columns, values of the symmetric P
def joint_affinities(
    indices: Indices, conditional: Floats, token: ProgressToken, threads: int
) -> tuple[NDArray[np.int64], Indices, Floats]: ...

# The rows of one shard: n of `points` points. Indices from n to known - 1 are points of other shards. incoming: edges
# from other shards, as source ids, target ids, for each edge its indices into these, and its value.
def joint_affinities_of_part(
    indices: Indices,
    conditional: Floats,
    incoming: list[tuple[Indices, Indices, Indices, Indices, Floats]],
    known: int,
    points: int,
    token: ProgressToken,
    threads: int,
) -> tuple[NDArray[np.int64], Indices, Floats]: ...

class Attraction:
    # points: number of points that columns index; 0: the number of rows
    def __init__(self, offsets: NDArray[np.int64], columns: Indices, values: Floats, points: int = 0) -> None: ...
    def forces(self, positions: Floats, force: Floats, threads: int) -> None: ...
    # -> sum of p log(p (1 + d2)), sum of p
    def divergence(self, positions: Floats, threads: int) -> tuple[float, float]: ...

# All repulsions write push (n, 2) and return the normalizer: the sum over i != j of w_i w_j / (1 + d2). weights (n):
# positive; None: all are 1. The push on i is the sum over j of w_j (y_i - y_j) / (1 + d2)^2.
def exact_repulsion(positions: Floats, push: Floats, threads: int, weights: Floats | None = None) -> float: ...

class TreeRepulsion:
    def __init__(self) -> None: ...
    def barnes_hut(
        self, positions: Floats, theta: float, push: Floats, threads: int, weights: Floats | None = None
    ) -> float: ...
    def pixel_tree(
        self,
        positions: Floats,
        origin: tuple[float, float],
        unit_per_pixel: tuple[float, float],
        resolution: tuple[int, int],
        theta: float,
        center: str,
        push: Floats,
        threads: int,
        weights: Floats | None = None,
    ) -> float: ...
    # seconds that the last call spent on building the tree and on traversing it
    def seconds(self) -> tuple[float, float]: ...
    # (cells, 4) of the last tree: level, first point, point after the last, first cell after it
    def cells(self) -> Indices: ...

class FieldRepulsion:
    def __init__(self) -> None: ...
    def pixel_field(
        self,
        positions: Floats,
        max_nodes: int,
        push: Floats,
        threads: int,
        weights: Floats | None = None,
        spacing: float = 0.42,
    ) -> float: ...
    # of the last call: spacing in embedding units, columns, rows, number of outliers whose forces were summed pair by
    # pair, and whether a tree replaced the lattice
    def lattice(self) -> tuple[float, int, int, int, bool]: ...

# The field of a map that is distributed over shards. All shards choose the same lattice and deposit their points on it,
# one process adds up the nodes (rows, columns) and convolves them, and all shards interpolate the result.
def choose_lattice(bounds: Bounds, points: int, max_nodes: int) -> Lattice: ...

class ShardField:
    def __init__(self, positions: Floats, lattice: Lattice, threads: int) -> None: ...
    def deposit(self, nodes: Floats, threads: int) -> None: ...
    # writes push (n, 2), returns the sum of the field's values
    def interpolate(self, nodes: Floats, push: Floats, threads: int) -> float: ...

class FieldConvolution:
    def __init__(self) -> None: ...
    # convolves the nodes in place, returns the normalizer
    def apply(self, nodes: Floats, lattice: Lattice, points: int, threads: int) -> float: ...

# Positions that are sent between processes: encodes rows as (low x, low y, step x, step y) and codes (rows, 2), and
# decodes rows of the codes, minus a center.
def encode_positions(positions: Floats, rows: Indices, threads: int) -> tuple[Coding, NDArray[np.uint16]]: ...
def decode_positions(
    coding: Coding,
    codes: NDArray[np.uint16],
    rows: Indices,
    center: tuple[float, float],
    out: Floats,
    threads: int,
) -> None: ...
def sum_positions(positions: Floats, threads: int) -> tuple[float, float]: ...
def center_positions(positions: Floats, center: tuple[float, float], out: Floats, threads: int) -> None: ...
def bounds(positions: Floats, threads: int) -> Bounds: ...

# Moves positions, velocity and gains in place and recenters the map; returns its bounds.
def step(
    positions: Floats,
    velocity: Floats,
    gains: Floats,
    attraction: Floats,
    push: Floats,
    exaggeration: float,
    normalizer: float,
    learning_rate: float,
    momentum: float,
    step_limit: float,
    threads: int,
) -> Bounds: ...

# The same without recentering; returns the sums of the new coordinates.
def move(
    positions: Floats,
    velocity: Floats,
    gains: Floats,
    attraction: Floats,
    push: Floats,
    exaggeration: float,
    normalizer: float,
    learning_rate: float,
    momentum: float,
    step_limit: float,
    threads: int,
) -> tuple[float, float]: ...

# Returns freed memory to the system.
def release_free_memory() -> None: ...

# values (n, d) of any dtype but float16 -> (values / unit - mean) / scale; magnitudes are clipped to `limit` before and
# after centering; every number is computed separately, in float64
def center_rows(
    values: NDArray[Any], unit: float, mean: NDArray[np.float64], scale: float, limit: float, threads: int
) -> Floats: ...

# Adds rows^T rows to the lower half of sums (d, d). rows: (n, d)
def add_products(rows: Floats, sums: NDArray[np.float64], threads: int) -> None: ...

# rows (n, d), directions (d, p) -> (n, p); every row is computed separately
def project_rows(rows: Floats, directions: Floats, threads: int) -> Floats: ...

# positions (n, 2) and weights (n) of the map; neighbors (m, k) on it; affinities (m, k), whose rows sum to 1
# -> (m, 2) positions of the new points, embedding units
def place_new_points(
    positions: Floats,
    neighbors: Indices,
    affinities: Floats,
    token: ProgressToken,
    threads: int,
    weights: Floats | None = None,
) -> Floats: ...
