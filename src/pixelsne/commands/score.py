"""`pixelsne score`: measure the quality of a map."""

import json
from contextlib import ExitStack
from dataclasses import replace
from typing import Any

import click
import numpy as np

from pixelsne import __version__
from pixelsne.coloring import encode
from pixelsne.commands.fitting import weights_of
from pixelsne.commands.options import ScoreOptions
from pixelsne.commands.reporter import Reporter
from pixelsne.comparison import Classes, Comparison, sample_rows
from pixelsne.estimator import PixelSNE
from pixelsne.files.errors import FileError
from pixelsne.files.maps import Map
from pixelsne.files.read_map import read_map
from pixelsne.files.read_parts import read_file_or_parts
from pixelsne.files.source import ReadOptions, Source
from pixelsne.quality import MEASURES
from pixelsne.settings import PLACEHOLDER_INIT, SCALED_METRICS, settings_of
from pixelsne.watched import run_to_completion

COUNTS = (1, 3, 5, 10, 20, 30)
EXACT_UP_TO = 20_000
ROWS_SAMPLED = 10_000  # of larger inputs

# The settings of a map that determine its affinities.
AFFINITY_SETTINGS = ("perplexity", "n_neighbors", "neighbors", "metric", "scale", "n_pca", "duplicates", "random_state")


def classes_of(labels: Any) -> Classes | None:
    """Return the class of each row, -1 for none. labels: an array or a column of a table, or None."""
    return None if labels is None else encode(labels)[1]


def scores(compared: Comparison, counts: tuple[int, ...]) -> dict[str, Any]:
    """Return every measure, for every k where it depends on k; None for those that are unknown."""
    is_complete = len(compared.rows) == len(compared.placed)
    result: dict[str, Any] = {"sampled_rows": None if is_complete else len(compared.rows), "k": list(counts)}
    result |= {name: measure(compared, counts) for name, measure in MEASURES.items()}
    if compared.classes is not None and (compared.classes < 0).any():
        result["rows_without_label"] = int((compared.classes[compared.rows] < 0).sum())
    return result


def run(options: ScoreOptions) -> None:
    reporter = Reporter()
    with ExitStack() as stack:
        reporter.warnings_as_lines(stack)
        result = score_map(options, reporter)
    click.echo(json.dumps(result) if options.as_json else as_text(result))


def score_map(options: ScoreOptions, reporter: Reporter) -> dict[str, Any]:
    map_ = read_map(options.map_path)
    reading = read_options(options, map_)
    source = read_file_or_parts(options.input_path, reading)
    if len(source) != len(map_.placed):
        raise FileError(
            options.map_path,
            f"has {len(map_.placed):,} points, but {source.path} has {len(source):,} rows; pass the input of this map",
        )
    model = model_of(options, map_)
    rows = sample_rows(len(source), EXACT_UP_TO, ROWS_SAMPLED, options.seed)
    counts = tuple(k for k in COUNTS if k < len(source))
    if not counts:
        raise FileError(source.path, "has only one row; neighbors need at least two")
    reporter.info(f"neighbors of {len(rows):,} rows among {len(source):,}")
    classes = classes_of(source.column(options.reading.label))
    compared = Comparison.of(source.values, map_.placed, rows, max(counts), model, classes)
    return {
        "pixelsne_version": __version__,
        "rows": len(source),
        **scores(compared, counts),
        "kl_divergence": divergence(source, map_, model, weights_of(source, reading.weight)),
    }


def read_options(options: ScoreOptions, map_: Map) -> ReadOptions:
    """Return the user's options, and for those that are not set, the ones in the metadata of the map."""
    metadata = map_.metadata
    is_table = bool(metadata.get("columns")) and not metadata.get("rep")
    columns = tuple(metadata["columns"]) if is_table else None
    reading = options.reading
    return replace(
        reading,
        columns=reading.columns or columns,
        representation=reading.representation or metadata.get("rep"),
        weight=metadata.get("weight"),
    )


def model_of(options: ScoreOptions, map_: Map) -> PixelSNE:
    """Return a model with the settings of the map, except those that the user overrides."""
    stored = map_.metadata.get("settings", {})
    settings = {name: stored[name] for name in AFFINITY_SETTINGS if name in stored}
    used = {name: map_.metadata[name] for name in ("n_neighbors", "perplexity") if map_.metadata.get(name) is not None}
    settings |= used if options.perplexity is None else {"n_neighbors": None, "perplexity": options.perplexity}
    settings |= {} if options.metric is None else {"metric": options.metric}
    if settings.get("metric", "euclidean") not in SCALED_METRICS:
        settings.pop("scale", None)
    if settings.get("metric") == "affinities":
        raise ValueError("a map of affinities cannot be scored: affinities have no distances between rows")
    return PixelSNE(**settings, n_jobs=options.jobs)


def divergence(source: Source, map_: Map, model: PixelSNE, weights: Any) -> float | None:
    """Return the KL divergence, or None if the map does not store the size of a pixel in embedding units."""
    units = map_.metadata.get("unit_per_pixel")
    if not isinstance(units, list):
        return None
    if len(source) <= EXACT_UP_TO:
        model.set_params(neighbors="exact")
    prepared = run_to_completion(model.make_run(source.values, weights=weights).prepare())
    return prepared.kl_divergence(
        (map_.placed * np.array(units)).astype(np.float32), settings_of(model, **PLACEHOLDER_INIT)
    )


def as_text(result: dict[str, Any]) -> str:
    """Return the result as a table."""
    sampled = result["sampled_rows"]
    note = f", {sampled:,} of them sampled and compared with all" if sampled else ", all compared with all"
    lines = [f"{result['rows']:,} points{note}", "k" + " " * 23 + "".join(f"{k:>8}" for k in result["k"])]
    for name, measure in MEASURES.items():
        if result[name] is not None:
            values = result[name] if measure.by_k else [result[name]]
            lines.append(f"{measure.title:<24}" + "".join(f"{value:>8.3f}" for value in values))
    known = result["kl_divergence"] is not None
    unknown = "unknown: the file does not store the units of the map (parquet, npz and h5ad by pixelsne do)"
    lines.append(f"{'KL divergence':<24}" + (f"{result['kl_divergence']:>8.3f}" if known else unknown))
    return "\n".join(lines)
