"""Measure when a tolerance ends a run: `stopping.py DATA ...`, DATA as in compare_peers.py.

There is one run for each tolerance and resolution, on the same affinities. A run that ends early still has its
cooldown.
"""

import argparse
from typing import Any

from judge import Judge
from measure import Clock, Rows, load_points, save, source_name
from pixelsne import PixelSNE
from pixelsne.descent import Descent
from pixelsne.initial_positions import initial_positions
from pixelsne.settings import settings_of

RESOLUTIONS = (512, 1024, 2048)
TOLERANCES = (0.0, 0.5, 1.0, 2.0, 4.0)


def run(points: Any, judge: Judge, resolution: int, tolerance: float, options: argparse.Namespace) -> dict[str, Any]:
    model = PixelSNE(resolution=resolution, tol=tolerance, max_iter=options.max_iter, n_jobs=options.threads)
    settings = settings_of(model)
    descent = Descent(judge.affinities, initial_positions(points, "pca", 0), settings)
    with Clock() as clock:
        for _ in descent:
            pass
    return {
        "r": resolution,
        "tol": tolerance,
        "iterations": descent.iteration,
        "descent, s": clock.seconds,
        "moved": descent.history.measurements[-1][2],
        **judge.judge(descent.positions),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", nargs="+")
    parser.add_argument("--max-iter", type=int, default=350)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--suffix", default="")
    options = parser.parse_args()
    rows: Rows = []
    for source in options.data:
        points, labels = load_points(source)
        judge = Judge(points, labels, 30.0, options.threads)
        for resolution in RESOLUTIONS:
            for tolerance in TOLERANCES:
                row = run(points, judge, resolution, tolerance, options)
                rows.append({"data": source_name(source), "n": len(points), **row})
                print(rows[-1], flush=True)
    title = f"Iterations at which a tolerance ends a run of at most {options.max_iter} iterations"
    save(f"stopping{options.suffix}", title, rows)


if __name__ == "__main__":
    main()
