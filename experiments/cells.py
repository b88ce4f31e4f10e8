"""One cell of a table: one run of one method in a separate process, timed and scored."""

import json
import math
import sys
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy.spatial import cKDTree

from benchmarks.measure import in_own_process, peak_memory
from experiments.data.catalog import Prepared, cache_folder, open_prepared
from experiments.methods import METHODS
from experiments.paper import NEIGHBORS
from experiments.paths import CACHE
from pixelsne import PixelSNE, _core
from pixelsne.commands.score import EXACT_UP_TO, ROWS_SAMPLED
from pixelsne.comparison import Comparison, nearest, sample_rows, space_of
from pixelsne.quality import compute_accuracy, compute_precision
from pixelsne.settings import check_threads
from pixelsne.watched import run_to_completion

Result = dict[str, Any]

NEAR_PIXELS = 2


@dataclass(frozen=True)
class Cell:
    data: str
    method: str
    resolution: int
    seed: int = 0  # of the initial positions and the neighbor search
    n: int | None = None  # size of a random sample of rows; None: all rows
    subset: int = 0  # selects another sample
    threads: int = 1
    kind: str = "run"  # a key of KINDS

    def key(self) -> str:
        return json.dumps(asdict(self), sort_keys=True)

    def name(self) -> str:
        """Return a name for files."""
        rows = "all" if self.n is None else self.n
        return f"{self.data}-{rows}-{self.method}-{self.resolution}-{self.seed}-{self.subset}-{self.threads}"

    def __str__(self) -> str:
        rows = "" if self.n is None else f", {self.n:,} rows"
        threads = f", {self.threads} threads" if self.threads > 1 else ""
        method = METHODS[self.method].title
        return f"{self.kind}: {method}, {self.data}{rows}, r = {self.resolution}, seed {self.seed}{threads}"


def measure(cell: Cell) -> Result:
    """Measure a cell in a separate process, which uses as many threads as the cell says."""
    return in_own_process("-m", "experiments.cells", cell.key(), threads=cell.threads)


def map_file(cell: Cell, fingerprint: str) -> Path:
    """Return the file of the map of a cell on data with this fingerprint."""
    return CACHE / "maps" / f"{cell.name()}-{fingerprint}.npz"


def run(cell: Cell) -> Result:
    data = open_prepared(cell.data, cell.n, subset=cell.subset)
    model = METHODS[cell.method].model(cell.resolution, cell.seed, cell.threads).fit(data.points)
    seconds = model.timings_
    affinities = seconds["neighbors"] + seconds["affinities"]
    memory = peak_memory()
    file = map_file(cell, data.about["fingerprint"])
    file.parent.mkdir(parents=True, exist_ok=True)
    np.savez(file, placed=model.embedding_, positions=model.positions_)
    return {
        "points": len(data.points),
        "P": affinities,
        "Coord": seconds["descent"],
        "Total": affinities + seconds["descent"],
        "iterations": model.n_iter_,
        "KL": model.kl_divergence_,
        "KL, near pairs left out": cost_without_near_pairs(model) if len(data.points) <= EXACT_UP_TO else None,
        "peak memory, GB": memory,
        **judge(cell, data, model.embedding_),
    }


def cost_without_near_pairs(model: PixelSNE) -> float:
    """Return the cost with a normalizer without pairs within two pixels of each other.

    The published program computes the cost in this way.
    """
    positions, threads = model.positions_, check_threads(-1)
    normalizer = _core.exact_repulsion(positions, np.empty_like(positions), threads)
    pairs = cKDTree(model.embedding_).query_pairs(NEAR_PIXELS, p=math.inf, output_type="ndarray")
    squares = ((positions[pairs[:, 0]].astype(np.float64) - positions[pairs[:, 1]]) ** 2).sum(axis=1)
    near_pairs = 2 * float((1 / (1 + squares)).sum())
    return float(model.kl_divergence_ + math.log((normalizer - near_pairs) / normalizer))


def judge(cell: Cell, data: Prepared, placed: Any) -> Result:
    """Return neighborhood precision and k-NN accuracy for the paper's k, over all rows or a large sample."""
    n = len(data.points)
    rows = sample_rows(n, EXACT_UP_TO, ROWS_SAMPLED, 0)
    counts = tuple(k for k in NEIGHBORS if k < n)
    true, shown = true_neighbors(cell, data, rows, max(counts)), nearest_rows(placed, rows, max(counts))
    compared = Comparison(rows, true, shown, placed, classes=np.asarray(data.labels))
    return {
        "precision": [compute_precision(compared, k) for k in counts],
        "accuracy": [compute_accuracy(compared, k) for k in counts],
        "judged rows": len(rows),
    }


def nearest_rows(values: Any, rows: Any, k: int) -> Any:
    return nearest(space_of(values, PixelSNE(n_pca=None)), values, rows, k, check_threads(-1))


def true_neighbors(cell: Cell, data: Prepared, rows: Any, k: int) -> Any:
    """Return the true neighbors in 50 dimensions. They are stored, because all methods are scored with them."""
    file = cache_folder(cell.data) / f"neighbors-{data.about['fingerprint']}-{len(data.points)}-{cell.subset}-{k}.npy"
    if not file.exists():
        np.save(file, nearest_rows(data.points, rows, k))
    return np.load(file)


def start(cell: Cell) -> Result:
    """Return the cost of the initial positions, where all points nearly coincide: every q is 1 / (n (n - 1))."""
    points = open_prepared(cell.data, cell.n, subset=cell.subset).points
    run = METHODS[cell.method].model(cell.resolution, cell.seed, cell.threads).make_run(points)
    values = run_to_completion(run.prepare()).affinities.values.astype(np.float64)
    values = values[values > 0]
    return {"KL": float((values * np.log(values)).sum()) + math.log(len(points) * (len(points) - 1))}


def trees(cell: Cell) -> Result:
    from experiments import ablation  # noqa: PLC0415 - it imports this module

    return ablation.trees(cell)


def parts(cell: Cell) -> Result:
    from experiments import parts  # noqa: PLC0415 - it imports this module

    return parts.parts(cell)


# A whole run; the cost at its start; the paper's trees on the maps of a run; the parts of an iteration.
KINDS = {"run": run, "start": start, "trees": trees, "parts": parts}


def main() -> None:
    cell = Cell(**json.loads(sys.argv[1]))
    print(json.dumps(KINDS[cell.kind](cell)))


if __name__ == "__main__":
    main()
