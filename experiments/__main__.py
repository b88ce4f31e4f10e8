"""`python -m experiments NAME... --data FOLDER`: measure the cells of a table and write the report."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from experiments.data.catalog import LOADERS, TITLES, cache_folder, prepare, takes_long
from experiments.paths import CACHE, REPORT, RESULTS
from experiments.plan import EXPERIMENTS, FULL, QUICK
from experiments.report import write_report
from experiments.stored_results import StoredResults, sizes_of
from pixelsne.files.errors import FileError

CELLS = "cells.jsonl"
NEED_MAPS = ("maps", "headlines")


def prepare_all(folder: Path, *, quick: bool = False) -> dict[str, Any]:
    """Return the description of each data set. A message names those that are missing."""
    sets = {}
    for name in LOADERS:
        if quick and takes_long(name, folder):
            click.echo(f"{TITLES[name]} is left out of a quick run: its preparation takes long", err=True)
            continue
        try:
            description = prepare(name, folder)
        except (FileError, FileNotFoundError, RuntimeError) as problem:
            click.echo(f"{TITLES[name]} is left out: {problem}", err=True)
        else:
            sets[name] = description
            points, source = description["points"], description["source"]
            click.echo(f"{TITLES[name]}: {points:,} points from {source}, stored in {cache_folder(name)}")
    return sets


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("names", nargs=-1, required=True, type=click.Choice([*EXPERIMENTS, "all", "report"]))
@click.option(
    "--data", "folder", type=click.Path(path_type=Path, exists=True, file_okay=False), help="Folder with the data sets."
)
@click.option("--quick", is_flag=True, help="A few thousand rows of each data set: less than 15 minutes.")
@click.option(
    "--no-limits", is_flag=True, help="Also runs that take many hours: t-SNE and vantage-point trees on all data."
)
@click.option(
    "--results", type=click.Path(path_type=Path), help="Folder for finished cells.  [default: experiments/results]"
)
@click.option(
    "--report",
    type=click.Path(path_type=Path),
    help="File for the report.  [default: docs/paper.md, or paper.md in --results]",
)
def main(
    names: tuple[str, ...],
    folder: Path | None,
    *,
    quick: bool,
    no_limits: bool,
    results: Path | None,
    report: Path | None,
) -> None:
    """Reproduce the paper's tables and figures.

    Finished cells are stored, so a stopped run continues. `report` writes the report from the stored cells alone,
    without data.

    Example: python -m experiments times cost --data ~/data
    """
    is_separate = results is not None or quick  # not the results of the reference machine
    results = results or (CACHE / "quick" if quick else RESULTS)
    scale, stored = replace(QUICK if quick else FULL, limited=not no_limits), StoredResults(results / CELLS)
    experiments = list(EXPERIMENTS) if "all" in names else [name for name in names if name != "report"]
    if experiments:
        if folder is None:
            raise click.UsageError("--data FOLDER is needed to measure; only `report` works without it")
        sets = prepare_all(folder, quick=quick)
        stored.describe(sets)
        for name in experiments:
            cells = [cell for cell in EXPERIMENTS[name](scale, sizes_of(sets)) if cell.data in sets]
            click.echo(f"\n{name}: {len(cells)} cells")
            stored.complete(cells, with_maps=name in NEED_MAPS)
    path = report or (results / "paper.md" if is_separate else REPORT)
    write_report(path, stored, scale)
    click.echo(f"wrote {path}")


if __name__ == "__main__":
    main()
