"""`pixelsne transform`: new rows on the map of a saved model."""

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
from pixelsne.files.model import serializable_parameters
from pixelsne.files.read_parts import read_file_or_parts
from pixelsne.files.source import ReadOptions
from pixelsne.files.write_embedding import WRITERS, Map, check_output, map_metadata, write_map


def run(given: dict[str, Any]) -> None:
    started = time.perf_counter()
    reporter = Reporter(given["quiet"], given["progress"])
    inputs = (Path(given["input_path"]), Path(given["model_path"]))
    check_output(given["output"], inputs, tuple(WRITERS))
    if given["picture"]:
        check_output(given["picture"], inputs, PICTURES)
    model = PixelSNE.load(given["model_path"]).set_params(n_jobs=given["jobs"])
    wanted = read_options(given, model)
    source = read_file_or_parts(given["input_path"], wanted)
    if source.values.shape[1] != model.n_features_in_:
        raise FileError(
            source.path,
            f"gives {source.values.shape[1]} numbers a row, the model was made of {model.n_features_in_}; "
            "choose the same ones with --columns",
        )
    label = label_of(given, source)
    check_colors(label, given["label"] or "", given["color_as"])
    reporter.info(f"placing {len(source):,} rows on a map of {len(model.positions_):,}")
    placed = model.transform(source.values)
    settings = serializable_parameters(model, {})
    metadata = map_metadata(source, wanted, model.screen_, model=Path(given["model_path"]).name, settings=settings)
    made = Map(placed, model.screen_.resolution, source.extra_columns, metadata, source.path)
    write_map(given["output"], made)
    if given["picture"]:
        style = plot_style(given, label=True)
        draw(given["picture"], made.pixels, made.resolution, label, given["label"] or "", style, behind=model.pixels_)
    seconds = time.perf_counter() - started
    if given["as_json"]:
        result = {"pixelsne_version": __version__, "rows": len(source), "timings": {"total": seconds}}
        click.echo(json.dumps(result | {"paths": {"map": given["output"], "picture": given["picture"]}}))
    written = ", ".join(path for path in (given["output"], given["picture"]) if path)
    reporter.info(f"{len(source):,} rows placed, {seconds:.1f} s: {written}")


def read_options(given: dict[str, Any], model: PixelSNE) -> ReadOptions:
    """The columns that the model was made of, where these have names."""
    names = model.__dict__.pop("feature_names_in_", None)  # what is read below is an array without
    columns = given["columns"] or (None if names is None else tuple(names))
    return ReadOptions(columns, given["label"], given["header"], given["representation"])
