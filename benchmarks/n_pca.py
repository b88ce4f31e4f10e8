"""Measure how many principal components preserve the neighborhoods: `n_pca.py SOURCE... [--n 10000]`.

A SOURCE is an npz file (`file.npz:NAME` uses the array NAME in place of X) or one of uniform, embeddings and counts,
which are generated here. Each is mapped with several numbers of components and with n_pca="auto". Precision and KL
refer to all columns of the data, so that maps of different reductions can be compared.
"""

import argparse
from typing import Any

import numpy as np

from judge import Judge
from measure import SOURCES, Clock, Rows, load_source, save, source_name
from pixelsne import PixelSNE
from pixelsne.comparison import shared_neighbors
from pixelsne.neighbors import find_neighbors
from pixelsne.reduce import center_and_rescale, reduce

COMPONENTS = (50, 100, 200)
K = 10


def uniform(n: int | None = None, seed: int = 0) -> tuple[Any, Any]:
    """A cube of 100 dimensions: all directions are equally important."""
    n = n or 10_000
    return np.random.default_rng(seed).random((n, 100)), np.zeros(n, dtype=int)


def embeddings(n: int | None = None, seed: int = 0) -> tuple[Any, Any]:
    """30 groups in 768 dimensions, whose variances fall as one over the rank, as those of language models do."""
    rng, n, d = np.random.default_rng(seed), n or 10_000, 768
    labels = rng.integers(0, 30, n)
    deviations = np.arange(1, d + 1) ** -0.5
    directions = np.linalg.qr(rng.normal(size=(d, d)))[0]
    values = (rng.normal(size=(n, d)) * deviations) @ directions + 0.05 * rng.normal(size=(30, d))[labels]
    return values.astype(np.float32), labels


def counts(n: int | None = None, seed: int = 0) -> tuple[Any, Any]:
    """Poisson counts of 2,000 kinds, whose rates differ between 20 groups and between rows."""
    rng, n = np.random.default_rng(seed), n or 10_000
    labels = rng.integers(0, 20, n)
    rates = rng.gamma(0.3, 1.0, (20, 2000))[labels] * rng.gamma(2.0, 0.5, (n, 1))
    return rng.poisson(rates).astype(np.float32), labels


SOURCES |= {"uniform": uniform, "embeddings": embeddings, "counts": counts}


def recall_of(values: Any, truth: np.ndarray, components: int | None, threads: int) -> float:
    """Return the share of each row's K nearest neighbors that stay its K nearest after the reduction."""
    found = find_neighbors(reduce(values, components, 0, threads), K, "exact", 0, threads).indices
    return float(np.mean(shared_neighbors(found, truth))) / K


def measure(values: Any, judge: Judge, n_pca: Any, threads: int) -> dict[str, Any]:
    model = PixelSNE(n_pca=n_pca, random_state=0, n_jobs=threads)
    with Clock() as clock:
        model.fit(values)
    components = getattr(model, "n_pca_", n_pca or values.shape[1])
    recall = recall_of(values, judge.truth[:, :K], components, threads)
    stages = {f"{stage}, s": model.timings_[stage] for stage in ("reduce", "neighbors")}
    quality = judge.judge(model.positions_)
    return {
        "n_pca": str(n_pca),
        "components": components,
        f"recall {K}": recall,
        **quality,
        **stages,
        "all, s": clock.seconds,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sources", nargs="+", metavar="SOURCE")
    parser.add_argument("--n", type=int, default=10_000)
    parser.add_argument("--threads", type=int, default=2)
    options = parser.parse_args()
    rows: Rows = []
    for source in options.sources:
        values, labels = load_source(source, options.n)
        values = values if values.dtype.kind in "iu" else values.astype(np.float32)
        judge = Judge(center_and_rescale(values), labels, 30.0, options.threads)
        numbers = [count for count in COMPONENTS if count < values.shape[1]]
        for n_pca in (*numbers, None, "auto"):
            found = {"data": source_name(source.partition(":")[0]), "columns": values.shape[1]}
            rows.append(found | measure(values, judge, n_pca, options.threads))
            print(rows[-1], flush=True)
    save("n_pca", f"Principal components, {options.n:,} rows at most of each source", rows, judge.notes())


if __name__ == "__main__":
    main()
