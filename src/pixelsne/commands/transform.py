"""`pixelsne transform`: place new rows on the map of a saved model."""

import json
import time
from dataclasses import replace
from pathlib import Path

import click

from pixelsne import __version__
from pixelsne.coloring import check_colors
from pixelsne.commands.options import TransformOptions
from pixelsne.commands.plot import PICTURES, draw, plot_style
from pixelsne.estimator import PixelSNE
from pixelsne.files.errors import FileError
from pixelsne.files.formats import WRITABLE
from pixelsne.files.maps import Map, map_metadata
from pixelsne.files.model import serializable_parameters
from pixelsne.files.read_parts import read_file_or_parts
from pixelsne.files.source import ReadOptions
from pixelsne.files.write_map import check_output, write_map


def run(options: TransformOptions) -> None:
    started = time.perf_counter()
    inputs = (Path(options.input_path), Path(options.model_path))
    check_output(options.output, inputs, tuple(WRITABLE))
    if options.picture:
        check_output(options.picture, inputs, PICTURES)
    model = PixelSNE.load(options.model_path).set_params(n_jobs=options.jobs)
    reading = read_options(options.reading, model)
    source = read_file_or_parts(options.input_path, reading)
    if source.values.shape[1] != model.n_features_in_:
        raise FileError(
            source.path,
            f"has {source.values.shape[1]} numbers per row, but the model was fitted to {model.n_features_in_}; "
            "choose the same columns with --columns",
        )
    label, name = source.column(reading.label), reading.label or ""
    check_colors(label, name, options.drawing.color_as)
    options.reporter.info(f"placing {len(source):,} rows on a map of {len(model.positions_):,}")
    placed = model.transform(source.values)
    settings = serializable_parameters(model, {})
    metadata = map_metadata(source, reading, model.screen_, model=Path(options.model_path).name, settings=settings)
    map_ = Map(placed, model.screen_.resolution, source.extra_columns, metadata, source.path)
    write_map(options.output, map_)
    if options.picture:
        style = plot_style(options.drawing, label=True)
        behind = model.embedding_
        draw(options.picture, placed, map_.resolution, label, name=name, names=False, style=style, behind=behind)
    report(options, len(source), time.perf_counter() - started)


def report(options: TransformOptions, rows: int, seconds: float) -> None:
    """Print the result, as JSON if requested."""
    if options.as_json:
        result = {"pixelsne_version": __version__, "rows": rows, "timings": {"total": seconds}}
        click.echo(json.dumps(result | {"paths": {"map": options.output, "picture": options.picture}}))
    written = ", ".join(path for path in (options.output, options.picture) if path)
    options.reporter.info(f"{rows:,} rows placed, {seconds:.1f} s: {written}")


def read_options(reading: ReadOptions, model: PixelSNE) -> ReadOptions:
    """Return the user's options, with the columns that the model was fitted to as default."""
    names = model.__dict__.pop("feature_names_in_", None)  # the values to transform are an array without names
    return replace(reading, columns=reading.columns or (None if names is None else tuple(names)))
