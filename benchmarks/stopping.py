"""When the picture stands still: `stopping.py DATA ...`, DATA as in schedule.py.

One run with tol=0; at every look the map is judged, and the median move in pixels taken for three resolutions. Each
row says where a tolerance would have ended the run, and what the map was worth there.
"""

import argparse
from typing import Any

from judge import Judge
from measure import Clock, Rows, load_points, save, source_name
from pixelsne import PixelSNE, _core
from pixelsne.descent import ITERATIONS_BETWEEN_LOOKS, Descent, median_move
from pixelsne.initial_positions import initial_positions
from pixelsne.screen import Screen
from pixelsne.settings import check_settings

RESOLUTIONS = (512, 1024, 2048)
TOLERANCES = (0.0, 0.5, 1.0, 2.0, 4.0)
QUALITIES = ("KL", "10-NN accuracy", "precision 10", "precision 30")


def looks_of_a_run(points: Any, judge: Judge, max_iter: int, threads: int) -> Rows:
    """Iteration, seconds so far, moves by resolution, and quality, at every look of the late phase."""
    settings = check_settings(PixelSNE(tol=0.0, max_iter=max_iter, n_jobs=threads).get_params(deep=False), 0)
    descent = Descent(judge.affinities, initial_positions(points, "pca", 0), settings)
    rows: Rows = []
    before, seconds, clock = descent.positions.copy(), 0.0, Clock()
    clock.__enter__()
    for snapshot in descent:
        if snapshot.iteration % ITERATIONS_BETWEEN_LOOKS:
            continue
        clock.__exit__()
        seconds += clock.seconds
        moves = {r: move_between(before, descent.positions, r, threads) for r in RESOLUTIONS}
        before = descent.positions.copy()
        if snapshot.phase == "late":
            quality = judge.judge(descent.positions)
            rows.append({"iteration": snapshot.iteration, "seconds": seconds, "moves": moves, **quality})
        clock.__enter__()
    return rows


def move_between(before: Any, after: Any, resolution: int, threads: int) -> float:
    sides = (resolution, resolution)
    placed = [
        Screen.around(_core.bounds(positions, threads), sides, "fill").place(positions) for positions in (before, after)
    ]
    return median_move(*placed)


def stops(looks: Rows, resolution: int) -> Rows:
    """For each tolerance, the first look that it would have ended at."""
    rows = []
    for tolerance in TOLERANCES:
        stop = next((look for look in looks if look["moves"][resolution] < tolerance), looks[-1])
        row = {"r": resolution, "tol": tolerance, "iterations": stop["iteration"], "descent, s": stop["seconds"]}
        rows.append({**row, "moved": stop["moves"][resolution], **{name: stop[name] for name in QUALITIES}})
    return rows


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
        looks = looks_of_a_run(points, judge, options.max_iter, options.threads)
        for resolution in RESOLUTIONS:
            rows += [{"data": source_name(source), "n": len(points), **row} for row in stops(looks, resolution)]
        print(*rows[-len(TOLERANCES) * len(RESOLUTIONS) :], sep="\n", flush=True)
    title = f"Where a tolerance ends a run of at most {options.max_iter} iterations"
    save(f"stopping{options.suffix}", title, rows)


if __name__ == "__main__":
    main()
