"""Compare PixelSNE with other libraries: `compare_peers.py clusters | digits | DATA.npz [--race ...] [--n ...]`.

The systems run in turn, each run in its own process. All have the same number of threads and the same input: float32
points, 50 principal components, or with --raw all columns as they are in the file. Races:

iterations   all t-SNE libraries run the same number of iterations at the same perplexity
defaults     all libraries run with their default parameters
quality      time until our map is as good as the final map of the target (openTSNE), in KL and in precision

Install the other libraries with `pip install -e '.[bench]'`. Those that are missing are left out.
`--before PYTHON` adds an older version of PixelSNE, from the environment of that interpreter.
"""

import argparse
import sys
import tempfile
from importlib.metadata import version
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

import peers
from judge import Judge
from measure import RESULTS, SOURCES, Rows, check_names, in_own_process, load_source, save, source_name, to_points
from peers import SYSTEMS, Task
from pictures import draw_approach, draw_race
from shapes import SHAPES

SOURCES |= SHAPES

OURS, BEFORE = "pixelsne", "pixelsne, before"
TARGETS = [name for name, system in SYSTEMS.items() if system.is_tsne and name not in {OURS, BEFORE}]
TO_REACH = ("KL", "precision 10", "precision 30")
NOTES = {
    "iterations": "openTSNE: exaggeration 12 for 250 iterations, its own momentum. scikit-learn(-intelex): "
    "Barnes-Hut, PCA initialization, automatic learning rate, no early stop.",
    "defaults": "umap-learn and pacmap run without a seed, because with a seed they use a single thread. "
    "Their maps have no KL, because they are not in the units of t-SNE. "
    '"Warm" is a second call in the same process, after compilation.',
    "quality": '"Reached": seconds from the start of our run, including the neighbor search, until a snapshot of our '
    'map is at least as good as the final map of the target. "All reached": the same for KL and both precisions at '
    "once. "
    "Our run has the default number of iterations, because a map is best after the cooldown.",
}


def parse_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", help=f"npz file with X and y, or one of {', '.join(SOURCES)}")
    parser.add_argument("--n", type=int, help="number of points (default: all; of clusters 10,000)")
    parser.add_argument("--race", choices=sorted(NOTES), default="iterations")
    systems = [name for name in SYSTEMS if name != BEFORE]
    parser.add_argument("--systems", default=",".join(systems), help="subset of %(default)s")
    parser.add_argument("--target", choices=TARGETS, default="openTSNE", help="system whose quality is to be reached")
    parser.add_argument("--repetitions", type=int, default=1)
    parser.add_argument("--perplexity", type=float, default=30.0)
    parser.add_argument("--iterations", type=int, default=1000)
    parser.add_argument("--every", type=int, default=25, help="iterations between snapshots, in the race for quality")
    parser.add_argument("--slack", type=float, default=0.0, help="relative tolerance of the target, such as 0.005")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--raw", action="store_true", help="pass all columns, so that times include each system's PCA")
    parser.add_argument("--suffix", default="", help="added to the names of the results")
    parser.add_argument(
        "--before", metavar="PYTHON", help="interpreter of an environment with an older version of ours"
    )
    options = parser.parse_args()
    check_names(parser, "--systems", options.systems, SYSTEMS)
    return options


def choose_systems(options: argparse.Namespace) -> list[str]:
    """Return the systems that were selected, take part in the race and are installed."""
    names = [OURS, options.target] if options.race == "quality" else options.systems.split(",")
    names = [name for name in names if options.race == "defaults" or SYSTEMS[name].is_tsne]
    if options.before:
        names.insert(1, BEFORE)
    for name in names:
        if not SYSTEMS[name].is_installed:
            print(f"{name} is left out; to include it: pip install {SYSTEMS[name].package}", file=sys.stderr)
    return [name for name in names if SYSTEMS[name].is_installed]


def run_once(folder: Path, name: str, task: Task, judge: Judge, options: argparse.Namespace) -> dict[str, Any]:
    """Return the times and the quality of one run."""
    from_launch = options.data == "digits"  # the first call includes the start of the process
    python = options.before if name == BEFORE else sys.executable
    measured = in_own_process(peers.__file__, folder, name, task.as_json(), threads=task.threads, python=python)
    row = {
        "system": name,
        "import, s": measured["import"],
        "fit, s": measured["fit"],
        "first call, s": measured["since launch" if from_launch else "first call"],
        "warm, s": measured.get("warm"),
        **{f"{stage}, s": seconds for stage, seconds in measured["stages"].items() if stage != "reduce"},
        "iterations": measured["iterations"],
        "peak memory, GB": measured["peak memory"],
        **judge.judge(np.load(folder / f"{name}.npy"), with_kl=SYSTEMS[name].is_tsne),
    }
    if "snapshots" in measured:
        maps = zip(measured["snapshots"], np.load(folder / "snapshots.npy"), strict=True)
        row["approach"] = [{"seconds": seconds, **judge.judge(positions)} for seconds, positions in maps]
    return row


def alternate(
    folder: Path, names: list[str], task: Task, judge: Judge, options: argparse.Namespace
) -> tuple[Rows, list[str]]:
    """Return all runs, and a line for each that failed."""
    runs: Rows = []
    failures = []
    for repetition in range(1, options.repetitions + 1):
        for name in names:
            try:
                row = run_once(folder, name, task, judge, options)
            except RuntimeError as error:
                print(error, file=sys.stderr)
                failures.append(f"{name}, run {repetition}, failed: {str(error).strip().splitlines()[-1]}")
                continue
            runs.append({"run": repetition, **row})
            print({key: value for key, value in runs[-1].items() if key != "approach"}, flush=True)
    return runs, failures


def compare_times(runs: Rows) -> None:
    """Add to each run its times divided by those of PixelSNE in the same repetition."""
    ours = {run["run"]: run for run in runs if run["system"] == OURS}
    for run in runs:
        for time in ("fit", "first call"):
            if run["run"] in ours:
                run[f"{time} / ours"] = run[f"{time}, s"] / ours[run["run"]][f"{time}, s"]


def is_reached(figures: dict[str, float], goal: dict[str, float], measures: tuple[str, ...], slack: float) -> bool:
    return all(
        figures[measure] <= (1 + slack) * goal[measure]
        if measure == "KL"
        else figures[measure] >= (1 - slack) * goal[measure]
        for measure in measures
    )


def compare_approach(runs: Rows, target: str, slack: float) -> None:
    """Add to each run of PixelSNE the time at which it was as good as the target's final map in the same repetition."""
    goals = {run["run"]: run for run in runs if run["system"] == target}
    for run in runs:
        if "approach" not in run or run["run"] not in goals:
            continue
        goal = goals[run["run"]]
        for name, measures in {**{one: (one,) for one in TO_REACH}, "all": TO_REACH}.items():
            times = (snapshot["seconds"] for snapshot in run["approach"] if is_reached(snapshot, goal, measures, slack))
            run[f"{name} reached, s"] = next(times, "never")
        if run["all reached, s"] != "never":
            run["target's fit / all reached"] = goal["fit, s"] / run["all reached, s"]


def median_or_word(values: list[Any]) -> Any:
    """Return the median, or the word that a run has instead of a number."""
    words = [value for value in values if isinstance(value, str)]
    return words[0] if words else median(values)


def summarize(runs: Rows) -> Rows:
    """Return one row per system: the medians of its runs."""
    rows: Rows = []
    for name in dict.fromkeys(run["system"] for run in runs):
        runs_of_system = [run for run in runs if run["system"] == name]
        heads = dict.fromkeys(key for run in runs_of_system for key in run if key not in {"run", "system", "approach"})
        columns = {head: [run[head] for run in runs_of_system if run.get(head) is not None] for head in heads}
        medians = {head: median_or_word(values) for head, values in columns.items() if values}
        of_system = "" if name == BEFORE else f" {version(SYSTEMS[name].package)}"
        rows.append({"system": f"{name}{of_system}", "runs": len(runs_of_system), **medians})
    return rows


def describe(options: argparse.Namespace, n: int) -> str:
    what = {
        "iterations": f"{options.iterations:,} iterations at perplexity {options.perplexity:g}",
        "defaults": "default parameters",
        "quality": f"time to the quality of {options.target} ({options.iterations:,} iterations, "
        f"perplexity {options.perplexity:g})",
    }[options.race]
    threads = f"{options.threads} thread{'s' if options.threads > 1 else ''}"
    raw = ", all columns" if options.raw else ""
    return f"{source_name(options.data)}, {n:,} points{raw}, {what}, {threads}"


def notes_on(options: argparse.Namespace, judge: Judge, failures: list[str]) -> str:
    launch = "First calls include the start of the process." if options.data == "digits" else ""
    slack = f"A measure counts as reached within a tolerance of {options.slack:.1%}." if options.slack else ""
    times = (
        "Values are medians over the runs. Ratios are computed within a repetition. A first call is import and fit. "
        "openTSNE's affinities include its neighbor search and initialization."
    )
    return "\n\n".join(filter(None, [NOTES[options.race], slack, judge.notes(), times, launch, *failures]))


def draw(options: argparse.Namespace, folder: Path, runs: Rows, labels: np.ndarray, title: str, picture: Path) -> None:
    if options.race == "quality":
        draw_approach(picture, title, runs, TO_REACH)
    else:
        maps = {name: np.load(folder / f"{name}.npy") for name in dict.fromkeys(run["system"] for run in runs)}
        draw_race(picture, title, runs, maps, labels)


def main() -> None:
    options = parse_options()
    names = choose_systems(options)
    values, labels = load_source(options.data, options.n)
    points = to_points(values)
    task = Task(options.race, options.perplexity, options.iterations, options.threads, options.every)
    judge = Judge(points, labels, options.perplexity, options.threads)
    with tempfile.TemporaryDirectory() as name_of_folder:
        folder = Path(name_of_folder)
        np.save(folder / "points.npy", values if options.raw else points)
        runs, failures = alternate(folder, names, task, judge, options)
        if options.race == "quality":
            compare_approach(runs, options.target, options.slack)
        else:
            compare_times(runs)
        name = "_".join(filter(None, ["compare_peers", options.race, source_name(options.data), options.suffix]))
        title = describe(options, len(points))
        save(name, title, summarize(runs), notes_on(options, judge, failures), runs=runs)
        if runs:
            draw(options, folder, runs, labels, title, RESULTS / f"{name}.png")


if __name__ == "__main__":
    main()
