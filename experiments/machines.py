"""Which machine measured what, and how fast they are beside each other."""

from collections import defaultdict

import numpy as np

from experiments.cells import Cell
from experiments.data.catalog import TITLES
from experiments.kept import Kept, Measured
from experiments.methods import METHODS


def machines(kept: Kept) -> str:
    """One sentence for one machine; for several, which cells are whose, and how cells that both measured compare."""
    counted = kept.counted()
    places = list(dict.fromkeys(one.where() for one in counted))
    if not places:
        return ""
    if len(places) == 1:
        return f"Measured on: {places[0]}."
    lines = [f"- {place}: {whose(place, counted)}." for place in places]
    return "\n".join(["Measured on several machines:", "", *lines, *comparisons(kept, places)])


def whose(place: str, counted: list[Measured]) -> str:
    """Data sets, with the methods where another machine measured some of their cells."""
    groups: dict[str, list[Measured]] = defaultdict(list)
    for one in counted:
        groups[group_of(one.cell)].append(one)
    told = []
    for title, group in groups.items():
        here = [one for one in group if one.where() == place]
        if len(here) == len(group):
            told.append(title)
        elif here:
            methods = dict.fromkeys(METHODS[one.cell.method].title for one in here)
            told.append(f"{title} ({', '.join(methods)})")
    return "; ".join(told)


def group_of(cell: Cell) -> str:
    title = TITLES[cell.data] + (", some of its rows" if cell.n else "")
    return title if cell.kind == "run" else f"the {cell.kind} of {title}"


def comparisons(kept: Kept, places: list[str]) -> list[str]:
    """By the cells that were measured on both of two machines."""
    seconds: dict[str, dict[object, float]] = defaultdict(dict)
    for one in kept.measured:
        if "Total" in one.result:
            seconds[one.where()][one.cell] = one.result["Total"]
    lines = []
    for number, first in enumerate(places):
        for second in places[number + 1 :]:
            both = [cell for cell in seconds[first] if cell in seconds[second]]
            ratios = [seconds[second][cell] / seconds[first][cell] for cell in both]
            if ratios:
                low, middle, high = np.quantile(ratios, [0.1, 0.5, 0.9])
                lines.append(
                    f"- Of {len(both)} runs made on both, the second machine's took {middle:.2f} of the time of the "
                    f"first's ({low:.2f} to {high:.2f} for four fifths of them)."
                )
    return lines
