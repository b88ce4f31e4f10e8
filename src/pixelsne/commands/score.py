"""`pixelsne score`: how good a map is."""

import json
from contextlib import ExitStack
from typing import Any

import click
import numpy as np

from pixelsne import __version__
from pixelsne.coloring import encode
from pixelsne.commands.reporter import Reporter
from pixelsne.estimator import PixelSNE
from pixelsne.files.errors import FileError
from pixelsne.files.read_map import read_map
from pixelsne.files.read_parts import read_file_or_parts
from pixelsne.files.source import ReadOptions, Source
from pixelsne.files.write_embedding import Map
from pixelsne.neighborhoods import MEASURES, Neighborhoods, sample_rows
from pixelsne.settings import SCALED_METRICS, settings_of
from pixelsne.watched import finish

COUNTS = (1, 3, 5, 10, 20, 30)
EXACT_UP_TO = 20_000
ROWS_SAMPLED = 10_000  # above

# Of a map's settings, those that tell what its affinities were.
OF_AFFINITIES = ("perplexity", "n_neighbors", "neighbors", "metric", "scale", "n_pca", "duplicates", "random_state")

Given = dict[str, Any]


def scores(near: Neighborhoods, counts: tuple[int, ...], labels: Any) -> dict[str, Any]:
    """Every measure for every k. labels: an array or a column of a table, or None."""
    whole = len(near.rows) == near.n
    classes = None if labels is None else encode(labels)[1]
    told: dict[str, Any] = {"sampled_rows": None if whole else len(near.rows), "k": list(counts)}
    for name, measure in MEASURES.items():
        values = [measure.of(near, k, classes) for k in counts]
        told[name] = None if None in values else values
    if classes is not None and (classes < 0).any():
        told["rows_without_label"] = int((classes[near.rows] < 0).sum())
    return told


def run(given: Given) -> None:
    reporter = Reporter()
    with ExitStack() as stack:
        reporter.warnings_as_lines(stack)
        result = judge_map(given, reporter)
    click.echo(json.dumps(result) if given["as_json"] else as_text(result))


def judge_map(given: Given, reporter: Reporter) -> dict[str, Any]:
    one = read_map(given["map_path"])
    source = read_file_or_parts(given["input_path"], read_options(given, one))
    if len(source) != len(one.placed):
        raise FileError(given["map_path"], f"has {len(one.placed):,} points, {source.path} {len(source):,} rows")
    model = model_of(given, one)
    rows = sample_rows(len(source), EXACT_UP_TO, ROWS_SAMPLED, given["seed"])
    counts = tuple(k for k in COUNTS if k < len(source))
    if not counts:
        raise FileError(source.path, "has one row, which has no neighbors")
    reporter.info(f"neighbors of {len(rows):,} rows among {len(source):,}")
    labels = (
        None if given["label"] is None or source.extra_columns is None else source.extra_columns.column(given["label"])
    )
    scored = scores(Neighborhoods.of(source.values, one.placed, rows, max(counts), model), counts, labels)
    return {
        "pixelsne_version": __version__,
        "rows": len(source),
        **scored,
        "kl_divergence": divergence(source, one, model),
    }


def read_options(given: Given, one: Map) -> ReadOptions:
    """What was embedded, if the map tells and the user does not."""
    told = one.metadata
    is_table = bool(told.get("columns")) and not told.get("rep")
    columns = given["columns"] or (tuple(told["columns"]) if is_table else None)
    return ReadOptions(columns, given["label"], given["header"], given["representation"] or told.get("rep"))


def model_of(given: Given, one: Map) -> PixelSNE:
    """With the settings that made the map, and those the user wants instead."""
    told = one.metadata.get("settings", {})
    settings = {name: told[name] for name in OF_AFFINITIES if name in told}
    settings |= {name: given[name] for name in ("perplexity", "metric") if given[name] is not None}
    if settings.get("metric", "euclidean") not in SCALED_METRICS:
        settings.pop("scale", None)
    if settings.get("metric") == "affinities":
        raise ValueError("a map of affinities cannot be scored: its rows tell of no distances")
    return PixelSNE(**settings, n_jobs=given["jobs"])


def divergence(source: Source, one: Map, model: PixelSNE) -> float | None:
    """None for maps that do not tell how large a pixel is in embedding units."""
    units = one.metadata.get("unit_per_pixel")
    if not isinstance(units, list):
        return None
    if len(source) <= EXACT_UP_TO:
        model.set_params(neighbors="exact")
    prepared = finish(model.start(source.values).prepare())
    return prepared.kl_divergence((one.placed * np.array(units)).astype(np.float32), settings_of(model, init="random"))


def as_text(result: dict[str, Any]) -> str:
    sampled = result["sampled_rows"]
    note = f", {sampled:,} of them sampled and compared with all" if sampled else ", all compared with all"
    lines = [f"{result['rows']:,} points{note}", "k" + " " * 23 + "".join(f"{k:>8}" for k in result["k"])]
    for name, measure in MEASURES.items():
        if result[name] is not None:
            lines.append(f"{measure.title:<24}" + "".join(f"{value:>8.3f}" for value in result[name]))
    known = result["kl_divergence"] is not None
    unknown = "unknown: the file does not tell the map's units (parquet, npz and h5ad by pixelsne do)"
    lines.append(f"{'KL divergence':<24}" + (f"{result['kl_divergence']:>8.3f}" if known else unknown))
    return "\n".join(lines)
