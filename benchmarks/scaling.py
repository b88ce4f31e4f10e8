"""Measure time and memory by number of points and pixels: `scaling.py [clusters | DATA.npz] [--sections ...]`.

Each measurement runs in a separate process, with the defaults of PixelSNE except `tol`. Sections are size (all stages
by n), resolution (the same by r, the side of the screen in pixels) and along (milliseconds per iteration in the course
of one run of 1,000 iterations).
"""

import argparse
import itertools
import sys
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path

import numpy as np

import stages
from measure import RESULTS, Rows, check_names, in_own_process, load_source, save, source_name
from pictures import draw_along, draw_scaling
from stages import ALONG, WINDOW

SIZES = [1_000, 3_000, 10_000, 30_000, 100_000, 300_000, 1_000_000]
RESOLUTIONS = [256, 512, 1024, 2048, 4096, 8192]
FITTED_FROM = 10_000  # with fewer points, the overhead of a call exceeds the cost of the points
EARLY, LATE = "ms per iteration, early", "ms per iteration, late"
FITTED = ("neighbors, s", "affinities, s", EARLY, LATE, "repulsion, ms", "total, s", "peak memory, GB")


def parse_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", nargs="?", default="clusters", help="npz file with X and y, or clusters (the default)")
    parser.add_argument("--sections", default="size,resolution,along", help="subset of %(default)s")
    parser.add_argument("--sizes", type=numbers, default=SIZES, help="numbers of points, such as 1000,10000")
    parser.add_argument("--resolutions", type=numbers, default=RESOLUTIONS, help="sides in pixels, such as 512,1024")
    parser.add_argument("--n-for-resolution", type=int, default=70_000)
    parser.add_argument("--n-along", type=int, default=70_000)
    parser.add_argument("--iterations", type=int, default=300, help="of each run for size and resolution")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--suffix", default="", help="added to the names of the results")
    options = parser.parse_args()
    check_names(parser, "--sections", options.sections, SECTIONS)
    return options


def numbers(text: str) -> list[int]:
    return [int(one) for one in text.split(",")]


def run_all(options: argparse.Namespace, cases: Iterable[tuple[int, int]], iterations: int) -> Rows:
    """Run each (n, r). A failed run is reported and left out."""
    rows: Rows = []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "values.npy"
        for n, resolution in cases:
            values, _ = load_source(options.data, n)
            if any((row["n"], row["r"]) == (len(values), resolution) for row in rows):
                continue  # the data have no more points
            np.save(path, values)
            arguments = path, resolution, iterations, options.threads
            try:
                rows.append(in_own_process(stages.__file__, *arguments, threads=options.threads))
            except RuntimeError as error:
                print(error, file=sys.stderr)
                continue
            print({key: value for key, value in rows[-1].items() if key != "along"}, flush=True)
    return rows


def fitted_rows(rows: Rows) -> Rows:
    """Return the rows of the larger sizes, if there are at least two."""
    large = [row for row in rows if row["n"] >= FITTED_FROM]
    return large if len({row["n"] for row in large}) > 1 else rows


def exponent(rows: Rows, variable: str, head: str) -> float:
    """Return b of the fit a * n^b."""
    logs = np.log([[row[variable], max(row[head], 1e-9)] for row in rows])
    return float(np.polyfit(*logs.T, 1)[0])


def growth(rows: Rows) -> str:
    """Say how the time of an iteration grows where n grows tenfold."""
    pairs = [(a, b) for a, b in itertools.combinations(rows, 2) if b["n"] == 10 * a["n"]]
    lines = [
        f"From {a['n']:,} to {b['n']:,} points: an early iteration takes {b[EARLY] / a[EARLY]:.1f} times as long, "
        f"a late one {b[LATE] / a[LATE]:.1f} times."
        for a, b in pairs
    ]
    return "\n\n".join(lines)


def name_result(options: argparse.Namespace, section: str) -> str:
    return "_".join(filter(None, ["scaling", section, source_name(options.data), options.suffix]))


def report(rows: Rows, variable: str, name: str, title: str) -> None:
    """Write the table, the fitted exponents and the picture."""
    rows = [{key: value for key, value in row.items() if key != "along"} for row in rows]
    used = fitted_rows(rows)
    exponents = {head: exponent(used, variable, head) for head in FITTED} if len(rows) > 1 else {}
    words = "; ".join(f"{head.removesuffix(', s')} {b:.2f}" for head, b in exponents.items())
    fit_note = f"Exponents of {variable}, fitted from {variable} = {used[0][variable]:,} on: {words}." if words else ""
    save(name, title, rows, "\n\n".join(filter(None, [fit_note, growth(rows)])), exponents=exponents)
    draw_scaling(RESULTS / f"{name}.png", title, rows, variable, exponents)


def measure_size(options: argparse.Namespace) -> None:
    rows = run_all(options, [(n, 1024) for n in options.sizes], options.iterations)
    title = f"{source_name(options.data)}: r = 1024, {options.iterations} iterations, threads: {options.threads}"
    if rows:
        report(rows, "n", name_result(options, "size"), title)


def measure_resolution(options: argparse.Namespace) -> None:
    cases = [(options.n_for_resolution, r) for r in options.resolutions]
    rows = run_all(options, cases, options.iterations)
    if rows:
        data = f"{source_name(options.data)}: n = {rows[0]['n']:,}"
        title = f"{data}, {options.iterations} iterations, threads: {options.threads}"
        report(rows, "r", name_result(options, "resolution"), title)


def measure_along(options: argparse.Namespace) -> None:
    for row in run_all(options, [(options.n_along, 1024)], max(ALONG)):
        rows: Rows = [
            {"iteration": int(iteration), "ms per iteration": spent} for iteration, spent in row["along"].items()
        ]
        name = name_result(options, "along")
        title = f"{source_name(options.data)}: n = {row['n']:,}, r = 1024, along one run, threads: {options.threads}"
        window = f"{WINDOW} iterations that end with the given one, or of the first {WINDOW}"
        save(name, title, rows, f"Each value is the median of the {window}.")
        draw_along(RESULTS / f"{name}.png", title, rows)


SECTIONS: dict[str, Callable[[argparse.Namespace], None]] = {
    "size": measure_size,
    "resolution": measure_resolution,
    "along": measure_along,
}


def main() -> None:
    options = parse_options()
    for name in options.sections.split(","):
        SECTIONS[name](options)


if __name__ == "__main__":
    main()
