"""Write what a fit produced: the map, the model, the page, the picture and the film."""

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import numpy as np

from pixelsne.commands.interrupts import Stopped
from pixelsne.commands.options import DrawOptions, EmbedFiles, EmbedOptions
from pixelsne.commands.plot import column_in, draw_map, map_names, plot_style, write_page
from pixelsne.commands.reporter import Reporter
from pixelsne.estimator import PixelSNE
from pixelsne.files.errors import FileError
from pixelsne.files.maps import Map, map_metadata
from pixelsne.files.model import run_metadata
from pixelsne.files.paths import target_of
from pixelsne.files.source import ReadOptions, Source
from pixelsne.files.write_map import write_map
from pixelsne.film import Recorder, film_bytes, make_film
from pixelsne.memory import check_memory
from pixelsne.pipeline import Run
from pixelsne.plot import make_picture


def map_of(
    model: PixelSNE, source: Source, reading: ReadOptions, seed: int, reporter: Reporter, names: str = "auto"
) -> Map:
    """Return the finished map with its regions; without them if they cannot be found or Ctrl-C ends the search.

    Finding regions must not cost a map that took hours.
    """
    from pixelsne.map_regions import with_regions  # noqa: PLC0415 - slow to import

    metadata = map_metadata(source, reading, model.screen_, seed=seed, **run_metadata(model))
    map_ = Map(model.embedding_, model.screen_.resolution, source.extra_columns, metadata, source.path)
    try:
        with ExitStack() as stack:
            return with_regions(map_, names, reporter.progress_of("naming regions", stack))
    except Stopped:
        reporter.warn("stopped while regions were named; the map is written without regions")
    except Exception as error:  # noqa: BLE001 - whatever is wrong with a column, the map is right
        reporter.warn(f"warning: the map is written without regions: {type(error).__name__}: {error}")
    return map_


def check_names(source: Source, names: str) -> None:
    """Raise FileError if there is no column to name regions by."""
    known = [] if source.extra_columns is None else source.extra_columns.column_names
    if names not in {"auto", "none"} and known.count(names) != 1:
        listed = ", ".join(known) or "none"
        raise FileError(source.path, f"has no column {names!r} to name regions by; it has {listed} beside the embedded")


def make_recorder(files: EmbedFiles, fit: Run) -> Recorder | None:
    """Return what records the film, or None without one. Raise MemoryError if there is too little memory for it."""
    if files.film is None:
        return None
    max_iter = fit.settings.max_iter
    check_memory(fit.workload, extra_bytes=film_bytes(fit.workload.n, max_iter))
    return Recorder(max_iter)


def write_results(
    files: EmbedFiles, map_: Map, model: PixelSNE, source: Source, label: str | None, drawing: DrawOptions
) -> Iterator[str]:
    """Write all results but the film; yield the path of each once it is complete."""
    if files.output:
        write_map(files.output, map_)  # first, so that later failures do not lose the map
        yield files.output
    if files.model_path:
        store_column_names(model, source)
        target_of(Path(files.model_path)).parent.mkdir(parents=True, exist_ok=True)
        model.save(files.model_path)
        yield files.model_path
    if files.html:
        write_page(files.html, map_, source.path.name, None, dark=drawing.dark)
        yield files.html
    if files.picture:
        draw_map(files.picture, map_, label, "auto", plot_style(drawing, label=True))
        yield files.picture


def write_film(recorder: Recorder | None, map_: Map, model: PixelSNE, options: EmbedOptions) -> Iterator[str]:
    """Write the film, if there is one, and yield its path. Drawing it may take longer than the fit."""
    if recorder is None or options.files.film is None:
        return
    label = options.reading.label
    style = plot_style(options.drawing, label=True)
    column = None if label is None else column_in(map_, label)
    names = map_names(map_, "auto", by_class=label is not None)
    picture = make_picture(map_.placed, map_.resolution, column, label or "", names, style, None)
    film = make_film(recorder, model.positions_, model.screen_, picture, style)
    film.write(options.files.film, verbose=options.reporter.is_verbose)
    yield options.files.film


def store_column_names(model: PixelSNE, source: Source) -> None:
    """Store the column names in the model, so that `transform` reads the same columns."""
    if len(source.columns) == model.n_features_in_:
        model.feature_names_in_ = np.array(source.columns, dtype=object)
