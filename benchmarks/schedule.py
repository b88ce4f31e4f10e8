"""Compare schedules: `schedule.py DATA ... [--only 'NAME;NAME'] [--openTSNE]`.

DATA as in compare_peers.py, or a synthetic set with a number of rows and a seed, `nested:20000:1`.

Each candidate runs on the same affinities (perplexity 30) from the same initial positions, and its map is measured at
several iterations. "ordinary" is the usual schedule of the field: exaggeration 12 for 250 iterations at momentum 0.5,
then momentum 0.8, rate n / (4 exaggeration). With --openTSNE, maps of openTSNE from the same affinities are measured,
too: with its default of 750 iterations, and with 1,000.
"""

import argparse
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix

from judge import Judge
from measure import SOURCES, Clock, Rows, load_points, save, source_name
from pixelsne import PixelSNE
from pixelsne.descent import Descent
from pixelsne.initial_positions import initial_positions
from pixelsne.schedule import ScheduleStep, make_schedule
from pixelsne.settings import settings_of
from shapes import SHAPES, share_beside_relatives, tears

SOURCES |= SHAPES

Phase = tuple[int, tuple[float, float], tuple[float, float], tuple[float, float]]
"""Iterations; then first and last value of exaggeration, of momentum and of rate / n."""


def steady(iterations: int, exaggeration: float, momentum: float, rate: float) -> Phase:
    return iterations, (exaggeration, exaggeration), (momentum, momentum), (rate, rate)


def falling(iterations: int, momentum: float, first_rate: float = 1 / 12, last_rate: float = 1) -> Phase:
    """Return a phase in which exaggeration falls from 12 to 1 and the rate rises to last_rate n."""
    return iterations, (12, 1), (momentum, momentum), (first_rate, last_rate)


COOLING = (60, (1, 1), (0.95, 0.7), (1, 0.1))

# All but the first end at 350 iterations. "0.1.0": the schedule of that version, tuned by local measures only.
CANDIDATES: dict[str, list[Phase]] = {
    "ordinary": [steady(250, 12, 0.5, 1 / 48), steady(750, 1, 0.8, 1 / 4)],
    "ordinary, shortened": [steady(88, 12, 0.5, 1 / 48), steady(262, 1, 0.8, 1 / 4)],
    "0.1.0": [steady(40, 12, 0.8, 1 / 12), falling(80, 0.8), (170, (1, 1), (0.9, 0.95), (1, 1)), COOLING],
    "n/48 while exaggerated, then n": [
        steady(40, 12, 0.8, 1 / 48),
        (80, (12, 1), (0.8, 0.8), (1 / 48, 1 / 48)),
        (170, (1, 1), (0.9, 0.95), (1, 1)),
        COOLING,
    ],
    "n/30 rising to n, 0.95": [
        steady(40, 12, 0.8, 0.4 / 12),
        falling(80, 0.8, 0.4 / 12),
        steady(170, 1, 0.95, 1),
        COOLING,
    ],
    "n/48 rising to n, 0.95": [
        steady(40, 12, 0.8, 1 / 48),
        falling(80, 0.8, 1 / 48),
        steady(170, 1, 0.95, 1),
        COOLING,
    ],
    "n/48, falling 20, then n/4 to n in 60": [
        steady(60, 12, 0.8, 1 / 48),
        falling(20, 0.8, 1 / 48, 1 / 4),
        (60, (1, 1), (0.8, 0.95), (1 / 4, 1)),
        steady(150, 1, 0.95, 1),
        COOLING,
    ],
    "100, then n/4 to n, 0.8 to 0.95 in 80": [
        steady(100, 12, 0.8, 1 / 48),
        (80, (1, 1), (0.8, 0.95), (1 / 4, 1)),
        steady(110, 1, 0.95, 1),
        COOLING,
    ],
}
CHOSEN = "pixelsne, default"
JUDGED_AT = (350, 1000)


def steps_of(phases: list[Phase], n: int) -> list[ScheduleStep]:
    schedule = []
    for iterations, exaggeration, momentum, rate in phases:
        for step in range(iterations):
            share = step / iterations
            factor = exaggeration[0] * (exaggeration[1] / exaggeration[0]) ** share
            speed = momentum[0] + (momentum[1] - momentum[0]) * share
            learning_rate = n * rate[0] * (rate[1] / rate[0]) ** share
            schedule.append(ScheduleStep("early" if factor > 1 else "late", factor, speed, learning_rate))
    return schedule


def try_candidate(
    points: np.ndarray, judge: Judge, threads: int, make_steps: Callable[[Any, int], list[ScheduleStep]], shape: str
) -> list[dict[str, float]]:
    model = PixelSNE(random_state=0, n_jobs=threads, tol=0.0)
    settings = settings_of(model)
    descent = Descent(judge.affinities, initial_positions(points, "pca", 0), settings)
    descent.schedule = make_steps(settings, len(points))
    rows, seconds = [], 0.0
    clock = Clock()
    clock.__enter__()
    for snapshot in descent:
        if snapshot.iteration in JUDGED_AT or snapshot.iteration == len(descent.schedule):
            clock.__exit__()
            seconds += clock.seconds
            figures = judge.judge(descent.positions) | arrangement_of_shape(shape, descent.positions, judge)
            rows.append({"iterations": snapshot.iteration, "descent, s": seconds, **figures})
            clock.__enter__()
    return rows


def try_opentsne(points: np.ndarray, judge: Judge, threads: int, shape: str) -> list[dict[str, float]]:
    import openTSNE  # noqa: PLC0415 - needed for the comparison only

    affinities = judge.affinities
    parts = affinities.values.astype(np.float64), affinities.columns.copy(), affinities.offsets.astype(np.int32)
    matrix = csr_matrix(parts, shape=(len(points), len(points)))
    embedding = openTSNE.TSNEEmbedding(
        openTSNE.initialization.pca(points, random_state=0),
        openTSNE.affinity.PrecomputedAffinities(matrix, normalize=False),
        n_jobs=threads,
        random_state=0,
    )
    rows, seconds, done = [], 0.0, 0
    for iterations, exaggeration in ((250, 12), (500, 1), (250, 1)):
        with Clock() as clock:
            embedding.optimize(iterations, exaggeration=exaggeration, momentum=0.8, inplace=True)
        seconds, done = seconds + clock.seconds, done + iterations
        if exaggeration == 1:
            positions = np.asarray(embedding)
            figures = judge.judge(positions) | arrangement_of_shape(shape, positions, judge)
            rows.append({"iterations": done, "descent, s": seconds, **figures})
    return rows


def arrangement_of_shape(shape: str, positions: np.ndarray, judge: Judge) -> dict[str, float]:
    """Return the measures that exist for maps of a synthetic shape only."""
    if shape == "nested":
        return {"beside kin": share_beside_relatives(positions, judge.labels)}
    return {"tears": tears(positions)} if shape == "curve" else {}


def name_of(name: str, seed: int) -> str:
    return f"{source_name(name)}, seed {seed}" if seed else source_name(name)


def parse_source(source: str) -> tuple[str, int | None, int]:
    """Return the name, the number of rows and the seed of a source such as nested:20000:1."""
    name, n, seed = [*source.split(":"), "", ""][:3] if source.partition(":")[0] in SOURCES else (source, "", "")
    return name, int(n) if n else None, int(seed or 0)


def try_all(source: str, only: list[str], threads: int, *, with_opentsne: bool) -> Rows:
    name, n, seed = parse_source(source)
    points, labels = load_points(name, n, seed)
    judge = Judge(points, labels, 30.0, threads)
    rows: Rows = []
    for label, phases in CANDIDATES.items():
        if not only or label in only:
            rows += (
                {"data": name_of(name, seed), "n": len(points), "schedule": label, **row}
                for row in try_candidate(points, judge, threads, lambda _, n, phases=phases: steps_of(phases, n), name)
            )
            print(*rows[-3:], sep="\n", flush=True)
    further = {CHOSEN: try_candidate(points, judge, threads, make_schedule, name)}
    if with_opentsne:
        further["openTSNE"] = try_opentsne(points, judge, threads, name)
    for label, found in further.items():
        rows += ({"data": name_of(name, seed), "n": len(points), "schedule": label, **row} for row in found)
        print(*found, sep="\n", flush=True)
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", nargs="+")
    parser.add_argument("--only", default="", help="names of schedules, separated by ;, besides the default")
    parser.add_argument("--openTSNE", action="store_true", help="measure maps of openTSNE, too")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--suffix", default="")
    options = parser.parse_args()
    rows: Rows = []
    for source in options.data:
        only = [name for name in options.only.split(";") if name]
        rows += try_all(source, only, options.threads, with_opentsne=options.openTSNE)
    save(f"schedule{options.suffix}", "Schedules on the same affinities, perplexity 30", rows)


if __name__ == "__main__":
    main()
