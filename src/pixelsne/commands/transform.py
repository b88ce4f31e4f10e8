"""`pixelsne transform`: place new rows on the map of a saved model."""

import json
import time
from pathlib import Path
from typing import Any

import click

from pixelsne import __version__
from pixelsne.coloring import check_colors
from pixelsne.commands.embed import label_of
from pixelsne.commands.plot import PICTURES, draw, plot_style
from pixelsne.commands.reporter import Reporter
from pixelsne.estimator import PixelSNE
from pixelsne.files.errors import FileError
from pixelsne.files.formats import WRITABLE
from pixelsne.files.maps import Map, map_metadata
from pixelsne.files.model import serializable_parameters
from pixelsne.files.read_parts import read_file_or_parts
from pixelsne.files.source import ReadOptions
from pixelsne.files.write_map import check_output, write_map


def run(options: dict[str, Any]) -> None:
    started = time.perf_counter()
    reporter = Reporter(options["quiet"], options["progress"])
    inputs = (Path(options["input_path"]), Path(options["model_path"]))
    check_output(options["output"], inputs, tuple(WRITABLE))
    if options["picture"]:
        check_output(options["picture"], inputs, PICTURES)
    model = PixelSNE.load(options["model_path"]).set_params(n_jobs=options["jobs"])
    reading = read_options(options, model)
    source = read_file_or_parts(options["input_path"], reading)
    if source.values.shape[1] != model.n_features_in_:
        raise FileError(
            source.path,
            f"has {source.values.shape[1]} numbers per row, but the model was fitted to {model.n_features_in_}; "
            "choose the same columns with --columns",
        )
    label = label_of(options, source)
    check_colors(label, options["label"] or "", options["color_as"])
    reporter.info(f"placing {len(source):,} rows on a map of {len(model.positions_):,}")
    placed = model.transform(source.values)
    settings = serializable_parameters(model, {})
    metadata = map_metadata(source, reading, model.screen_, model=Path(options["model_path"]).name, settings=settings)
    map_ = Map(placed, model.screen_.resolution, source.extra_columns, metadata, source.path)
    write_map(options["output"], map_)
    if options["picture"]:
        style = plot_style(options, label=True)
        draw(
            options["picture"], map_.pixels, map_.resolution, label, options["label"] or "", style, behind=model.pixels_
        )
    seconds = time.perf_counter() - started
    if options["as_json"]:
        result = {"pixelsne_version": __version__, "rows": len(source), "timings": {"total": seconds}}
        click.echo(json.dumps(result | {"paths": {"map": options["output"], "picture": options["picture"]}}))
    written = ", ".join(path for path in (options["output"], options["picture"]) if path)
    reporter.info(f"{len(source):,} rows placed, {seconds:.1f} s: {written}")


def read_options(options: dict[str, Any], model: PixelSNE) -> ReadOptions:
    """Return the user's options, with the columns that the model was fitted to as default."""
    names = model.__dict__.pop("feature_names_in_", None)  # the values to transform are an array without names
    columns = options["columns"] or (None if names is None else tuple(names))
    return ReadOptions(columns, options["label"], options["header"], options["representation"])
