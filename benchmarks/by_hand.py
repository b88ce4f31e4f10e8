"""Compare parts that we implement ourselves with libraries that do the same: `by_hand.py DATA.npz [n]`.

Each row is one job on the same input, in this process, with two threads. Libraries that are not installed are left out
(`pip install -e '.[bench]'`). Each time is given with the quality of the result.
"""

import importlib.util
import os
import sys
from collections.abc import Callable
from functools import partial
from typing import Any

os.environ |= {"OMP_NUM_THREADS": "2", "OPENBLAS_NUM_THREADS": "2", "NUMBA_NUM_THREADS": "2"}

import numpy as np
from scipy import fft

from measure import Clock, Rows, load_source, save, source_name
from neighbors import recall, true_neighbors
from pixelsne import _core
from pixelsne.neighbors import CLUSTER_SIZE, find_neighbors
from pixelsne.reduce import reduce

THREADS = 2
K = 30
COMPONENTS = 50
REPEATS = 3
SAMPLED = 1000


def best(call: Callable[[], Any]) -> tuple[float, Any]:
    """Return the shortest time of several repeats, and the result."""
    seconds, result = [], None
    for _ in range(REPEATS):
        with Clock() as clock:
            result = call()
        seconds.append(clock.seconds)
    return min(seconds), result


def has(name: str) -> bool:
    return importlib.util.find_spec(name) is not None


# Fourier transforms: the convolution of a lattice with the kernel takes two transforms of twice its size.


def convolutions(n: int) -> Rows:
    bounds = (-60.0, -60.0, 60.0, 60.0)
    lattice = _core.choose_lattice(bounds, n, 2048)
    spacing, columns, rows = lattice[0], lattice[3], lattice[4]
    nodes = np.random.default_rng(0).random((rows, columns), dtype=np.float32)
    ours = _core.FieldConvolution()

    def convolve() -> np.ndarray:
        result = nodes.copy()
        ours.apply(result, lattice, n, THREADS)
        return result

    convolve()  # computes the spectrum of the kernel
    result: Rows = [{"job": f"transforms, {rows} x {columns} nodes", "by": "ours", "seconds": best(convolve)[0]}]
    shape = fft.next_fast_len(2 * rows, real=True), fft.next_fast_len(2 * columns, real=True)
    spectrum = kernel_spectrum(shape, spacing)
    seconds = best(lambda: fft.irfft2(fft.rfft2(nodes, shape, workers=THREADS) * spectrum, shape, workers=THREADS))[0]
    result.append({"by": "scipy.fft", "seconds": seconds})
    if has("ducc0"):
        seconds = best(partial(convolve_by_ducc, nodes, shape, spectrum))[0]
        result.append({"by": "ducc0.fft", "seconds": seconds})
    return result


def kernel_spectrum(shape: tuple[int, int], spacing: float) -> np.ndarray:
    axes = [np.minimum(np.arange(side), side - np.arange(side)) * spacing for side in shape]
    kernel = 1 / (1 + np.square(axes[0])[:, None] + np.square(axes[1]))
    return fft.rfft2(kernel.astype(np.float32))


def convolve_by_ducc(nodes: np.ndarray, shape: tuple[int, int], spectrum: np.ndarray) -> np.ndarray:
    import ducc0  # noqa: PLC0415 - an extra

    padded = np.zeros(shape, dtype=np.float32)
    padded[: nodes.shape[0], : nodes.shape[1]] = nodes
    product = ducc0.fft.r2c(padded, nthreads=THREADS) * spectrum
    return ducc0.fft.c2r(product, lastsize=shape[1], forward=False, inorm=2, nthreads=THREADS)


# k-means: clusters of about CLUSTER_SIZE points. Quality is the mean squared distance to the cluster's center.


def clusterings(points: np.ndarray) -> Rows:
    count = len(points) // CLUSTER_SIZE
    token = _core.ProgressToken()
    seconds, order = best(lambda: _core.cluster_order(points, CLUSTER_SIZE, 0, token, THREADS))
    groups = np.empty(len(points), dtype=np.int64)
    # Equal parts of the order, which approximate the clusters.
    groups[order] = np.arange(len(points)) * count // len(points)
    job = f"k-means, {len(points):,} points in {count} clusters"
    result: Rows = [{"job": job, "by": "ours", "seconds": seconds, "mean square": inertia(points, groups)}]
    if has("faiss"):
        seconds, groups = best(partial(cluster_by_faiss, points, count))
        result.append({"by": "faiss Kmeans", "seconds": seconds, "mean square": inertia(points, groups)})
    from sklearn.cluster import MiniBatchKMeans  # noqa: PLC0415 - slow to import

    model = MiniBatchKMeans(count, random_state=0, n_init=1, batch_size=4096)
    seconds, groups = best(lambda: model.fit_predict(points))
    result.append({"by": "scikit-learn MiniBatchKMeans", "seconds": seconds, "mean square": inertia(points, groups)})
    return result


def cluster_by_faiss(points: np.ndarray, count: int) -> np.ndarray:
    import faiss  # noqa: PLC0415 - an extra

    faiss.omp_set_num_threads(THREADS)
    model = faiss.Kmeans(points.shape[1], count, niter=4, seed=0)
    model.train(points)
    return model.index.search(points, 1)[1].ravel()


def inertia(points: np.ndarray, groups: np.ndarray) -> float:
    sums, counts = np.zeros((groups.max() + 1, points.shape[1])), np.bincount(groups)
    np.add.at(sums, groups, points)
    centers = sums / np.maximum(counts, 1)[:, None]
    return float(np.square(points - centers[groups]).sum(axis=1).mean())


# PCA. Quality is the share of the variance that is kept.


def reductions(values: np.ndarray) -> Rows:
    from sklearn.decomposition import PCA  # noqa: PLC0415 - slow to import

    values = values.astype(np.float32)
    total = float(values.var(axis=0, dtype=np.float64).sum())
    whole = reduce(values, None, 0)
    scale = float(np.sqrt(total / values.shape[1]))  # ours divides by it
    seconds, points = best(lambda: reduce(values, COMPONENTS, 0, THREADS))
    job = f"PCA, {values.shape[0]:,} x {values.shape[1]:,} to {COMPONENTS}"
    kept = float(points.var(axis=0, dtype=np.float64).sum() / whole.var(axis=0, dtype=np.float64).sum())
    result: Rows = [{"job": job, "by": "ours", "seconds": seconds, "variance kept": kept}]
    for solver in ("covariance_eigh", "randomized"):
        model = PCA(COMPONENTS, svd_solver=solver, random_state=0)
        seconds, points = best(partial(model.fit_transform, values))
        kept = float(points.var(axis=0, dtype=np.float64).sum() / (scale**2 * values.shape[1]))
        result.append({"by": f"scikit-learn PCA, {solver}", "seconds": seconds, "variance kept": kept})
    return result


# Neighbor searches, at about the same recall.


def searches(points: np.ndarray) -> Rows:
    rows = np.random.default_rng(1).choice(len(points), SAMPLED, replace=False)
    truth = true_neighbors(points, rows, K)
    result: Rows = []
    for name, search in SEARCHES.items():
        if name != "ours" and not has(name.split()[0]):
            continue
        search(points[: 10 * CLUSTER_SIZE])  # warm up: pynndescent compiles
        with Clock() as clock:
            found = search(points)
        result.append({"by": name, "seconds": clock.seconds, "recall": recall(found[rows], truth)})
    result[0] = {"job": f"{K} neighbors of {len(points):,} points"} | result[0]
    return result


def search_by_hnswlib(points: np.ndarray) -> np.ndarray:
    import hnswlib  # noqa: PLC0415 - an extra

    index = hnswlib.Index("l2", points.shape[1])
    index.set_num_threads(THREADS)
    index.init_index(len(points), M=16, ef_construction=100)
    index.add_items(points)
    index.set_ef(2 * K)
    return without_itself(index.knn_query(points, K + 1)[0].astype(np.int64))


def search_by_pynndescent(points: np.ndarray) -> np.ndarray:
    from pynndescent import NNDescent  # noqa: PLC0415 - an extra

    return without_itself(NNDescent(points, n_neighbors=K + 1, random_state=0, n_jobs=THREADS).neighbor_graph[0])


def search_by_faiss(points: np.ndarray) -> np.ndarray:
    import faiss  # noqa: PLC0415 - an extra

    faiss.omp_set_num_threads(THREADS)
    quantizer = faiss.IndexFlatL2(points.shape[1])
    index = faiss.IndexIVFFlat(quantizer, points.shape[1], len(points) // CLUSTER_SIZE)
    index.train(points)
    index.add(points)
    index.nprobe = 24
    return without_itself(index.search(points, K + 1)[1])


def without_itself(found: np.ndarray) -> np.ndarray:
    """Return K columns, without the row's own index where it is among the first K."""
    itself = found == np.arange(len(found))[:, None]
    itself[~itself.any(axis=1), -1] = True
    return found[~itself].reshape(len(found), -1)


SEARCHES: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "ours": lambda points: find_neighbors(points, K, "clusters", 0, THREADS).indices,
    "faiss IVF (24 probes)": search_by_faiss,
    "hnswlib (M 16, ef 60)": search_by_hnswlib,
    "pynndescent": search_by_pynndescent,
}


def main(path: str, n: int | None) -> None:
    values = load_source(path, n)[0]
    points = reduce(values, COMPONENTS, 0, THREADS)
    table: Rows = []
    for measured in (convolutions(len(points)), clusterings(points), reductions(values), searches(points)):
        table += measured
        print(*measured, sep="\n", flush=True)
    save("by_hand", f"Our implementations and libraries, {source_name(path)}, {THREADS} threads", table, NOTES)


NOTES = """
Besides speed, our implementations give the same bits with any number of threads, report progress, can be cancelled, and
need an amount of memory that is known in advance.

- **k-means**: the mean square of ours is that of equal parts of the order it returns. These parts only approximate the
  clusters, so the mean square of the clusters is lower.
- **PCA**: scikit-learn multiplies float32 matrices and makes a centered copy of X. Ours sums in float64, reads blocks
  of rows (it never copies integers, memory maps and sparse matrices as a whole) and clips extreme values. The result
  for a row has the same bits whichever other rows there are, which `transform` needs.
- **The thread pool** (`parallel_for`) has no row. The alternative, OpenMP, hangs in a forked process and conflicts with
  the OpenMP runtimes of other packages.
"""

if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else None)
