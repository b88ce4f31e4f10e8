"""Run one system on given points and print all times: `peers.py FOLDER SYSTEM TASK`.

Started by compare_peers.py, once for each run. The folder holds points.npy and receives the map. A library is
imported only where it is measured, so that its import time includes all of its imports but the ones below.
"""

import importlib.util
import json
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from measure import Clock, peak_memory, seconds_since_launch

EARLY_ITERATIONS = 250
EXAGGERATION = 12


@dataclass(frozen=True)
class Task:
    race: str  # "iterations", "defaults" or "quality"
    perplexity: float
    iterations: int
    threads: int
    every: int = 25  # iterations between two snapshots, in the race for quality

    @property
    def by_default(self) -> bool:
        return self.race == "defaults"

    def as_json(self) -> str:
        return json.dumps(asdict(self))


@dataclass
class Outcome:
    positions: np.ndarray  # (n, 2)
    iterations: int | None = None
    stages: dict[str, float] = field(default_factory=dict)  # seconds
    snapshots: list[tuple[float, np.ndarray]] = field(default_factory=list)  # seconds since the start, map


Fit = Callable[[np.ndarray], Outcome]


def prepare_pixelsne(task: Task) -> Fit:
    from pixelsne import PixelSNE  # noqa: PLC0415

    parameters = {} if task.by_default else {"perplexity": task.perplexity, "tol": 0.0}
    if task.race == "iterations":
        parameters["max_iter"] = task.iterations

    def fit(points: np.ndarray) -> Outcome:
        model = PixelSNE(random_state=0, n_jobs=task.threads, **parameters)
        if task.race == "quality":
            snapshots = follow(model, points, task.every)
        else:
            snapshots = []
            model.fit(points)
        return Outcome(model.positions_, model.n_iter_, model.timings_, snapshots)

    return fit


def follow(model: Any, points: np.ndarray, every: int) -> list[tuple[float, np.ndarray]]:
    """Fit the model and return its map every few iterations. The time for copying is subtracted."""
    snapshots = []
    start, copying = time.perf_counter(), 0.0
    for snapshot in model.iter_fit(points):
        if snapshot.screen is not None and snapshot.iteration % every == 0:
            now = time.perf_counter()
            snapshots.append((now - start - copying, snapshot.positions))
            copying += time.perf_counter() - now
    return snapshots


def prepare_opentsne(task: Task) -> Fit:
    import openTSNE  # noqa: PLC0415

    early = min(EARLY_ITERATIONS, task.iterations)
    parameters: dict[str, Any] = {}
    if not task.by_default:
        parameters = {
            "perplexity": task.perplexity,
            "early_exaggeration": EXAGGERATION,
            "early_exaggeration_iter": early,
            "n_iter": task.iterations - early,
        }

    def fit(points: np.ndarray) -> Outcome:
        model = openTSNE.TSNE(n_jobs=task.threads, random_state=0, **parameters)
        with Clock() as preparing:
            embedding = model.prepare_initial(points)
        with Clock() as descending:
            descend(model, embedding)
        stages = {"affinities": preparing.seconds, "descent": descending.seconds}
        return Outcome(np.asarray(embedding), model.early_exaggeration_iter + model.n_iter, stages)

    return fit


def descend(model: Any, embedding: Any) -> None:
    """Run the second half of openTSNE's `fit`, separately from the first, so that each can be timed."""
    early = {"exaggeration": model.early_exaggeration, "momentum": model.initial_momentum}
    late = {"exaggeration": model.exaggeration, "momentum": model.final_momentum}
    embedding.optimize(model.early_exaggeration_iter, inplace=True, **early)
    embedding.optimize(model.n_iter, inplace=True, **late)


def prepare_scikit_learn(task: Task) -> Fit:
    from sklearn.manifold import TSNE  # noqa: PLC0415

    parameters: dict[str, Any] = {}
    if not task.by_default:
        parameters = {
            "perplexity": task.perplexity,
            "max_iter": task.iterations,
            "method": "barnes_hut",
            "init": "pca",
            "learning_rate": "auto",
            # Run all iterations, as the other systems do.
            "n_iter_without_progress": task.iterations,
            "min_grad_norm": 0.0,
        }

    def fit(points: np.ndarray) -> Outcome:
        model = TSNE(n_jobs=task.threads, random_state=0, **parameters)
        return Outcome(model.fit_transform(points), model.n_iter_ + 1)  # scikit-learn counts from zero

    return fit


def prepare_intelex(task: Task) -> Fit:
    from sklearnex import patch_sklearn  # noqa: PLC0415

    patch_sklearn(verbose=False)
    return prepare_scikit_learn(task)


def prepare_umap(task: Task) -> Fit:
    import umap  # noqa: PLC0415

    # No seed, because with a seed UMAP runs on a single thread.
    return lambda points: Outcome(umap.UMAP(n_jobs=task.threads).fit_transform(points))


def prepare_pacmap(_task: Task) -> Fit:
    import pacmap  # noqa: PLC0415

    # No seed, because with a seed the neighbor search runs on a single thread. The environment sets the threads.
    return lambda points: Outcome(pacmap.PaCMAP().fit_transform(points))


@dataclass(frozen=True)
class System:
    prepare: Callable[[Task], Fit]
    module: str
    package: str  # on PyPI
    is_tsne: bool = True  # otherwise it has neither iterations to count nor a KL
    compiles: bool = False  # compiles while it runs, so that a second call is faster

    @property
    def is_installed(self) -> bool:
        return importlib.util.find_spec(self.module) is not None


LONG_FIT = 120.0  # seconds


SYSTEMS = {
    "pixelsne": System(prepare_pixelsne, "pixelsne", "pixelsne"),
    "pixelsne, before": System(prepare_pixelsne, "pixelsne", "pixelsne"),  # by another interpreter
    "openTSNE": System(prepare_opentsne, "openTSNE", "openTSNE"),
    "scikit-learn": System(prepare_scikit_learn, "sklearn", "scikit-learn"),
    "scikit-learn-intelex": System(prepare_intelex, "sklearnex", "scikit-learn-intelex"),
    "umap-learn": System(prepare_umap, "umap", "umap-learn", is_tsne=False, compiles=True),
    "pacmap": System(prepare_pacmap, "pacmap", "pacmap", is_tsne=False, compiles=True),
}


def run(points: np.ndarray, system: System, task: Task) -> tuple[Outcome, dict[str, Any]]:
    with Clock() as importing:
        fit = system.prepare(task)
    with Clock() as fitting:
        outcome = fit(points)
    seconds: dict[str, Any] = {
        "import": importing.seconds,
        "fit": fitting.seconds,
        "first call": importing.seconds + fitting.seconds,
        "since launch": seconds_since_launch(),
        "stages": outcome.stages,
        "iterations": outcome.iterations,
        "peak memory": peak_memory(),
    }
    if system.compiles and fitting.seconds < LONG_FIT:  # for longer fits, compiling is negligible
        with Clock() as again:
            fit(points)
        seconds["warm"] = again.seconds
    return outcome, seconds


def child(folder: Path, name: str, task: Task) -> None:
    points = np.load(folder / "points.npy")
    outcome, seconds = run(points, SYSTEMS[name], task)
    np.save(folder / f"{name}.npy", np.asarray(outcome.positions, dtype=np.float32))
    if outcome.snapshots:
        seconds["snapshots"] = [second for second, _ in outcome.snapshots]
        np.save(folder / "snapshots.npy", np.array([positions for _, positions in outcome.snapshots]))
    print(json.dumps(seconds))


if __name__ == "__main__":
    child(Path(sys.argv[1]), sys.argv[2], Task(**json.loads(sys.argv[3])))
