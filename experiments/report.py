"""docs/paper.md: the paper's figures, ours, and what to say about the difference."""

import math
from pathlib import Path

import numpy as np

from benchmarks.measure import table
from experiments import comments, figures, paper, plan, tables
from experiments.kept import Kept, sizes_of
from experiments.machines import machines
from experiments.plan import FULL, Scale
from experiments.tables import Sizes


def write_report(path: Path, kept: Kept, scale: Scale) -> None:
    sizes = sizes_of(kept.sets)
    pictures = path.parent / path.stem
    parts = [
        "# The paper, reproduced",
        comments.OPENING if scale == FULL else comments.OTHER_SCALE,
        machines(kept),
        headline(kept, scale, sizes),
        "## Data",
        data_sets(kept, sizes),
        comments.DATA,
        "## Computing times (Table 1)",
        tables.computing_times(kept, scale, sizes),
        comments.TIMES,
        "## One-time trees, bounded trees, integer arithmetic (Table 2 and Sec. 4.1, 4.4)",
        tables.with_and_without(kept, scale, sizes),
        tables.ablation(kept, scale, sizes),
        comments.ABLATION,
        f"## Neighborhood precision by resolution (Table 3), {scale.judged_rows:,} digits",
        tables.by_resolution(kept, scale, sizes, "precision"),
        comments.PRECISION,
        f"## k-NN accuracy by resolution (Table 4), {scale.judged_rows:,} digits",
        tables.by_resolution(kept, scale, sizes, "accuracy"),
        comments.ACCURACY,
        f"## Cost (Table 5), {scale.judged_rows:,} digits",
        cost_at_start(kept, scale, sizes),
        tables.costs(kept, scale, sizes),
        comments.COST,
        "## Time against the number of points (Figure 2)",
        tables.by_size(kept, scale, sizes),
        picture(pictures / "size.png", figures.draw_sizes, kept, scale, sizes),
        comments.SIZE,
        tables.parts_by_size(kept, scale, sizes),
        comments.PARTS,
        "## Time against the resolution (Figure 3)",
        tables.by_sides(kept, scale, sizes),
        picture(pictures / "resolution.png", figures.draw_sides, kept, scale, sizes),
        comments.RESOLUTION,
        "## Quality against k (Figure 4)",
        tables.by_neighbors(kept, scale, sizes),
        picture(pictures / "quality.png", figures.draw_quality, kept, scale, sizes),
        comments.QUALITY,
        "## Maps (Figures 5 and 6)",
        picture(pictures / "maps.png", figures.draw_maps, kept, scale, sizes),
        picture(pictures / "headlines.png", figures.draw_headlines, kept, scale, sizes),
        comments.MAPS,
        "## What the published program does differently",
        comments.PROGRAM,
        "## What was cut",
        comments.CUT,
    ]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n\n".join(part for part in parts if part) + "\n", encoding="utf-8")


def picture(path: Path, draw: object, kept: Kept, scale: Scale, sizes: Sizes) -> str:
    """Drawn anew where there is what it needs (maps are only in the cache); else as it was."""
    drawn = draw(path, kept, scale, sizes)  # type: ignore[operator]
    return f"![{path.stem}]({path.parent.name}/{path.name})" if drawn or path.exists() else ""


def data_sets(kept: Kept, sizes: Sizes) -> str:
    rows = [
        {
            "data": name,
            "paper": f"{paper.POINTS[name]:,}",
            "here": f"{sizes[name]:,}",
            "from": about["source"],
            "in what it differs": about["stands_for"],
        }
        for name, about in kept.sets.items()
    ]
    return table(rows) if rows else "No data."


def headline(kept: Kept, scale: Scale, sizes: Sizes) -> str:
    """The figures that sum it up, as far as they were measured."""
    cells = list(plan.times(scale, sizes, ("mnist",)))

    def mean(part: str, **wanted: object) -> float | None:
        found = tables.column(tables.gather(kept, cells, **wanted), part)
        return float(np.mean(found)) if found else None

    lines = []
    default = mean("Total", method="ours", threads=2)
    if default:
        ratio = paper.HEADLINE / default
        lines.append(
            f"- MNIST by our defaults with two threads: {tables.duration(default)}; the paper's PixelSNE-RP: "
            f"{tables.duration(paper.HEADLINE)}, {ratio:.0f} times as long. {comments.HEADLINE}"
        )
    ours, theirs = mean("Coord", method="pixelsne-rp", threads=1), mean("Coord", method="bh-sne-rp", threads=1)
    if ours and theirs:
        lines.append(
            f"- PixelSNE-RP's Coord on MNIST, one thread, 1,000 iterations: {tables.duration(ours)}; BH-SNE's on the "
            f"same affinities: {tables.duration(theirs)}, a ratio of {theirs / ours:.2f} (paper: {paper.COORD_RATIO}). "
            f"{comments.COORD_RATIO}"
        )
    lines += exponents(kept, scale, sizes)
    return "\n".join(lines)


def exponents(kept: Kept, scale: Scale, sizes: Sizes) -> list[str]:
    series = tables.size_series(kept, scale, sizes, "Coord")
    found = {method: tables.fitted(series.get(method, [])) for method in ("pixelsne-rp", "bh-sne-rp")}
    ours, theirs = found["pixelsne-rp"], found["bh-sne-rp"]
    if ours is None or theirs is None:
        return []
    told = f"PixelSNE-RP n^{ours[0]:.2f}, BH-SNE n^{theirs[0]:.2f}"
    return [f"- Growth of the descent's time with n, from {ours[1]:,} to {ours[2]:,} points, r fixed: {told}."]


def cost_at_start(kept: Kept, scale: Scale, sizes: Sizes) -> str:
    found = tables.column(tables.gather(kept, plan.cost(scale, sizes), kind="start"), "KL")
    if not found:
        return ""
    exaggerated = 12 * (found[0] + math.log(12))
    return (
        f"At the random start the cost is {found[0]:.3f}. With P exaggerated twelvefold, as it is then, "
        f"12 (C + log 12) = {exaggerated:.2f}; the paper has {paper.COST_AT_RANDOM:.2f}."
    )
