"""The options of the commands as typed values. The fields have the names of the parameters in `cli`."""

from dataclasses import dataclass, fields, is_dataclass
from typing import Any, Literal, TypeVar, get_type_hints

from pixelsne.choices import DOTS_PER_INCH, WIDTH
from pixelsne.commands.reporter import Reporter
from pixelsne.files.source import ReadOptions

Options = TypeVar("Options")
Components = int | Literal["auto"]


@dataclass(frozen=True)
class FitOptions:
    """Parameters of the estimator; None for its default."""

    resolution: int | tuple[int, int] | None = None
    perplexity: float | list[float] | None = None
    metric: str | None = None
    scale: str = "auto"
    n_pca: Components | None = None  # 0: no PCA
    seed: int = 0
    jobs: int = -1
    max_iter: int | None = None
    tol: float | None = None
    aspect: str | None = None
    init: str | None = None  # pca, random, or a file
    init_scale: float | Literal["none"] | None = None
    n_neighbors: int | None = None
    neighbors: str | None = None
    repulsion: str | None = None
    theta: float | None = None
    early_exaggeration: float | None = None
    exaggeration: float | None = None
    learning_rate: float | None = None
    preset: str | None = None


@dataclass(frozen=True)
class DrawOptions:
    """The style of pictures."""

    title: str = ""
    dark: bool = False
    magnify: float = 1.0
    point_size: float | None = None  # points (1/72 inch)
    color_as: Literal["auto", "categories", "numbers"] = "auto"
    width: float = WIDTH  # inches
    dpi: float = DOTS_PER_INCH
    font: str | None = None
    legend: bool | None = None


@dataclass(frozen=True)
class EmbedFiles:
    """The files that a fit reads and writes; None for those that are not."""

    input_path: str
    output: str  # "": the map is not written
    picture: str | None = None
    html: str | None = None
    model_path: str | None = None
    film: str | None = None
    checkpoint: str | None = None
    resume: str | None = None


@dataclass(frozen=True)
class EmbedOptions:
    files: EmbedFiles
    reading: ReadOptions
    fitting: FitOptions
    drawing: DrawOptions
    reporter: Reporter
    as_json: bool
    every: float  # seconds between checkpoints
    cluster: str | None
    workers: int
    names: str  # auto, none, or a column


@dataclass(frozen=True)
class PlotOptions:
    map_path: str
    output: str
    color: str | None
    density: bool
    names: str
    drawing: DrawOptions


@dataclass(frozen=True)
class ViewOptions:
    path: str
    live: bool
    output: str | None
    port: int
    host: str
    url: str | None
    browser: bool
    quiet: bool
    reading: ReadOptions
    fitting: FitOptions


@dataclass(frozen=True)
class ScoreOptions:
    input_path: str
    map_path: str
    reading: ReadOptions
    perplexity: float | list[float] | None
    metric: str | None
    seed: int
    jobs: int
    as_json: bool


@dataclass(frozen=True)
class TransformOptions:
    model_path: str
    input_path: str
    output: str
    picture: str | None
    jobs: int
    as_json: bool
    reading: ReadOptions
    drawing: DrawOptions
    reporter: Reporter


def parse(kind: type[Options], values: dict[str, Any]) -> Options:
    """Return options of a kind, made from the values that click parsed."""
    types = get_type_hints(kind)
    chosen = {
        field.name: parse(types[field.name], values) if is_dataclass(types[field.name]) else values[field.name]
        for field in fields(kind)  # type: ignore[arg-type]  # every kind is a dataclass
        if is_dataclass(types[field.name]) or field.name in values
    }
    return kind(**chosen)
