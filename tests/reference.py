"""Reference implementations: each kernel of the core in plain float64 NumPy, written to be read."""

from dataclasses import dataclass

import numpy as np


def squared_distances(points):
    """Return (n, n) squared distances, computed by subtraction, so that equal points have distance exactly 0."""
    return np.square(points[:, None, :] - points[None, :, :]).sum(axis=2)


def nearest(points, k):
    """Return indices and distances (n, k) of the nearest points; ties go to the smaller index."""
    squared = squared_distances(np.asarray(points, dtype=np.float64))
    np.fill_diagonal(squared, np.inf)
    indices = np.argsort(squared, axis=1, kind="stable")[:, :k]
    return indices, np.sqrt(np.take_along_axis(squared, indices, axis=1))


def conditional_affinities(distances, perplexity):
    """Return each row's Gaussian kernel, calibrated by bisection."""
    rows = []
    for row in np.square(distances.astype(np.float64)):
        low, high = 0.0, np.inf
        precision = 1.0
        gaps = row - row.min()
        for _ in range(200):
            weights = np.exp(-precision * gaps)
            share = weights / weights.sum()
            entropy = -(share[share > 0] * np.log(share[share > 0])).sum()
            if entropy > np.log(perplexity):
                low = precision
                precision = precision * 2 if high == np.inf else (low + high) / 2
            else:
                high = precision
                precision = (low + high) / 2
        rows.append(share)
    return np.array(rows)


def joint_affinities(indices, conditional):
    """Return the dense matrix P = (C + C^T) / 2n."""
    n = len(indices)
    dense = np.zeros((n, n))
    np.put_along_axis(dense, np.asarray(indices, dtype=np.int64), conditional, axis=1)
    return (dense + dense.T) / (2 * n)


def dense(affinities):
    """Return the package's sparse P as a dense float64 matrix."""
    n = len(affinities)
    matrix = np.zeros((n, n))
    rows = np.repeat(np.arange(n), np.diff(affinities.offsets))
    matrix[rows, affinities.columns] = affinities.values
    return matrix


def student_kernel(positions):
    """Return (n, n) values of 1 / (1 + d^2), with 0 on the diagonal."""
    kernel = 1.0 / (1.0 + squared_distances(np.asarray(positions, dtype=np.float64)))
    np.fill_diagonal(kernel, 0.0)
    return kernel


def weighted_differences(weights, positions):
    """Return the sum over j of weights_ij (y_i - y_j)."""
    return weights.sum(axis=1)[:, None] * positions - weights @ positions


def attraction(joint, positions):
    positions = np.asarray(positions, dtype=np.float64)
    return weighted_differences(joint * student_kernel(positions), positions)


def as_weights(weights, n):
    return np.ones(n) if weights is None else np.asarray(weights, dtype=np.float64)


def repulsion(positions, weights=None):
    """Return the push (n, 2) and the normalizer, without pairs within a weighted point."""
    positions = np.asarray(positions, dtype=np.float64)
    kernel = student_kernel(positions)
    weights = as_weights(weights, len(positions))
    return weighted_differences(kernel**2 * weights, positions), weights @ kernel @ weights


def gradient(joint, positions, exaggeration=1.0):
    push, normalizer = repulsion(positions)
    return 4 * (exaggeration * attraction(joint, positions) - push / normalizer)


def kl_divergence(joint, positions):
    kernel = student_kernel(positions)
    present = joint > 0
    return (joint[present] * np.log(joint[present] / (kernel[present] / kernel.sum()))).sum()


class Repeated:
    """Weighted rows as a set in which row i is really there counts[i] times. Nothing is collapsed.

    kernels (n, n): the kernel of each row over its neighbors, with rows that sum to 1, for one copy of every row.
    """

    def __init__(self, kernels, counts):
        self.row = np.repeat(np.arange(len(counts)), counts)  # of each copy
        self.first = np.cumsum(counts) - counts  # the first copy of each row
        conditional = kernels[self.row][:, self.row]
        conditional = conditional / conditional.sum(axis=1, keepdims=True)
        self.joint = (conditional + conditional.T) / (2 * len(self.row))

    def kl_divergence(self, positions):
        return kl_divergence(self.joint, positions[self.row])

    def pull(self, positions):
        """Return the attraction on one copy of each row."""
        return attraction(self.joint, positions[self.row])[self.first]

    def push(self, positions):
        """Return the push on one copy of each row, and the normalizer of all copies."""
        push, normalizer = repulsion(positions[self.row])
        return push[self.first], normalizer

    def joint_of_rows(self):
        """Return P between rows: the sum over their copies."""
        return np.add.reduceat(np.add.reduceat(self.joint, self.first, axis=0), self.first, axis=1)


def center_of_mass(positions, weights, members):
    return np.average(positions[members], axis=0, weights=weights[members])


class Cell:
    """A cell of 2^shift leaves along each side, with its children. No occupied cell is omitted."""

    def __init__(self, column, row, shift, members, leaves):
        self.column, self.row, self.shift = column, row, shift
        self.members = set(members.tolist())
        self.children = []
        if shift > 0:
            for offset in ((0, 0), (0, 1), (1, 0), (1, 1)):
                corner = 2 * np.array([column, row]) + offset
                inside = members[(leaves[members] >> (shift - 1) == corner).all(axis=1)]
                if len(inside):
                    self.children.append(Cell(*corner, shift - 1, inside, leaves))

    def center(self, positions, weights, origin, unit, kind):
        if kind == "mass":
            return center_of_mass(positions, weights, list(self.members))
        return origin + (np.array([self.column, self.row]) + 0.5) * 2.0**self.shift * unit


def tree_repulsion(positions, leaves, origin, unit, levels, theta, center, weights=None):
    """Return push and normalizer of a quadtree over integer leaves (n, 2), computed point by point and cell by cell."""
    positions = np.asarray(positions, dtype=np.float64)
    weights = as_weights(weights, len(positions))
    origin, unit = np.asarray(origin), np.asarray(unit)
    push, normalizers = np.zeros_like(positions), np.zeros(len(positions))
    centers = {}

    def center_of(cell):
        if cell not in centers:
            centers[cell] = cell.center(positions, weights, origin, unit, center)
        return centers[cell]

    def add(i, members, at):
        difference, weight = positions[i] - at, weights[members].sum()
        kernel = 1.0 / (1.0 + difference @ difference)
        push[i] += weight * kernel**2 * difference
        normalizers[i] += weights[i] * weight * kernel

    def traverse(i, cell):
        contains = i in cell.members
        if cell.shift == 0:
            other_members = list(cell.members - {i})
            if other_members:
                own = contains and center == "mass"
                add(i, other_members, center_of_mass(positions, weights, other_members) if own else center_of(cell))
            return
        width = 2.0**cell.shift * unit.max()
        at = center_of(cell)
        if not contains and width < theta * np.linalg.norm(positions[i] - at):
            add(i, list(cell.members), at)
            return
        for child in cell.children:
            traverse(i, child)

    root = Cell(0, 0, levels, np.arange(len(positions)), leaves)
    for i in range(len(positions)):
        traverse(i, root)
    return push, normalizers.sum()


@dataclass
class State:
    positions: np.ndarray
    velocity: np.ndarray
    gains: np.ndarray

    @classmethod
    def at(cls, positions):
        return cls(positions.astype(np.float64), np.zeros(positions.shape), np.ones(positions.shape))


def step(state, gradient, learning_rate, momentum, step_limit=np.inf):
    uphill = gradient * np.sign(state.velocity) > 0
    gains = np.maximum(np.where(uphill, state.gains * 0.8, state.gains + 0.2), 0.01)
    velocity = momentum * state.velocity - learning_rate * gains * gradient
    length = np.hypot(*velocity.T)[:, None]
    velocity = velocity * np.minimum(1.0, step_limit / np.maximum(length, 1e-300))
    positions = state.positions + velocity
    return State(positions - positions.mean(axis=0), velocity, gains)


def spline(x):
    """Return the quintic B-spline around 0: a box of width 1, convolved with itself five times."""
    knots = np.arange(7) - 3.0
    sides = np.maximum(0.0, np.asarray(x)[..., None] - knots) ** 5
    return sides @ np.array([1, -6, 15, -20, 15, -6, 1]) / 120


def spline_slope(x):
    knots = np.arange(7) - 3.0
    sides = np.maximum(0.0, np.asarray(x)[..., None] - knots) ** 4
    return sides @ np.array([1, -6, 15, -20, 15, -6, 1]) / 24


def field_repulsion(positions, spacing, columns, rows, point_weights=None):
    """Return push and normalizer of the pixel field, with every weight, offset and transform written out."""
    positions = positions.astype(np.float64)
    point_weights = as_weights(point_weights, len(positions))
    center = (positions.min(axis=0) + positions.max(axis=0)) / 2
    weights, slopes, kernels = [], [], []
    for axis, nodes in enumerate((columns, rows)):
        coordinates = (positions[:, axis] - center[axis]) / spacing + (nodes - 1) / 2
        offsets = coordinates[:, None] - np.arange(nodes)
        weights.append(spline(offsets))
        slopes.append(spline_slope(offsets) / spacing)
        steps = np.minimum(np.arange(2 * nodes), 2 * nodes - np.arange(2 * nodes))
        kernels.append((steps * spacing) ** 2)
    spectrum = np.fft.fft2(1 / (1 + kernels[1][:, None] + kernels[0][None, :]))
    for axis, nodes in enumerate((rows, columns)):
        steps = np.minimum(np.arange(2 * nodes), 2 * nodes - np.arange(2 * nodes))
        response = np.fft.fft(spline(steps.astype(np.float64)))
        spectrum /= response[:, None] ** 2 if axis == 0 else response[None, :] ** 2
    lattice = np.zeros((2 * rows, 2 * columns))
    lattice[:rows, :columns] = (point_weights[:, None] * weights[1]).T @ weights[0]
    field = np.fft.ifft2(np.fft.fft2(lattice) * spectrum).real[:rows, :columns]
    values = np.einsum("ir,rc,ic->i", weights[1], field, weights[0])
    by_x = np.einsum("ir,rc,ic->i", weights[1], field, slopes[0])
    by_y = np.einsum("ir,rc,ic->i", slopes[1], field, weights[0])
    return -0.5 * np.stack([by_x, by_y], axis=1), (point_weights * (values - point_weights)).sum()


def placing_cost(position, positions, neighbors, affinities, weights=1.0):
    """Return the cost of a new point on a finished map, summed over all pairs in float64."""
    squared = np.square(positions.astype(np.float64) - np.asarray(position, np.float64)).sum(axis=1)
    return float(np.sum(affinities * np.log1p(squared[neighbors])) + np.log(np.sum(weights / (1 + squared))))


def draw_discs(points, colors, diameter, opacity, resolution, background, parts=32):
    """Return an image of discs. Each pixel is divided into parts * parts samples, which are in a disc or not."""
    width, height = resolution
    y, x = np.mgrid[0 : height * parts, 0 : width * parts]
    x, y = (x + 0.5) / parts, (y + 0.5) / parts
    passed = np.ones((height, width))
    covered = np.zeros((height, width))
    colored = np.zeros((height, width, 3))
    for (center_x, center_y), color in zip(points, colors, strict=True):
        inside = np.square(x - center_x) + np.square(y - center_y) <= (diameter / 2) ** 2
        share = inside.reshape(height, parts, width, parts).mean(axis=(1, 3))
        passed *= 1 - opacity * share
        covered += share
        colored += share[:, :, None] * color
    mean = colored / np.where(covered > 0, covered, 1)[:, :, None]
    return background + (1 - passed)[:, :, None] * (mean - background)
