"""The paper's tables with our results next to them, as Markdown."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from benchmarks.measure import table
from experiments import paper, plan
from experiments.cells import Cell, Result
from experiments.data.catalog import TITLES
from experiments.methods import METHODS
from experiments.parts import ATTRACTION_IN_CLUSTER_ORDER
from experiments.plan import Scale
from experiments.stored_results import StoredResults

Sizes = dict[str, int]
Series = list[tuple[int, list[float]]]  # points, and the seconds of every repetition
NOT_RUN = "not run"
PARTS = ("P", "Coord", "Total")


def duration(seconds: float) -> str:
    if seconds < 300:
        return f"{seconds:.3g} s"
    return f"{seconds / 60:.3g} min" if seconds < 6000 else f"{seconds / 3600:.3g} h"


def deviation(values: Sequence[float]) -> float:
    """Return the estimated standard deviation of the population."""
    return float(np.std(values, ddof=1))


def spread(values: Sequence[float], digits: int = 4) -> str:
    """Return mean (deviation), or the value if there is only one."""
    if not values:
        return NOT_RUN
    mean = f"{np.mean(values):.{digits}f}"
    return mean if len(values) == 1 else f"{mean} ({deviation(values):.{digits}f})"


def spread_time(values: Sequence[float]) -> str:
    if not values:
        return NOT_RUN
    mean = duration(float(np.mean(values)))
    return mean if len(values) == 1 else f"{mean} ({deviation(values):.2g} s)"


def gather(stored: StoredResults, cells: Iterable[Cell], **properties: Any) -> list[Result]:
    """Return the results of finished cells with these properties; runs, unless another kind is given."""
    properties = {"kind": "run"} | properties
    matching = [cell for cell in cells if all(getattr(cell, name) == value for name, value in properties.items())]
    return stored.have(dict.fromkeys(matching))


def column(results: Sequence[Result], name: str) -> list[float]:
    """Return the values of a column where it was measured."""
    return [float(result[name]) for result in results if result.get(name) is not None]


def computing_times(stored: StoredResults, scale: Scale, sizes: Sizes) -> str:
    """Table 1."""
    cells = list(plan.times(scale, sizes))
    parts = []
    for data in paper.SETS:
        n = plan.size_of(data, scale, sizes)
        rows = [row for method in METHODS for row in times_rows(stored, cells, data, method, n)]
        if rows:
            paper_points = "" if n == paper.POINTS[data] else f" (paper: {paper.POINTS[data]:,})"
            parts.append(
                f"**{TITLES[data]}**, {n:,} points{paper_points}, r = {paper.RESOLUTION[data]}\n\n{table(rows)}"
            )
    return "\n\n".join(parts)


def times_rows(stored: StoredResults, cells: list[Cell], data: str, method: str, n: int) -> list[dict[str, str]]:
    """Return the rows of a method. The ratio is shown only for as many points as in the paper."""
    comparable = n == paper.POINTS[data]
    rows = []
    for threads in (1, 2):
        results = gather(stored, cells, data=data, method=method, threads=threads)
        in_paper = paper.TIMES.get((method, data))
        if not results and (in_paper is None or threads > 1):
            continue
        ours = column(results, "Total")
        rows.append({
            "method": METHODS[method].title + (f", {threads} threads" if threads > 1 else ""),
            **{f"paper: {name}": duration(in_paper[index]) if in_paper else "" for index, name in enumerate(PARTS)},
            **{f"here: {name}": spread_time(column(results, name)) for name in PARTS},
            "paper / here": f"{in_paper[2] / np.mean(ours):.3g}" if in_paper and ours and comparable else "",
        })  # fmt: skip
    return rows


def ablation(stored: StoredResults, scale: Scale, sizes: Sizes) -> str:
    """Return the seconds in the tree during 1,000 iterations, by the kind of tree."""
    rows: dict[str, dict[str, str]] = {}
    for cell in plan.improvements(scale, sizes):
        for result in stored.have([cell]):
            head = f"{TITLES[cell.data]}, {result['points']:,} points, r = {cell.resolution}"
            for tree, seconds in result["tree seconds"].items():
                rows.setdefault(tree, {"tree": tree})[head] = f"{seconds:.1f} s"
    return table(list(rows.values())) if rows else "Not run."


def with_and_without(stored: StoredResults, scale: Scale, sizes: Sizes) -> str:
    """Table 2: the gain by Sec. 4.4's integer arithmetic."""
    rows = []
    for cell in plan.improvements(scale, sizes):
        in_paper = paper.UNIMPROVED[cell.data] / paper.IMPROVED[cell.data]
        for result in stored.have([cell]):
            spent = result["tree seconds"]
            without, improved = spent["pixel leaves, one-time, divisions"], spent["pixel leaves, one-time, integers"]
            control = spent["point leaves, rebuilt, divisions"] / spent["point leaves, rebuilt, integers"]
            rows.append({
                "data": TITLES[cell.data],
                "points, paper / here": f"{paper.POINTS[cell.data]:,} / {result['points']:,}",
                "paper: without, total": duration(paper.UNIMPROVED[cell.data]),
                "paper: with, total": duration(paper.IMPROVED[cell.data]),
                "paper: gain": f"{100 * (in_paper - 1):.1f} %",
                "here: without, tree": duration(without),
                "here: with, tree": duration(improved),
                "here: gain in the tree": f"{100 * (without / improved - 1):.1f} %",
                "control": f"{100 * (control - 1):.1f} %",
            })  # fmt: skip
    return table(rows) if rows else "Not run."


def by_resolution(stored: StoredResults, scale: Scale, sizes: Sizes, measure: str) -> str:
    """Tables 3 and 4: two lines for each resolution, the paper's and ours."""
    cells = list(plan.quality_by_resolution(scale, sizes))
    in_paper = {"precision": paper.PRECISION, "accuracy": paper.ACCURACY}[measure]
    rows = []
    for resolution in paper.RESOLUTIONS:
        results = gather(stored, cells, method="pixelsne-rp", resolution=resolution, subset=0)
        rows.append({"r": str(resolution), "": "paper", **heads(f"{value:.4f}" for value in in_paper[resolution])})
        rows.append({"r": "", "": "PixelSNE-RP here", **judged(results, measure)})
        if results:
            means = np.mean([result[measure] for result in results], axis=0)
            ratios = heads(f"{ours / value:.3f}" for ours, value in zip(means, in_paper[resolution], strict=True))
            rows.append({"r": "", "": "here / paper", **ratios})
    other_rows = gather(stored, cells, method="pixelsne-rp", resolution=1024)
    matching = gather(stored, cells, method="pixelsne-rp", resolution=1024, subset=0)
    other_rows = [result for result in other_rows if result not in matching]
    rows.append(
        {"r": "1024", "": f"PixelSNE-RP, {scale.judged_rows:,} other digits in each run", **judged(other_rows, measure)}
    )
    rows += [
        {"r": "1024", "": METHODS[method].title, **judged(gather(stored, cells, method=method), measure)}
        for method in ("pixelsne-rp-mass", "ours-50")
    ]
    return table(rows)


def heads(values: Iterable[str]) -> dict[str, str]:
    return {f"k = {k}": value for k, value in zip(paper.NEIGHBORS, values, strict=False)}


def judged(results: list[Result], measure: str) -> dict[str, str]:
    several = list(zip(*(result[measure] for result in results), strict=True)) or [()] * len(paper.NEIGHBORS)
    return heads(spread(values) for values in several)


def costs(stored: StoredResults, scale: Scale, sizes: Sizes) -> str:
    """Table 5."""
    cells = list(plan.cost(scale, sizes))
    systems: list[tuple[str, float | None, list[Result]]]
    systems = [("BH-SNE", paper.COST_OF_BH_SNE, gather(stored, cells, method="bh-sne"))]
    for resolution in paper.RESOLUTIONS:
        results = gather(stored, cells, method="pixelsne-rp", resolution=resolution, subset=0)
        systems.append((f"PixelSNE-RP, r = {resolution}", paper.COST[resolution], results))
    systems += [
        (f"{METHODS[method].title}, r = 1024", None, gather(stored, cells, method=method))
        for method in ("pixelsne-rp-mass", "ours-50")
    ]
    rows = []
    for name, in_paper, results in systems:
        mean = float(np.mean(column(results, "KL"))) if results else None
        rows.append({
            "system": name,
            "paper": f"{in_paper:.3f}" if in_paper else "",
            "here": spread(column(results, "KL"), 3),
            "here / paper": f"{mean / in_paper:.3f}" if mean and in_paper else "",
            "here, pairs within two pixels left out": spread(column(results, "KL, near pairs left out"), 3)
            if name.startswith("PixelSNE")
            else "",
        })  # fmt: skip
    return table(rows)


def fitted_exponent(sizes: Sequence[float], seconds: Sequence[float]) -> float:
    """Return b of seconds = a n^b, by least squares of the logarithms."""
    return float(np.polyfit(np.log(sizes), np.log(seconds), 1)[0])


def size_series(stored: StoredResults, scale: Scale, sizes: Sizes, part: str) -> dict[str, Series]:
    """Return points and the seconds of every repetition, by method."""
    cells = list(plan.size(scale, sizes))
    series: dict[str, Series] = {}
    for method in METHODS:
        for n in scale.sizes:
            found = column(gather(stored, cells, method=method, n=n), part)
            if found:
                series.setdefault(method, []).append((n, found))
    return series


# With fewer points, the fixed costs of an iteration exceed the cost of the points.
FITTED_FROM = 20_000


def fitted(points: Series) -> tuple[float, int, int] | None:
    """Return the exponent and the range of its fit: from FITTED_FROM on, or all points."""
    matching = [(n, float(np.mean(seconds))) for n, seconds in points if n >= FITTED_FROM]
    if len(matching) < 2:
        matching = [(n, float(np.mean(seconds))) for n, seconds in points]
    if len(matching) < 2:
        return None
    ns, seconds = zip(*matching, strict=True)
    return fitted_exponent(ns, seconds), min(ns), max(ns)


def by_size(stored: StoredResults, scale: Scale, sizes: Sizes) -> str:
    rows = []
    for part in ("Coord", "Total"):
        for method, points in size_series(stored, scale, sizes, part).items():
            found = fitted(points)
            cells = {f"{n:,}": "" for n in scale.sizes} | {f"{n:,}": spread_time(seconds) for n, seconds in points}
            power = NOT_RUN if found is None else f"{found[0]:.2f} ({found[1]:,} to {found[2]:,})"
            rows.append({"": f"{METHODS[method].title}, {part}", **cells, "exponent": power})
    return table(rows) if rows else "Not run."


def parts_by_size(stored: StoredResults, scale: Scale, sizes: Sizes) -> str:
    """Return the milliseconds of an iteration's parts."""
    found = {cell.n: gather(stored, [cell], kind="parts") for cell in plan.parts(scale, sizes)}
    measured = {n: with_sums(results[0]["part seconds"]) for n, results in found.items() if n and results}
    rows = []
    for name in dict.fromkeys(name for one in measured.values() for name in one):
        cells = {f"{n:,}": f"{1000 * one[name]:.1f}" for n, one in measured.items()}
        power = fitted([(n, [one[name]]) for n, one in measured.items()])
        exponent = NOT_RUN if power is None else f"{power[0]:.2f} ({power[1]:,} to {power[2]:,})"
        rows.append({"milliseconds of one evaluation": name, **cells, "exponent": exponent})
    return table(rows) if rows else "Not run."


def with_sums(parts: dict[str, float]) -> dict[str, float]:
    """Add the sums of a tree and the attraction, with points in cluster order."""
    trees = [name for name in parts if name.startswith("tree")]
    attraction = parts[ATTRACTION_IN_CLUSTER_ORDER]
    return parts | {f"{name}, and {ATTRACTION_IN_CLUSTER_ORDER}": parts[name] + attraction for name in trees}


def by_sides(stored: StoredResults, scale: Scale, sizes: Sizes) -> str:
    cells = list(plan.resolution(scale, sizes))
    rows = []
    for n in scale.digit_counts:
        for method, sides in (("bh-sne-rp", (1024,)), ("pixelsne-rp", paper.RESOLUTIONS)):
            for side in sides:
                results = gather(stored, cells, method=method, resolution=side, n=n)
                rows.append({
                    "digits": f"{n:,}",
                    "method": METHODS[method].title + (f", r = {side}" if method == "pixelsne-rp" else ""),
                    **{name: spread_time(column(results, name)) for name in PARTS},
                })  # fmt: skip
    return table(rows)


def by_neighbors(stored: StoredResults, scale: Scale, sizes: Sizes) -> str:
    cells = list(plan.quality(scale, sizes))
    rows = []
    for data in paper.SETS:
        for measure in ("precision", "accuracy"):
            for method in ("bh-sne", "bh-sne-rp", "pixelsne-rp", "ours"):
                results = gather(stored, cells, data=data, method=method)
                if results and not (method == "bh-sne-rp" and gather(stored, cells, data=data, method="bh-sne")):
                    name = f"{TITLES[data]}, {measure}"
                    rows.append({"": name, "method": METHODS[method].title, **judged(results, measure)})
    return table(rows) if rows else "Not run."
