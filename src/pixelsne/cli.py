"""The command line: parse the options and call the command.

Importing this module loads nothing slower than click, so that help texts appear at once. Each command imports what it
needs when it runs.
"""

import os
import sys
from collections.abc import Callable
from typing import Any

import click
from click.core import ParameterSource

from pixelsne import __version__
from pixelsne.choices import ASPECTS, COLORED_AS, DOTS_PER_INCH, METRICS, PRESETS, REPULSIONS, SCALES, SEARCHES, WIDTH
from pixelsne.commands.interrupts import Signals, Stopped, handle_signals
from pixelsne.commands.options import EmbedOptions, PlotOptions, ScoreOptions, TransformOptions, ViewOptions, parse


class Failure(click.ClickException):
    """An error that is printed as one line on stderr, with exit code 1."""

    def show(self, file: Any = None) -> None:  # noqa: ARG002 - click passes it
        click.echo(f"pixelsne: {self.message}", err=True)


class Commands(click.Group):
    """Prints every error as one line, and turns signals into exit codes."""

    def invoke(self, context: click.Context) -> Any:
        try:
            with handle_signals() as signals:
                context.obj = signals
                return super().invoke(context)
        except Stopped as stopped:
            sys.exit(stopped.exit_code)
        except (click.ClickException, click.exceptions.Exit, click.Abort):
            raise
        except Exception as error:
            if os.environ.get("PIXELSNE_TRACEBACK"):
                raise
            raise Failure(explain(error)) from None


def explain(error: BaseException) -> str:
    """Return the message of an error in one line."""
    if isinstance(error, OSError) and error.filename is not None:
        return f"{error.filename}: {error.strerror}"
    return " ".join(str(error).split()) or type(error).__name__


class Resolution(click.ParamType):  # type: ignore[type-arg]  # not generic in older versions of click
    name = "WIDTHxHEIGHT"

    def convert(self, value: Any, param: Any, context: Any) -> Any:
        sides = str(value).lower().split("x")
        if len(sides) > 2 or not all(side.isdecimal() for side in sides):  # noqa: PLR2004
            self.fail(f"{value!r} is not a resolution; give 1024 or 1024x768", param, context)
        return int(sides[0]) if len(sides) == 1 else (int(sides[0]), int(sides[1]))


class NameList(click.ParamType):  # type: ignore[type-arg]  # not generic in older versions of click
    name = "NAME,NAME"

    def convert(self, value: Any, _param: Any, _context: Any) -> tuple[str, ...]:
        return tuple(name for name in str(value).split(",") if name)


class NumberList(click.ParamType):  # type: ignore[type-arg]  # not generic in older versions of click
    name = "NUMBER[,NUMBER]"

    def convert(self, value: Any, param: Any, context: Any) -> Any:
        try:
            numbers = [float(part) for part in str(value).split(",")]
        except ValueError:
            self.fail(
                f"{value!r} is not a number; give one, such as 30, or several separated by commas", param, context
            )
        return numbers[0] if len(numbers) == 1 else numbers


class Components(click.ParamType):  # type: ignore[type-arg]  # not generic in older versions of click
    name = "auto|NUMBER"

    def convert(self, value: Any, param: Any, context: Any) -> Any:
        if value == "auto" or isinstance(value, int):
            return value
        if not str(value).isdecimal():
            self.fail(f"{value!r} is neither auto nor an integer; give auto, 50, or 0 for all columns", param, context)
        return int(value)


class InitScale(click.ParamType):  # type: ignore[type-arg]  # not generic in older versions of click
    name = "none|NUMBER"

    def convert(self, value: Any, param: Any, context: Any) -> Any:
        if value == "none" or isinstance(value, float):
            return value
        try:
            return float(value)
        except ValueError:
            self.fail(f"{value!r} is neither none nor a number; give none to continue a map, or 1e-4", param, context)


def combine(*decorators: Callable[..., Any]) -> Callable[..., Any]:
    """Return a decorator that applies several decorators, the first one outermost."""

    def decorate(command: Callable[..., Any]) -> Callable[..., Any]:
        for decorator in reversed(decorators):
            command = decorator(command)
        return command

    return decorate


FILE = click.Path(dir_okay=False)
FILE_OR_FOLDER = click.Path()  # --cluster reads and writes folders
INPUT = click.argument("input_path", metavar="INPUT", type=FILE_OR_FOLDER)
MAP = click.argument("map_path", metavar="MAP", type=FILE_OR_FOLDER)
OUTPUT_HELP = "Output file: .parquet, .csv, .tsv, .npy, .npz or .h5ad."
OUTPUT = click.option("-o", "--output", required=True, metavar="MAP", type=FILE, help=OUTPUT_HELP)
JOBS = click.option("--jobs", type=int, default=-1, show_default=True, help="Number of threads; -1 for all processors.")
SEED = click.option(
    "--seed",
    type=click.IntRange(0, 2**32 - 1),
    default=0,
    show_default=True,
    help="Random seed; the same seed gives the same map.",
)
AS_JSON = click.option("--json", "as_json", is_flag=True, help="Result as one JSON object on stdout.")
WEIGHT = click.option(
    "--weight",
    metavar="COLUMN",
    help="Column of weights: not embedded; a row of weight w acts on all others like w equal rows.",
)
METRIC = click.option(
    "--metric",
    type=click.Choice(METRICS),
    metavar="NAME",
    help="Distance between rows: euclidean, cosine, correlation, another metric of scikit-learn (more than 30,000 rows need pixelsne[metrics]), precomputed (INPUT is a matrix of distances), or affinities (INPUT is a matrix P).  [default: euclidean]",
)

reading_options = combine(
    click.option(
        "--columns",
        type=NameList(),
        help="Columns to embed (default: all vector columns, or else all numeric columns except row identifiers).",
    ),
    click.option("--label", metavar="COLUMN", help="Column of class labels: not embedded, used to color pictures."),
    click.option("--header/--no-header", default=None, help="Treat the first csv row as a header (default: detect)."),
    click.option(
        "--rep",
        "representation",
        metavar="NAME",
        help="Key in the obsm of an h5ad file to embed, such as X_pca (default: X).",
    ),
)

fitting_options = combine(
    click.option("--resolution", type=Resolution(), help="Map size in pixels; one number for a square.  [default: 1024]"),
    click.option("--n-neighbors", type=int, help="Number of nearest neighbors per point; fewer show finer detail.  [default: 30; with --perplexity, three times the perplexity]"),
    click.option("--perplexity", type=NumberList(), help="Perplexity, or several separated by commas, whose kernels are averaged (10,100: perplexities 10 and 100).  [default: 0.6 times --n-neighbors]"),
    METRIC,
    click.option("--scale", type=click.Choice(("auto", *SCALES)), default="auto", show_default=True, help="Scaling of columns to unit standard deviation; auto scales tables whose columns have very different standard deviations."),
    click.option("--pca", "n_pca", type=Components(), help="Number of principal components: auto, a number, or 0 for no PCA.  [default: auto]"),
    SEED,
    JOBS,
    click.option("--max-iter", type=int, help="Maximum number of iterations.  [default: 250]"),
    click.option("--tol", type=float, help="Movement in pixels, over 50 iterations, below which a run ends early (median over points); 0 to run all iterations.  [default: 1]"),
    click.option("--aspect", type=click.Choice(ASPECTS), help="Scale of the axes: equal, or stretched to fill the screen.  [default: equal]"),
    click.option("--init", metavar="INIT", type=FILE, help="Initial positions: pca, random, or a file written by --model.  [default: pca]"),
    click.option("--init-scale", type=InitScale(), help="Standard deviation of the initial positions; none continues the map of --init MODEL, without early exaggeration.  [default: 0.0001]"),
    click.option("--neighbors", type=click.Choice(SEARCHES), help="Nearest neighbor search; auto is exact for few points, otherwise clusters (an inverted file, IVF).  [default: auto]"),
    click.option("--repulsion", type=click.Choice(REPULSIONS), help="Method for the repulsive forces: exact (all pairs), barnes-hut, pixel-tree (of the paper), pixel-field (FFT on a grid).  [default: auto]"),
    click.option("--theta", type=float, help="Accuracy of barnes-hut and pixel-tree; smaller is more exact.  [default: 0.5]"),
    click.option("--early-exaggeration", type=float, help="Factor on the attraction in the first iterations (early exaggeration).  [default: 12]"),
    click.option("--exaggeration", type=float, help="Factor on the attraction after early exaggeration.  [default: 1]"),
    click.option("--learning-rate", type=float, help="Learning rate (default: automatic)."),
    click.option("--preset", type=click.Choice(PRESETS), help="Settings of one of the methods compared in the PixelSNE paper; other options override them."),
)  # fmt: skip

drawing_options = combine(
    click.option("--title", default="", help="Title above the picture."),
    click.option("--dark", is_flag=True, help="Dark background."),
    click.option("--width", type=click.FloatRange(0.5, 100), default=WIDTH, show_default=True, help="Width of the picture in inches; a column of a paper has 3.5."),
    click.option("--dpi", type=click.FloatRange(10, 2400), default=DOTS_PER_INCH, show_default=True, help="Dots per inch: pixels of a .png are --width times --dpi."),
    click.option("--magnify", type=click.FloatRange(0.1, 20), default=1.0, show_default=True, help="Factor on the size of text and dots, in a picture of the same width."),
    click.option("--point-size", type=click.FloatRange(0.05, 100), help="Diameter of a dot in points, 1/72 inch (default: smaller for more points)."),
    click.option("--font", metavar="NAME", help="Name of an installed font (default: that of Matplotlib)."),
    click.option("--legend/--no-legend", default=None, help="Draw a legend or none (default: if names on the map do not explain all colors)."),
    click.option("--color-as", type=click.Choice(COLORED_AS), default="auto", show_default=True, help="Interpretation of the color column."),
)  # fmt: skip

checkpoint_options = combine(
    click.option("--checkpoint", metavar="FILE", type=click.Path(), help="File for checkpoints, written at intervals and on Ctrl-C or SIGTERM."),
    click.option("--every", type=click.FloatRange(0), default=60.0, show_default=True, help="Seconds between checkpoints."),
    click.option("--resume", metavar="FILE", type=FILE, help="Checkpoint to continue from; the map is the same as without an interruption."),
)  # fmt: skip

reporting_options = combine(
    click.option("--quiet", is_flag=True, help="No progress and no messages, only errors."),
    click.option("--progress", is_flag=True, help="Progress and messages even if stderr is not a terminal."),
    AS_JSON,
)


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.version_option(__version__, prog_name="pixelsne")
def main() -> None:
    """Compute, draw, explore and measure t-SNE maps of high-dimensional data.

    \b
    pixelsne embed cells.parquet -o map.parquet --label type --plot map.png
    pixelsne plot map.parquet -o dark.png --color type --dark
    pixelsne score cells.parquet map.parquet --label type
    """


@main.command()
@click.option(
    "-o", "--output", "picture", default="map.png", show_default=True, type=FILE, help="Output picture (.png)."
)
def demo(picture: str) -> None:
    """Compute a map of the handwritten digits in scikit-learn.

    \b
    pixelsne demo -o digits.png
    """
    from pixelsne.commands.demo import run  # noqa: PLC0415

    run(picture)


@main.command()
@INPUT
@click.option("-o", "--output", required=True, metavar="MAP", type=FILE_OR_FOLDER, help=OUTPUT_HELP)
@reading_options
@WEIGHT
@fitting_options
@click.option("--plot", "picture", metavar="FILE", type=FILE, help="Picture of the map (.png, .svg, .pdf).")
@click.option("--html", metavar="FILE", type=FILE, help="Interactive page of the map, in one file for any browser.")
@click.option(
    "--film", metavar="FILE", type=FILE, help="Film of the map as it forms (.webp, .gif; .mp4 if ffmpeg is installed)."
)
@drawing_options
@click.option(
    "--names",
    default="auto",
    show_default=True,
    metavar="COLUMN",
    help="Column by which regions of the map are named: texts, categories, numbers or dates. auto uses the texts of up to 200,000 rows, else categories; none leaves regions without names.",
)
@click.option(
    "--model", "model_path", metavar="FILE", type=FILE, help="File for the fitted model, for `pixelsne transform`."
)
@checkpoint_options
@click.option(
    "--cluster",
    metavar="ADDRESS",
    help="Dask scheduler to run on, or `local` to start a cluster here. With this option, INPUT is a glob pattern or a folder, and -o names a new folder.",
)
@click.option(
    "--workers", type=click.IntRange(1), default=2, show_default=True, help="Number of processes of --cluster local."
)
@reporting_options
@click.pass_obj
def embed(signals: Signals, /, **arguments: Any) -> None:  # fmt: skip
    """Compute the map of a table, a matrix or a set of embeddings.

    INPUT is a csv or tsv (also gzipped), parquet, feather, npy, npz or h5ad file.

    \b
    pixelsne embed cells.parquet -o map.parquet --label type --plot map.png
    pixelsne embed vectors.npy -o map.csv --resolution 1920x1080 --perplexity 50
    pixelsne embed cells.h5ad -o map.h5ad --rep X_pca
    pixelsne embed huge.parquet -o map.parquet --checkpoint run.ckpt
    pixelsne embed huge.parquet -o map.parquet --resume run.ckpt
    pixelsne embed 'parts/*.parquet' -o map --cluster tcp://10.0.0.1:8786
    """
    options = parse(EmbedOptions, arguments)
    if options.cluster:
        from pixelsne.commands.cluster import run as run_on_cluster  # noqa: PLC0415

        sys.exit(run_on_cluster(options, signals))
    from pixelsne.commands.embed import run  # noqa: PLC0415

    sys.exit(run(options, signals))


@main.command()
@MAP
@click.option(
    "-o",
    "--output",
    required=True,
    metavar="FILE",
    type=FILE,
    help="Output picture (.png, .svg, .pdf), or interactive page (.html).",
)
@click.option("--color", metavar="COLUMN", help="Column to color points by (default: the --label of `embed`).")
@click.option(
    "--density",
    is_flag=True,
    help="Density of points as a surface with contours, instead of dots; with --color, of each class.",
)
@click.option(
    "--names",
    default="auto",
    show_default=True,
    metavar="auto|none|COLUMN",
    help="Names on the map: of regions, by the words or values of a column; auto for a text column or the classes; none.",
)
@drawing_options
def plot(**arguments: Any) -> None:
    """Draw a map that `embed` or `transform` wrote, or any table with columns x and y in pixels.

    \b
    pixelsne plot map.parquet -o map.png --color type --dark --title "Cells by type"
    """
    from pixelsne.commands.plot import run  # noqa: PLC0415

    run(parse(PlotOptions, arguments))


FINISHED_MAP_OPTIONS = {"path", "live", "port", "host", "url", "browser", "label", "quiet"}


def check_finished_map_options(context: click.Context) -> None:
    """Raise UsageError for options that have no effect on a finished map."""
    for option in context.command.params:
        is_set = context.get_parameter_source(option.name or "") is ParameterSource.COMMANDLINE
        if is_set and option.name not in FINISHED_MAP_OPTIONS:
            raise click.UsageError(f"{option.opts[0]} is for --live: this map is finished; omit the option")


@main.command()
@click.argument("path", metavar="MAP", type=FILE_OR_FOLDER)
@click.option(
    "--live",
    is_flag=True,
    help="Live view: compute the map of MAP, which is an input of `embed`, and show it while it forms.",
)
@click.option("-o", "--output", metavar="MAP", type=FILE, help="Output file of the finished map, with --live.")
@click.option(
    "--port", type=click.IntRange(0, 65535), default=0, help="Port of the server; 0 for any free port.  [default: 0]"
)
@click.option(
    "--host",
    default="127.0.0.1",
    show_default=True,
    help="Address to listen on; the default accepts connections from this machine only.",
)
@click.option(
    "--url",
    metavar="URL",
    help="Address of a tunnel or proxy through which browsers reach the page, such as https://maps.example.",
)
@click.option("--browser/--no-browser", default=True, help="Open a browser, or only print the address.")
@reading_options
@WEIGHT
@fitting_options
@click.option("--quiet", is_flag=True, help="No messages, only the address.")
@click.pass_context
def view(context: click.Context, /, **arguments: Any) -> None:
    """Show a map in the browser, finished or while it forms.

    \b
    pixelsne view map.parquet
    pixelsne view --live cells.parquet -o map.parquet --label type
    """
    from pixelsne.commands.view import run  # noqa: PLC0415

    if not arguments["live"]:
        check_finished_map_options(context)
    run(parse(ViewOptions, arguments))


@main.command()
@INPUT
@MAP
@reading_options
@click.option("--perplexity", type=NumberList(), help="Perplexity for the KL divergence.  [default: that of the map]")
@METRIC
@SEED
@JOBS
@AS_JSON
def score(**arguments: Any) -> None:
    """Measure the local and global quality of a map.

    Local: neighborhood precision, k-NN accuracy (with --label), KL divergence. Global: triplet accuracy, and correlation of
    class centers (with --label). Up to 20,000 points, all points are measured; above that, a sample of 10,000.

    \b
    pixelsne score cells.parquet map.parquet --label type
    """
    from pixelsne.commands.score import run  # noqa: PLC0415

    run(parse(ScoreOptions, arguments))


@main.command()
@click.argument("model_path", metavar="MODEL", type=FILE)
@click.argument("input_path", metavar="NEW", type=FILE_OR_FOLDER)
@OUTPUT
@reading_options
@click.option(
    "--plot",
    "picture",
    metavar="FILE",
    type=FILE,
    help="Picture of the new points over the points of the map (.png, .svg, .pdf).",
)
@drawing_options
@JOBS
@reporting_options
def transform(**arguments: Any) -> None:
    """Place new rows on the map of a model that `embed --model` wrote.

    \b
    pixelsne embed old.parquet -o old-map.parquet --model cells.pixelsne
    pixelsne transform cells.pixelsne new.parquet -o new-map.parquet --plot both.png --label type
    """
    from pixelsne.commands.transform import run  # noqa: PLC0415

    run(parse(TransformOptions, arguments))
