"""The search for the schedule: `schedule.py DATA ... [--only 'NAME;NAME']`.

DATA as in compare_peers.py, or `digits:500`.

Each candidate runs on the same affinities (perplexity 30) from the same start; the maps are judged at several
iterations. "ordinary" is what the field uses: exaggeration 12 for 250 iterations at momentum 0.5, then momentum 0.8,
rate n / (4 exaggeration).
"""

import argparse
from collections.abc import Callable
from typing import Any

import numpy as np

from judge import Judge
from measure import Clock, Rows, load_points, save, source_name
from pixelsne import PixelSNE
from pixelsne.descent import Descent
from pixelsne.initial_positions import initial_positions
from pixelsne.schedule import Pace, plan
from pixelsne.settings import settings_of

Phase = tuple[int, tuple[float, float], tuple[float, float], tuple[float, float]]
"""Iterations; exaggeration, momentum and rate / n, each from and to."""


def steady(iterations: int, exaggeration: float, momentum: float, rate: float) -> Phase:
    return iterations, (exaggeration, exaggeration), (momentum, momentum), (rate, rate)


def falling(iterations: int, momentum: float) -> Phase:
    return iterations, (12, 1), (momentum, momentum), (1 / 12, 1)


# All but the first end at 350 iterations.
CANDIDATES: dict[str, list[Phase]] = {
    "ordinary": [steady(250, 12, 0.5, 1 / 48), steady(750, 1, 0.8, 1 / 4)],
    "ordinary, shortened": [steady(88, 12, 0.5, 1 / 48), steady(262, 1, 0.8, 1 / 4)],
    "100 at 0.8, then n/2, 0.9": [steady(100, 12, 0.8, 1 / 48), steady(250, 1, 0.9, 1 / 2)],
    "100 at 0.8, then n/2, 0.95": [steady(100, 12, 0.8, 1 / 48), steady(250, 1, 0.95, 1 / 2)],
    "100 at 0.8, then n, 0.9": [steady(100, 12, 0.8, 1 / 48), steady(250, 1, 0.9, 1)],
    "100 at 0.8, 50 at n/4, 0.8, then n, 0.9": [
        steady(100, 12, 0.8, 1 / 48),
        steady(50, 1, 0.8, 1 / 4),
        steady(200, 1, 0.9, 1),
    ],
    "40, falling 80, then n, 0.9": [steady(40, 12, 0.8, 1 / 12), falling(80, 0.8), steady(230, 1, 0.9, 1)],
    "40, falling 80, then n, 0.9 to 0.95": [
        steady(40, 12, 0.8, 1 / 12),
        falling(80, 0.8),
        (230, (1, 1), (0.9, 0.95), (1, 1)),
    ],
    "40, falling 80, then 0.7 n to n, 0.9 to 0.95": [
        steady(40, 12, 0.8, 0.7 / 12),
        (80, (12, 1), (0.8, 0.8), (0.7 / 12, 0.7)),
        (230, (1, 1), (0.9, 0.95), (0.7, 1)),
    ],
    "20, falling 80, then n, 0.9 to 0.95": [
        steady(20, 12, 0.8, 1 / 12),
        falling(80, 0.8),
        (250, (1, 1), (0.9, 0.95), (1, 1)),
    ],
    "40, falling 80, then n, 0.9 to 0.95, cooling 60": [
        steady(40, 12, 0.8, 1 / 12),
        falling(80, 0.8),
        (170, (1, 1), (0.9, 0.95), (1, 1)),
        (60, (1, 1), (0.95, 0.7), (1, 0.1)),
    ],
    "40, falling 50, then n, 0.9 to 0.95, cooling 60": [
        steady(40, 12, 0.8, 1 / 12),
        falling(50, 0.8),
        (200, (1, 1), (0.9, 0.95), (1, 1)),
        (60, (1, 1), (0.95, 0.7), (1, 0.1)),
    ],
    "40, falling 80, then 1.4 n, 0.9 to 0.95": [
        steady(40, 12, 0.8, 1 / 12),
        falling(80, 0.8),
        (230, (1, 1), (0.9, 0.95), (1.4, 1.4)),
    ],
}
CHOSEN = "pixelsne, default"
JUDGED_AT = (250, 300, 350, 1000)


def paces_of(phases: list[Phase], n: int) -> list[Pace]:
    paces = []
    for iterations, exaggeration, momentum, rate in phases:
        for step in range(iterations):
            share = step / iterations
            factor = exaggeration[0] * (exaggeration[1] / exaggeration[0]) ** share
            speed = momentum[0] + (momentum[1] - momentum[0]) * share
            learning_rate = n * rate[0] * (rate[1] / rate[0]) ** share
            paces.append(Pace("early" if factor > 1 else "late", factor, speed, max(50.0, learning_rate)))
    return paces


def try_candidate(
    points: np.ndarray, judge: Judge, threads: int, make_paces: Callable[[Any, int], list[Pace]]
) -> list[dict[str, float]]:
    model = PixelSNE(random_state=0, n_jobs=threads, tol=0.0)
    settings = settings_of(model)
    descent = Descent(judge.affinities, initial_positions(points, "pca", 0), settings)
    descent.paces = make_paces(settings, len(points))
    rows, seconds = [], 0.0
    clock = Clock()
    clock.__enter__()
    for snapshot in descent:
        if snapshot.iteration in JUDGED_AT or snapshot.iteration == len(descent.paces):
            clock.__exit__()
            seconds += clock.seconds
            rows.append({"iterations": snapshot.iteration, "descent, s": seconds, **judge.judge(descent.positions)})
            clock.__enter__()
    return rows


def try_all(source: str, only: list[str], threads: int) -> Rows:
    name, _, n = source.partition(":") if source.startswith("digits") else (source, "", "")
    points, labels = load_points(name, int(n) if n else None)
    judge = Judge(points, labels, 30.0, threads)
    rows: Rows = []
    for label, phases in CANDIDATES.items():
        if not only or label in only:
            rows += (
                {"data": source_name(name), "n": len(points), "schedule": label, **row}
                for row in try_candidate(points, judge, threads, lambda _, n, phases=phases: paces_of(phases, n))
            )
            print(*rows[-3:], sep="\n", flush=True)
    chosen = try_candidate(points, judge, threads, plan)
    return rows + [{"data": source_name(name), "n": len(points), "schedule": CHOSEN, **row} for row in chosen]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", nargs="+")
    parser.add_argument("--only", default="", help="names of schedules, with ; between; the default always runs")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--suffix", default="")
    options = parser.parse_args()
    rows: Rows = []
    for source in options.data:
        rows += try_all(source, [name for name in options.only.split(";") if name], options.threads)
    save(f"schedule{options.suffix}", "Schedules on the same affinities, perplexity 30", rows)


if __name__ == "__main__":
    main()
