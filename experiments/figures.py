"""The paper's figures."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import matplotlib as mpl

mpl.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.lines import Line2D
from matplotlib.patheffects import withStroke
from sklearn.cluster import KMeans
from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

from benchmarks.pictures import tidy, use_log
from experiments import paper, plan, tables
from experiments.cells import Cell
from experiments.data.catalog import TITLES, open_prepared
from experiments.data.word_vectors import words_of
from experiments.methods import METHODS
from experiments.plan import Scale
from experiments.stored_results import StoredResults
from experiments.tables import Sizes
from pixelsne.coloring import Coloring, color_categories
from pixelsne.raster import Raster, automatic_size

COLORS = {
    "t-sne": "#7d7d7d",
    "bh-sne": "#2f6db3",
    "bh-sne-rp": "#2b9184",
    "pixelsne-vp": "#7b5aa6",
    "pixelsne-rp": "#e08e1b",
    "ours": "#d1382c",
}
MAP_SIDE = 480  # pixels; side of each map in the figure of all maps
MAP_COLUMNS = ("t-sne", "bh-sne", "pixelsne-rp", "ours")

# For the map with labeled regions.
LARGE_SIDE = 1100
POINTS_PER_REGION, MIN_REGIONS, MAX_REGIONS = 400, 12, 42
WORDS_PER_REGION = 3
MIN_WORD_LENGTH = 3


def save(figure: Any, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=110)
    plt.close(figure)


def draw_sizes(path: Path, stored: StoredResults, scale: Scale, sizes: Sizes) -> bool:
    figure, axes = plt.subplots(1, 2, figsize=(11, 4.2), layout="constrained")
    drawn = False
    for axis, part in zip(axes, ("Coord", "Total"), strict=True):
        for method, points in tables.size_series(stored, scale, sizes, part).items():
            drawn = True
            ns, means = [n for n, _ in points], [float(np.mean(seconds)) for _, seconds in points]
            deviations = [float(np.std(seconds)) for _, seconds in points]
            axis.errorbar(
                ns, means, deviations, marker="o", markersize=4, color=COLORS[method], label=METHODS[method].title
            )
        axis.set_xlabel("points")
        axis.set_title(f"{part}, seconds", loc="left", fontsize=10)
        if drawn:
            use_log(axis, "x")
            use_log(axis, "y")
            axis.legend(frameon=False, fontsize=9)
        tidy(axis)
    if drawn:
        save(figure, path)
    plt.close(figure)
    return drawn


def draw_sides(path: Path, stored: StoredResults, scale: Scale, sizes: Sizes) -> bool:
    cells = list(plan.resolution(scale, sizes))
    if not stored.have(cells):
        return False
    figure, axes = plt.subplots(1, len(scale.digit_counts), figsize=(9, 3.8), layout="constrained", sharey=True)
    for axis, n in zip(axes, scale.digit_counts, strict=True):
        sides = [
            side
            for side in paper.RESOLUTIONS
            if tables.gather(stored, cells, n=n, resolution=side, method="pixelsne-rp")
        ]
        spent = [
            tables.column(tables.gather(stored, cells, n=n, method="pixelsne-rp", resolution=side), "Coord")
            for side in sides
        ]
        means, deviations = [np.mean(one) for one in spent], [np.std(one) for one in spent]
        axis.errorbar(sides, means, deviations, marker="o", color=COLORS["pixelsne-rp"], label="PixelSNE-RP")
        bh_sne = tables.column(tables.gather(stored, cells, n=n, method="bh-sne-rp"), "Coord")
        if bh_sne:
            axis.axhline(np.mean(bh_sne), color=COLORS["bh-sne"], linestyle="--", label="BH-SNE")
        axis.set_xscale("log", base=2)
        axis.set_xticks(sides, [str(side) for side in sides])
        axis.set_ylim(bottom=0)
        axis.set_xlabel("r")
        axis.set_title(f"{n:,} digits: Coord, seconds", loc="left", fontsize=10)
        axis.legend(frameon=False)
        tidy(axis)
    save(figure, path)
    return True


def draw_quality(path: Path, stored: StoredResults, scale: Scale, sizes: Sizes) -> bool:
    cells = list(plan.quality(scale, sizes))
    shown = [data for data in paper.SETS if tables.gather(stored, cells, data=data)]
    if not shown:
        return False
    figure, axes = plt.subplots(2, len(shown), figsize=(3.1 * len(shown), 5.4), layout="constrained", squeeze=False)
    for line, measure in enumerate(("precision", "accuracy")):
        for axis, data in zip(axes[line], shown, strict=True):
            for method in ("bh-sne", "bh-sne-rp", "pixelsne-rp", "ours"):
                results = tables.gather(stored, cells, data=data, method=method)
                if results and not (method == "bh-sne-rp" and tables.gather(stored, cells, data=data, method="bh-sne")):
                    several = np.array([result[measure] for result in results])
                    ks = paper.NEIGHBORS[: several.shape[1]]
                    axis.plot(
                        ks, several.mean(axis=0), "o-", markersize=3, color=COLORS[method], label=METHODS[method].title
                    )
            axis.set_title(f"{TITLES[data]}: {measure}", loc="left", fontsize=10)
            axis.set_xlabel("k")
            tidy(axis)
    axes[0][0].legend(frameon=False, fontsize=8)
    save(figure, path)
    return True


def paint(cell: Cell, file: Path, side: int) -> tuple[Any, Any, Coloring]:
    """Return the map as an image, the points on it, and the meaning of the colors."""
    data = open_prepared(cell.data, cell.n, subset=cell.subset)
    with np.load(file) as arrays:
        placed = arrays["placed"] * (side / cell.resolution)
    coloring = color_categories(np.array(data.about["names"])[data.labels])
    diameter, opacity = automatic_size(len(placed), side * side)
    return Raster(side, side, (1.0, 1.0, 1.0)).draw_points(placed, coloring.colors, diameter, opacity), placed, coloring


def draw_maps(path: Path, stored: StoredResults, scale: Scale, sizes: Sizes) -> bool:
    """Draw a row of maps for each data set and a column for each method, if all maps are still in the cache."""
    made = [cell for cell in plan.maps(scale, sizes) if stored.get(cell)]
    lines = [
        by_method for data in paper.SETS if (by_method := shown_maps([cell for cell in made if cell.data == data]))
    ]
    files = {cell: stored.map_of(cell) for by_method in lines for cell in by_method.values()}
    if not lines or None in files.values():
        return False
    columns = [name for name in MAP_COLUMNS if any(name in by_method for by_method in lines)]
    size = (3.4 * len(columns), 3.7 * len(lines))
    figure, axes = plt.subplots(len(lines), len(columns), figsize=size, squeeze=False, layout="constrained")
    for axis in axes.flat:
        axis.set_axis_off()
    for line, by_method in zip(axes, lines, strict=True):
        for axis, cell in (
            (axis, by_method[name]) for axis, name in zip(line, columns, strict=True) if name in by_method
        ):
            (result,) = stored.have([cell])
            axis.imshow(paint(cell, files[cell] or path, MAP_SIDE)[0], interpolation="none")
            title = f"{TITLES[cell.data]}, {METHODS[cell.method].title}\n{tables.duration(result['Total'])}"
            axis.set_title(title, fontsize=10)
    save(figure, path)
    return True


def shown_maps(cells: list[Cell]) -> dict[str, Cell]:
    """Return the cells by column. BH-SNE on RP's affinities is shown only where its own run is missing."""
    by_method = {cell.method: cell for cell in cells}
    substitute = {"bh-sne": by_method["bh-sne-rp"]} if "bh-sne-rp" in by_method else {}
    return substitute | {name: by_method[name] for name in MAP_COLUMNS if name in by_method}


def draw_headlines(path: Path, stored: StoredResults, scale: Scale, sizes: Sizes) -> bool:
    """Draw the map of NewsAgg, with regions labeled by their words."""
    found = [(cell, file) for cell in plan.headlines(scale, sizes) if (file := stored.map_of(cell)) is not None]
    texts = open_prepared(found[0][0].data, found[0][0].n).texts if found else []
    if not texts:
        return False
    image, placed, coloring = paint(*found[0], LARGE_SIDE)
    figure, axis = plt.subplots(figsize=(11, 11), layout="constrained")
    axis.imshow(0.35 * image + 0.65, interpolation="none")
    axis.set_axis_off()
    for (x, y), words in name_regions(placed, texts):
        halo = [withStroke(linewidth=3, foreground="white")]
        axis.text(x, y, words, ha="center", va="center", fontsize=9.5, color="#222222", path_effects=halo)
    dots = [Line2D([], [], marker="o", linestyle="", color=color, label=name) for name, color in coloring.legend]
    axis.legend(handles=dots, loc="lower left", frameon=False)
    save(figure, path)
    return True


def name_regions(placed: Any, texts: Sequence[str]) -> list[tuple[Any, str]]:
    """Return the position of each region of the map, and the words that are more frequent there than elsewhere."""
    regions = int(np.clip(len(texts) // POINTS_PER_REGION, MIN_REGIONS, MAX_REGIONS))
    model = KMeans(min(regions, len(texts)), n_init=1, random_state=0).fit(placed)
    words = [{word for word in words_of(text.lower()) if is_informative(word)} for text in texts]
    everywhere = Counter(word for one in words for word in one)
    named = []
    for region in range(model.n_clusters):
        inside = np.flatnonzero(model.labels_ == region)
        in_region = Counter(word for row in inside for word in words[row])
        best = sorted(
            in_region, key=lambda word: -informativeness(in_region[word], len(inside), everywhere[word], len(texts))
        )
        if best:
            named.append((np.median(placed[inside], axis=0), "\n".join(best[:WORDS_PER_REGION])))
    return named


def is_informative(word: str) -> bool:
    return len(word) >= MIN_WORD_LENGTH and word not in ENGLISH_STOP_WORDS


def informativeness(in_region: int, rows_in_region: int, everywhere: int, rows: int) -> float:
    """Return the contribution of a word to the divergence between the words of a region and all words."""
    share = in_region / rows_in_region
    return share * float(np.log(share / (everywhere / rows)))
