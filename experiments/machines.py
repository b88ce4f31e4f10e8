"""The machines that measured the cells, and a comparison of their speeds."""

from collections import defaultdict

import numpy as np

from experiments.cells import Cell
from experiments.data.catalog import TITLES
from experiments.methods import METHODS
from experiments.stored_results import Measured, StoredResults

KIND_TITLES = {"start": "initial cost", "trees": "trees", "parts": "parts of an iteration"}


def machines(stored: StoredResults) -> str:
    """Describe one machine in a sentence; for several, list their cells and compare cells that two of them measured."""
    counted = stored.counted()
    machine_names = list(dict.fromkeys(one.where() for one in counted))
    if not machine_names:
        return ""
    if len(machine_names) == 1:
        return f"Measured on: {machine_names[0]}."
    lines = [f"- {machine_name}: {cells_of(machine_name, counted)}." for machine_name in machine_names]
    return "\n".join(["Measured on several machines:", "", *lines, *comparisons(stored, machine_names)])


def cells_of(machine_name: str, counted: list[Measured]) -> str:
    """Return the data sets, with the methods where another machine measured some of their cells."""
    groups: dict[str, list[Measured]] = defaultdict(list)
    for one in counted:
        groups[group_of(one.cell)].append(one)
    descriptions = []
    for title, group in groups.items():
        measured_there = [one for one in group if one.where() == machine_name]
        if len(measured_there) == len(group):
            descriptions.append(title)
        elif measured_there:
            methods = dict.fromkeys(METHODS[one.cell.method].title for one in measured_there)
            descriptions.append(f"{title} ({', '.join(methods)})")
    return "; ".join(descriptions)


def group_of(cell: Cell) -> str:
    """Return the data set, and what was measured on it besides whole runs."""
    title = f"samples of {TITLES[cell.data]}" if cell.n else TITLES[cell.data]
    return title if cell.kind == "run" else f"{KIND_TITLES[cell.kind]} on {title}"


def comparisons(stored: StoredResults, machine_names: list[str]) -> list[str]:
    """Compare pairs of machines by the cells that both measured."""
    seconds: dict[str, dict[object, float]] = defaultdict(dict)
    for one in stored.measured:
        if "Total" in one.result:
            seconds[one.where()][one.cell] = one.result["Total"]
    lines = []
    for number, first in enumerate(machine_names):
        for second in machine_names[number + 1 :]:
            both = [cell for cell in seconds[first] if cell in seconds[second]]
            ratios = [seconds[second][cell] / seconds[first][cell] for cell in both]
            if ratios:
                low, median, high = np.quantile(ratios, [0.1, 0.5, 0.9])
                lines.append(
                    f"- {len(both)} runs were measured on both machines. The second machine took {median:.2f} of the "
                    f"time of the first (median; {low:.2f} to {high:.2f} for the middle 80 % of the runs)."
                )
    return lines
