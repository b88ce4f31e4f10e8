"""`python -m experiments NAME... --data FOLDER`: measures what a table needs and writes the report."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from experiments.data.catalog import LOADERS, TITLES, home, prepare, takes_long
from experiments.kept import Kept, sizes_of
from experiments.places import CACHE, REPORT, RESULTS
from experiments.plan import EXPERIMENTS, FULL, QUICK
from experiments.report import write_report
from pixelsne.files.errors import FileError

CELLS = "cells.jsonl"
NEED_MAPS = ("maps", "headlines")


def prepare_all(folder: Path, *, quick: bool = False) -> dict[str, Any]:
    """What is known of each data set; those that are not there are left out, and it is said."""
    sets = {}
    for name in LOADERS:
        if quick and takes_long(name, folder):
            click.echo(f"{TITLES[name]} is left out of a quick look: preparing it takes long", err=True)
            continue
        try:
            about = prepare(name, folder)
        except (FileError, FileNotFoundError, RuntimeError) as problem:
            click.echo(f"{TITLES[name]} is left out: {problem}", err=True)
        else:
            sets[name] = about
            click.echo(f"{TITLES[name]}: {about['points']:,} points from {about['source']}, kept in {home(name)}")
    return sets


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("names", nargs=-1, required=True, type=click.Choice([*EXPERIMENTS, "all", "report"]))
@click.option(
    "--data", "folder", type=click.Path(path_type=Path, exists=True, file_okay=False), help="Where the data sets are."
)
@click.option("--quick", is_flag=True, help="A few thousand rows of everything: a look in less than 15 minutes.")
@click.option(
    "--no-limits", is_flag=True, help="Also what takes many hours: t-SNE and vantage-point trees on everything."
)
@click.option(
    "--results", type=click.Path(path_type=Path), help="Where finished cells are kept.  [default: experiments/results]"
)
@click.option(
    "--report",
    type=click.Path(path_type=Path),
    help="The report to write.  [default: docs/paper.md, or paper.md in --results]",
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
    """The paper's tables and figures.

    Cells that are finished are kept, so a run that was stopped goes on. `report` writes the report anew from what
    there is, without data.

    Example: python -m experiments times cost --data ~/data
    """
    own = results is not None or quick  # not the reference machine's
    results = results or (CACHE / "quick" if quick else RESULTS)
    scale, kept = replace(QUICK if quick else FULL, limited=not no_limits), Kept(results / CELLS)
    wanted = list(EXPERIMENTS) if "all" in names else [name for name in names if name != "report"]
    if wanted:
        if folder is None:
            raise click.UsageError("--data FOLDER is needed to measure anything; `report` alone works without")
        sets = prepare_all(folder, quick=quick)
        kept.describe(sets)
        for name in wanted:
            cells = [cell for cell in EXPERIMENTS[name](scale, sizes_of(sets)) if cell.data in sets]
            click.echo(f"\n{name}: {len(cells)} cells")
            kept.complete(cells, with_maps=name in NEED_MAPS)
    path = report or (results / "paper.md" if own else REPORT)
    write_report(path, kept, scale)
    click.echo(f"{path} is written")


if __name__ == "__main__":
    main()
