"""Measure maps whose affinities have fewer neighbors per point.

`fewer_edges.py DATA ... [--neighbors 30,20] [--perplexity-ratios 0.5,0.6,0.667]`, DATA as in schedule.py. All maps
start from the same positions. For each k, P comes from the k nearest neighbors with perplexity = ratio * k. KL is
measured with the usual P: perplexity 30, 90 neighbors. With --iterations, shorter runs are measured, too.
"""

import argparse

import numpy as np

from judge import Judge
from measure import Clock, Rows, load_points, save, source_name
from pixelsne import PixelSNE
from pixelsne.affinities import Affinities, joint_affinities
from pixelsne.descent import Descent
from pixelsne.initial_positions import initial_positions
from pixelsne.neighbors import Neighbors, find_neighbors
from pixelsne.settings import settings_of
from schedule import arrangement_of_shape, parse_source

USUAL_PERPLEXITY = 30.0
USUAL_NEIGHBORS = 90


def affinities_of_nearest(found: Neighbors, k: int, perplexity: float, threads: int) -> Affinities:
    """Return P of the k nearest neighbors."""
    nearest = Neighbors(np.ascontiguousarray(found.indices[:, :k]), np.ascontiguousarray(found.distances[:, :k]))
    return joint_affinities(nearest, (perplexity,), threads)


def descend(affinities: Affinities, start: np.ndarray, iterations: int, threads: int) -> tuple[np.ndarray, float]:
    """Return the map and the seconds of the descent."""
    settings = settings_of(PixelSNE(random_state=0, n_jobs=threads, tol=0.0, max_iter=iterations))
    descent = Descent(affinities, start.copy(), settings)
    with Clock() as clock:
        for _ in descent:
            pass
    return descent.positions, clock.seconds


def try_source(source: str, options: argparse.Namespace) -> Rows:
    name, n, seed = parse_source(source)
    points, labels = load_points(name, n, seed)
    threads = options.threads
    judge = Judge(points, labels, USUAL_PERPLEXITY, threads)
    # In the order of clusters, the descent is faster. The map is put back into the order of the points.
    found = find_neighbors(points, min(USUAL_NEIGHBORS, len(points) - 1), "clusters", 0, threads, reorder=True)
    order = np.arange(len(points)) if found.order is None else found.order
    start = initial_positions(points, "pca", 0)[order]
    usual = [(USUAL_NEIGHBORS, USUAL_PERPLEXITY)]
    sparse = [(k, ratio * k) for k in options.neighbors for ratio in options.perplexity_ratios]
    rows: Rows = []
    for k, perplexity in usual + sparse:
        affinities = affinities_of_nearest(found, k, perplexity, threads)
        for iterations in options.iterations:
            placed, seconds = descend(affinities, start, iterations, threads)
            positions = np.empty_like(placed)
            positions[order] = placed
            row = {
                "data": source if n else source_name(name),
                "n": len(points),
                "neighbors": k,
                "perplexity": round(perplexity, 1),
                "edges per point": len(affinities.columns) / len(points),
                "iterations": iterations,
                "descent, s": seconds,
            }
            rows.append(row | judge.judge(positions) | arrangement_of_shape(name, positions, judge))
            print(rows[-1], flush=True)
    return rows


def numbers(text: str) -> list[float]:
    return [float(number) for number in text.split(",")]


def integers(text: str) -> list[int]:
    return [int(number) for number in text.split(",")]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", nargs="+")
    parser.add_argument("--neighbors", type=integers, default=[30])
    parser.add_argument("--perplexity-ratios", type=numbers, default=[0.5, 0.6, 0.667])
    parser.add_argument("--iterations", type=integers, default=[350])
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--suffix", default="")
    options = parser.parse_args()
    rows: Rows = []
    for source in options.data:
        rows += try_source(source, options)
    save(f"fewer_edges{options.suffix}", "Fewer neighbors per point, measured over the usual P", rows)


if __name__ == "__main__":
    main()
