"""Write docs/paper.md: the paper's results, ours, and comments on the differences."""

import math
from pathlib import Path

import numpy as np

from benchmarks.measure import table
from experiments import comments, figures, paper, plan, tables
from experiments.machines import machines
from experiments.plan import FULL, Scale
from experiments.stored_results import StoredResults, sizes_of
from experiments.tables import Sizes


def write_report(path: Path, stored: StoredResults, scale: Scale) -> None:
    sizes = sizes_of(stored.sets)
    pictures = path.parent / path.stem
    parts = [
        "# The paper, reproduced",
        comments.OPENING if scale == FULL else comments.OTHER_SCALE,
        machines(stored),
        headline(stored, scale, sizes),
        "## Data",
        data_sets(stored, sizes),
        comments.DATA,
        "## Computing times (Table 1)",
        tables.computing_times(stored, scale, sizes),
        comments.TIMES,
        "## One-time trees, bounded trees, integer arithmetic (Table 2 and Sec. 4.1, 4.4)",
        tables.with_and_without(stored, scale, sizes),
        tables.ablation(stored, scale, sizes),
        comments.ABLATION,
        f"## Neighborhood precision by resolution (Table 3), {scale.judged_rows:,} digits",
        tables.by_resolution(stored, scale, sizes, "precision"),
        comments.PRECISION,
        f"## k-NN accuracy by resolution (Table 4), {scale.judged_rows:,} digits",
        tables.by_resolution(stored, scale, sizes, "accuracy"),
        comments.ACCURACY,
        f"## Cost (Table 5), {scale.judged_rows:,} digits",
        cost_at_start(stored, scale, sizes),
        tables.costs(stored, scale, sizes),
        comments.COST,
        "## Time by number of points (Figure 2)",
        tables.by_size(stored, scale, sizes),
        picture(pictures / "size.png", figures.draw_sizes, stored, scale, sizes),
        comments.SIZE,
        tables.parts_by_size(stored, scale, sizes),
        comments.PARTS,
        "## Time by resolution (Figure 3)",
        tables.by_sides(stored, scale, sizes),
        picture(pictures / "resolution.png", figures.draw_sides, stored, scale, sizes),
        comments.RESOLUTION,
        "## Quality by k (Figure 4)",
        tables.by_neighbors(stored, scale, sizes),
        picture(pictures / "quality.png", figures.draw_quality, stored, scale, sizes),
        comments.QUALITY,
        "## Maps (Figures 5 and 6)",
        picture(pictures / "maps.png", figures.draw_maps, stored, scale, sizes),
        picture(pictures / "headlines.png", figures.draw_headlines, stored, scale, sizes),
        comments.MAPS,
        "## What the published program does differently",
        comments.PROGRAM,
        "## What was not measured, or measured less often",
        comments.CUT,
    ]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n\n".join(part for part in parts if part) + "\n", encoding="utf-8")


def picture(path: Path, draw: object, stored: StoredResults, scale: Scale, sizes: Sizes) -> str:
    """Draw a picture if its inputs are available (maps are only in the cache); otherwise keep the old one."""
    drawn = draw(path, stored, scale, sizes)  # type: ignore[operator]
    return f"![{path.stem}]({path.parent.name}/{path.name})" if drawn or path.exists() else ""


def data_sets(stored: StoredResults, sizes: Sizes) -> str:
    rows = [
        {
            "data": name,
            "paper": f"{paper.POINTS[name]:,}",
            "here": f"{sizes[name]:,}",
            "source": about["source"],
            "differences from the paper's data": about["stands_for"],
        }
        for name, about in stored.sets.items()
    ]
    return table(rows) if rows else "No data."


def headline(stored: StoredResults, scale: Scale, sizes: Sizes) -> str:
    """Return the main figures, as far as they were measured."""
    cells = list(plan.times(scale, sizes, ("mnist",)))

    def mean(part: str, **properties: object) -> float | None:
        found = tables.column(tables.gather(stored, cells, **properties), part)
        return float(np.mean(found)) if found else None

    lines = []
    default = mean("Total", method="ours", threads=2)
    if default:
        ratio = paper.HEADLINE / default
        lines.append(
            f"- MNIST with our defaults and two threads takes {tables.duration(default)}. The paper's PixelSNE-RP "
            f"takes {tables.duration(paper.HEADLINE)}, {ratio:.0f} times as long. {comments.HEADLINE}"
        )
    ours, theirs = mean("Coord", method="pixelsne-rp", threads=1), mean("Coord", method="bh-sne-rp", threads=1)
    if ours and theirs:
        lines.append(
            f"- Coord on MNIST with one thread and 1,000 iterations takes {tables.duration(ours)} with PixelSNE-RP and "
            f"{tables.duration(theirs)} with BH-SNE on the same affinities, a ratio of {theirs / ours:.2f} (paper: "
            f"{paper.COORD_RATIO}). "
            f"{comments.COORD_RATIO}"
        )
    lines += exponents(stored, scale, sizes)
    return "\n".join(lines)


def exponents(stored: StoredResults, scale: Scale, sizes: Sizes) -> list[str]:
    series = tables.size_series(stored, scale, sizes, "Coord")
    found = {method: tables.fitted(series.get(method, [])) for method in ("pixelsne-rp", "bh-sne-rp")}
    pixelsne, bh_sne = found["pixelsne-rp"], found["bh-sne-rp"]
    if pixelsne is None or bh_sne is None:
        return []
    growth = f"n^{pixelsne[0]:.2f} with PixelSNE-RP and n^{bh_sne[0]:.2f} with BH-SNE"
    return [f"- From {pixelsne[1]:,} to {pixelsne[2]:,} points at fixed r, the time of the descent grows as {growth}."]


def cost_at_start(stored: StoredResults, scale: Scale, sizes: Sizes) -> str:
    found = tables.column(tables.gather(stored, plan.cost(scale, sizes), kind="start"), "KL")
    if not found:
        return ""
    exaggerated = 12 * (found[0] + math.log(12))
    return (
        f"With random initial positions, the cost C is {found[0]:.3f}. If P is multiplied by 12, as in early "
        f"exaggeration, it is 12 (C + log 12) = {exaggerated:.2f}. The paper reports {paper.COST_AT_RANDOM:.2f}."
    )
