"""Draw the measurements: comparisons of systems, and scaling with points and pixels."""

from pathlib import Path
from statistics import median
from typing import Any

import matplotlib as mpl

mpl.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullFormatter

Rows = list[dict[str, Any]]

COLORS = {
    "pixelsne": "#d1382c",
    "pixelsne, before": "#e8958e",
    "openTSNE": "#2f6db3",
    "scikit-learn": "#e08e1b",
    "scikit-learn-intelex": "#2b9184",
    "umap-learn": "#7b5aa6",
    "pacmap": "#7d7d7d",
}
POINTS_SHOWN = 20_000
# The panels to the right of the times: title, and the measures in it.
PANELS = (
    ("KL", ("KL",)),
    ("10-NN accuracy", ("k-NN accuracy 10",)),
    ("precision at 10 and 30", ("precision 10", "precision 30")),
)
# The same for pictures of scaling.
SCALING_PANELS = (
    ("seconds", ("total, s", "descent, s", "neighbors, s", "affinities, s", "reduce, s")),
    ("milliseconds", ("ms per iteration, early", "ms per iteration, late", "repulsion, ms")),
    ("gigabytes", ("peak memory, GB",)),
)


def medians(runs: Rows, system: str, key: str) -> float | None:
    values = [run[key] for run in runs if run["system"] == system and run.get(key) is not None]
    return median(values) if values else None


def seconds(number: float) -> str:
    return f"{number:,.0f} s" if number >= 100 else f"{number:.3g} s"


def draw_race(path: Path, title: str, runs: Rows, maps: dict[str, np.ndarray], labels: np.ndarray) -> None:
    """Draw the maps, and below them a row per system: bars of its times, then its quality."""
    names = list(maps)
    figure = plt.figure(figsize=(max(12.0, 2.4 * len(names)), 4.2 + 0.45 * len(names)), layout="constrained")
    figure.suptitle(title, x=0.01, ha="left", fontsize=13, fontweight="bold")
    upper, lower = figure.subfigures(2, 1, height_ratios=[3.0, 1.2 + 0.45 * len(names)])
    draw_maps(upper, maps, labels)
    axes = lower.subplots(1, 1 + len(PANELS), sharey=True, width_ratios=[2.6, *[1.0] * len(PANELS)])
    draw_times(axes[0], runs, names)
    for axis, (head, measures) in zip(axes[1:], PANELS, strict=True):
        draw_quality(axis, runs, names, head, measures)
    axes[0].set_yticks(range(len(names)), names)
    axes[0].invert_yaxis()
    figure.savefig(path, dpi=150)
    plt.close(figure)


def draw_maps(figure: Any, maps: dict[str, np.ndarray], labels: np.ndarray) -> None:
    sample = np.random.default_rng(0).permutation(len(labels))[:POINTS_SHOWN]
    classes = np.unique(labels, return_inverse=True)[1][sample]
    size = np.clip(12_000 / len(sample), 0.3, 6.0)
    for axis, (name, positions) in zip(np.atleast_1d(figure.subplots(1, len(maps))), maps.items(), strict=True):
        axis.scatter(
            *positions[sample].T, c=classes % 20, s=size, cmap="tab10" if classes.max() < 10 else "tab20", linewidths=0
        )
        axis.set_title(name, color=COLORS[name], fontsize=11)
        axis.set_aspect("equal", "datalim")
        axis.set_xticks([])
        axis.set_yticks([])
        axis.spines[:].set_color("#dddddd")


def draw_times(axis: Axes, runs: Rows, names: list[str]) -> None:
    longest = max(medians(runs, name, "first call, s") for name in names)
    for line, name in enumerate(names):
        fit, first, warm, ratio = (
            medians(runs, name, key) for key in ("fit, s", "first call, s", "warm, s", "fit / ours")
        )
        axis.barh(line, first - fit, color=COLORS[name], alpha=0.35)
        axis.barh(line, fit, left=first - fit, color=COLORS[name])
        if warm is not None:
            axis.plot([warm, warm], [line - 0.4, line + 0.4], color="black", linewidth=1.5)
        text = f" {seconds(first)}" + (
            f"  (fit {ratio:.2g} times ours)" if ratio is not None and name != "pixelsne" else ""
        )
        axis.text(first, line, text, va="center", fontsize=9)
    axis.set_xlim(0, 1.45 * longest)
    axis.set_title("seconds: import (pale) and fit; black: once more, compiled", loc="left", fontsize=9)
    tidy(axis)


def draw_quality(axis: Axes, runs: Rows, names: list[str], head: str, measures: tuple[str, ...]) -> None:
    # The first measure is a filled circle with its value above, the second an empty square with its value below.
    for measure, (marker, fill, shift) in zip(measures, (("o", None, 7), ("s", "white", -13)), strict=False):
        for line, name in enumerate(names):
            value = medians(runs, name, measure)
            if value is None:
                continue
            axis.plot(value, line, marker, color=COLORS[name], markerfacecolor=fill, markersize=7)
            label_position = {"xytext": (0, shift), "textcoords": "offset points", "ha": "center"}
            axis.annotate(f"{value:.3f}", (value, line), fontsize=7.5, **label_position)
    axis.set_title(head + (", less is better" if head == "KL" else ""), loc="left", fontsize=9)
    axis.margins(x=0.25)
    axis.xaxis.set_major_locator(MaxNLocator(4))
    tidy(axis)


def draw_approach(path: Path, title: str, runs: Rows, measures: tuple[str, ...]) -> None:
    """Draw each measure by the seconds of our run, with the final value of the target and the time of reaching it."""
    figure, axes = plt.subplots(1, len(measures), figsize=(5 * len(measures), 4.2), layout="constrained")
    figure.suptitle(title, x=0.01, ha="left", fontsize=13, fontweight="bold")
    for axis, measure in zip(axes, measures, strict=True):
        for run in runs:
            draw_run(axis, run, measure)
        focus(axis, runs, measure)
        use_log(axis, "x")
        axis.set_xlabel("seconds")
        axis.set_title(measure + (", less is better" if measure == "KL" else ""), loc="left", fontsize=10)
        tidy(axis)
    handles = {
        name: plt.Line2D([], [], color=COLORS[name], label=name)
        for name in dict.fromkeys(run["system"] for run in runs)
    }
    axes[0].legend(handles=handles.values(), frameon=False)
    figure.savefig(path, dpi=150)
    plt.close(figure)


def draw_run(axis: Axes, run: dict[str, Any], measure: str) -> None:
    """Draw a run with snapshots as a line that marks when it reached the target; otherwise draw its final value."""
    color, followed = COLORS[run["system"]], run.get("approach")
    if followed:
        axis.plot(
            [snapshot["seconds"] for snapshot in followed],
            [snapshot[measure] for snapshot in followed],
            ".-",
            color=color,
            markersize=4,
        )
        reached = run.get(f"{measure} reached, s", "never")
    else:
        reached = run["fit, s"]
        axis.axhline(run[measure], color=color, linewidth=1, linestyle="--")
        axis.plot(reached, run[measure], "o", color=color)
    if reached == "never":
        return
    axis.axvline(reached, color=color, linewidth=1, linestyle=":")
    if run["run"] == 1:  # texts of other runs would overlap
        axis.annotate(
            f"{seconds(reached)} ", (reached, 0.03), xycoords=("data", "axes fraction"), color=color, ha="right"
        )


def focus(axis: Axes, runs: Rows, measure: str) -> None:
    """Limit the axis, because the values of early maps would hide the differences of later ones."""
    if measure == "KL":
        ends = [run["KL"] for run in runs]
        middles = [run["approach"][len(run["approach"]) // 2]["KL"] for run in runs if run.get("approach")]
        axis.set_ylim(0.95 * min(ends), 1.1 * max(ends + middles))


def use_log(axis: Axes, direction: str) -> None:
    """Set a logarithmic scale with ticks at 1, 3, 10, 30, ... in plain numbers."""
    axis.set(**{f"{direction}scale": "log"})
    scale_axis = axis.xaxis if direction == "x" else axis.yaxis
    scale_axis.set_major_locator(LogLocator(subs=(1.0, 3.0)))
    scale_axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}" if value >= 1 else f"{value:g}"))
    scale_axis.set_minor_formatter(NullFormatter())


def tidy(axis: Axes) -> None:
    axis.spines[["top", "right"]].set_visible(False)
    axis.grid(axis="x", color="#e6e6e6")
    axis.set_axisbelow(True)
    axis.tick_params(labelsize=9)


def draw_scaling(path: Path, title: str, rows: Rows, against: str, exponents: dict[str, float]) -> None:
    """Draw log-log plots: stages in seconds, iterations in milliseconds, memory; fitted exponents in the legends."""
    figure, axes = plt.subplots(1, len(SCALING_PANELS), figsize=(14, 4.2), layout="constrained")
    figure.suptitle(title, x=0.01, ha="left", fontsize=13, fontweight="bold")
    for axis, (head, measures) in zip(axes, SCALING_PANELS, strict=True):
        for measure in measures:
            power = f"  {against}^{exponents[measure]:.2f}" if measure in exponents else ""
            text = measure.removesuffix(", s").removesuffix(", ms").removeprefix("ms per ") + power
            axis.plot([row[against] for row in rows], [row[measure] for row in rows], "o-", markersize=4, label=text)
        use_log(axis, "x")
        use_log(axis, "y")
        if against == "r":
            axis.set_xticks([row["r"] for row in rows])
        axis.set_xlabel("points" if against == "n" else "pixels a side")
        axis.set_title(head, loc="left", fontsize=10)
        axis.legend(frameon=False, fontsize=8.5)
        tidy(axis)
        axis.grid(axis="y", color="#e6e6e6")
        low, high = axis.get_ylim()
        if high < 2 * low:  # small growth must look small
            axis.set_ylim(low / 2, 2 * high)
    figure.savefig(path, dpi=150)
    plt.close(figure)


def draw_along(path: Path, title: str, rows: Rows) -> None:
    figure, axis = plt.subplots(figsize=(7, 4), layout="constrained")
    axis.plot(
        [row["iteration"] for row in rows], [row["ms per iteration"] for row in rows], "o-", color=COLORS["pixelsne"]
    )
    axis.set_ylim(bottom=0)
    axis.set_xlabel("iteration")
    axis.set_title(title, loc="left", fontsize=10, fontweight="bold")
    axis.set_ylabel("milliseconds per iteration")
    tidy(axis)
    figure.savefig(path, dpi=150)
    plt.close(figure)
