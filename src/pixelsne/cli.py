"""The command line: parse, and hand over.

Importing this file loads click and nothing slower, so that a help text comes at once; each command imports what it
needs when it runs.
"""

import os
import sys
from collections.abc import Callable
from typing import Any

import click
from click.core import ParameterSource

from pixelsne import __version__
from pixelsne.choices import ASPECTS, COLORED_AS, METRICS, PRESETS, REPULSIONS, SCALES, SEARCHES
from pixelsne.commands.interrupts import Signals, Stopped, listening


class Failure(click.ClickException):
    """One line on stderr, exit 1."""

    def show(self, file: Any = None) -> None:  # noqa: ARG002 - click passes it
        click.echo(f"pixelsne: {self.message}", err=True)


class Commands(click.Group):
    """Turns errors that users can do something about into one line each, and signals into exit codes."""

    def invoke(self, context: click.Context) -> Any:
        try:
            with listening() as signals:
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
    if isinstance(error, OSError) and error.filename is not None:
        return f"{error.filename}: {error.strerror}"
    return " ".join(str(error).split()) or type(error).__name__


class Resolution(click.ParamType):  # type: ignore[type-arg]  # older ones take none
    name = "WIDTHxHEIGHT"

    def convert(self, value: Any, param: Any, context: Any) -> Any:
        sides = str(value).lower().split("x")
        if len(sides) > 2 or not all(side.isdecimal() for side in sides):  # noqa: PLR2004
            self.fail(f"{value!r} is no resolution; give 1024 or 1024x768", param, context)
        return int(sides[0]) if len(sides) == 1 else (int(sides[0]), int(sides[1]))


class Names(click.ParamType):  # type: ignore[type-arg]  # older ones take none
    name = "NAME,NAME"

    def convert(self, value: Any, _param: Any, _context: Any) -> tuple[str, ...]:
        return tuple(name for name in str(value).split(",") if name)


class Numbers(click.ParamType):  # type: ignore[type-arg]  # older ones take none
    name = "NUMBER[,NUMBER]"

    def convert(self, value: Any, param: Any, context: Any) -> Any:
        try:
            numbers = [float(part) for part in str(value).split(",")]
        except ValueError:
            self.fail(f"{value!r} is no number, nor several with commas", param, context)
        return numbers[0] if len(numbers) == 1 else numbers


class Components(click.ParamType):  # type: ignore[type-arg]  # older ones take none
    name = "auto|NUMBER"

    def convert(self, value: Any, param: Any, context: Any) -> Any:
        if value == "auto" or isinstance(value, int):
            return value
        if not str(value).isdecimal():
            self.fail(
                f"{value!r} is neither auto nor a whole number; give auto, 50, or 0 for all columns", param, context
            )
        return int(value)


def options(*decorators: Callable[..., Any]) -> Callable[..., Any]:
    def decorate(command: Callable[..., Any]) -> Callable[..., Any]:
        for decorator in reversed(decorators):
            command = decorator(command)
        return command

    return decorate


FILE = click.Path(dir_okay=False)
FILE_OR_FOLDER = click.Path()  # a cluster reads and writes folders
INPUT = click.argument("input_path", metavar="INPUT", type=FILE_OR_FOLDER)
MAP = click.argument("map_path", metavar="MAP", type=FILE_OR_FOLDER)
WRITTEN = ".parquet, .csv, .tsv, .npy, .npz or .h5ad"
OUTPUT = click.option("-o", "--output", required=True, metavar="MAP", type=FILE, help=WRITTEN)
JOBS = click.option("--jobs", type=int, default=-1, show_default=True, help="Threads; -1 = all processors.")
SEED = click.option(
    "--seed", type=click.IntRange(0, 2**32 - 1), default=0, show_default=True, help="One seed, one map."
)
AS_JSON = click.option("--json", "as_json", is_flag=True, help="The result as one JSON object on stdout.")
METRIC = click.option(
    "--metric", type=click.Choice(METRICS), metavar="NAME", help="Distance between rows.  [default: euclidean]"
)

reading = options(
    click.option("--columns", type=Names(), help="Columns to embed; else all vectors, or all numbers there are."),
    click.option("--label", metavar="COLUMN", help="A column of classes: not embedded; colors pictures."),
    click.option(
        "--header/--no-header", default=None, help="Treat the first line of a csv as names (default: detect)."
    ),
    click.option("--rep", "representation", metavar="NAME", help="Of an h5ad, what in obsm to embed (X_pca); else X."),
)

fitting = options(
    click.option("--resolution", type=Resolution(), help="Side in pixels, or both.  [default: 1024]"),
    click.option("--perplexity", type=Numbers(), help="Neighbors a point feels; or several.  [default: 30]"),
    METRIC,
    click.option("--scale", type=click.Choice(("auto", *SCALES)), default="auto", show_default=True, help="Division of columns by their standard deviations; auto: where a table's named columns differ widely."),
    click.option("--pca", "n_pca", type=Components(), help="Principal components to keep: auto, a number, or 0 for all columns.  [default: auto]"),
    SEED,
    JOBS,
    click.option("--max-iter", type=int, help="Iterations at most.  [default: 350]"),
    click.option("--tol", type=float, help="Pixels; a picture that moves less has settled.  [default: 1]"),
    click.option("--aspect", type=click.Choice(ASPECTS), help="Axes share one scale, or fill the screen.  [default: equal]"),
    click.option("--init", metavar="START", type=FILE, help="pca, random, or a file by --model to start from its map.  [default: pca]"),
    click.option("--n-neighbors", type=int, help="Neighbors looked up.  [default: three times the perplexity]"),
    click.option("--neighbors", type=click.Choice(SEARCHES), help="The search for them.  [default: auto]"),
    click.option("--repulsion", type=click.Choice(REPULSIONS), help="How the push between all points is summed.  [default: auto]"),
    click.option("--theta", type=float, help="Accuracy of the trees for that.  [default: 0.5]"),
    click.option("--early-exaggeration", type=float, help="Factor on attraction at first.  [default: 12]"),
    click.option("--exaggeration", type=float, help="Factor on attraction afterwards.  [default: 1]"),
    click.option("--learning-rate", type=float, help="Instead of the automatic one."),
    click.option("--preset", type=click.Choice(PRESETS), help="One of the paper's systems; other options change it."),
)  # fmt: skip

drawing = options(
    click.option("--title", default="", help="Above the picture."),
    click.option("--dark", is_flag=True, help="On a dark ground."),
    click.option("--magnify", type=click.IntRange(1, 16), default=1, show_default=True, help="Pixels of the picture for one of the map."),
    click.option("--point-size", type=click.IntRange(1, 11), help="Pixels of the map across; else by their number."),
    click.option("--color-as", type=click.Choice(COLORED_AS), default="auto", show_default=True, help="What the color column holds."),
)  # fmt: skip

reporting = options(
    click.option("--quiet", is_flag=True, help="No progress, no messages; errors are still told."),
    click.option("--progress", is_flag=True, help="Progress and messages also where stderr is no terminal."),
    AS_JSON,
)


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.version_option(__version__, prog_name="pixelsne")
def main() -> None:
    """Maps of high-dimensional data, computed in screen space.

    \b
    pixelsne embed cells.parquet -o map.parquet --label type --plot map.png
    pixelsne plot map.parquet -o dark.png --color type --dark
    pixelsne score cells.parquet map.parquet --label type
    """


@main.command()
@click.option("-o", "--output", "picture", default="map.png", show_default=True, type=FILE, help="The picture (.png).")
def demo(picture: str) -> None:
    """A map of the handwritten digits that scikit-learn brings along.

    \b
    pixelsne demo -o digits.png
    """
    from pixelsne.commands.demo import run  # noqa: PLC0415

    run(picture)


@main.command()
@INPUT
@click.option("-o", "--output", required=True, metavar="MAP", type=FILE_OR_FOLDER, help=WRITTEN)
@reading
@fitting
@click.option("--plot", "picture", metavar="FILE", type=FILE, help="A picture of the map, too (.png, .svg, .pdf).")
@click.option("--html", metavar="FILE", type=FILE, help="The map as a page in one file, to explore in any browser.")
@drawing
@click.option("--model", "model_path", metavar="FILE", type=FILE, help="The fitted model, for `pixelsne transform`.")
@click.option(
    "--checkpoint",
    metavar="FILE",
    type=click.Path(),
    help="Keeps the work here, now and then and on Ctrl-C or SIGTERM.",
)
@click.option("--every", type=click.FloatRange(0), default=60.0, show_default=True, help="Seconds between checkpoints.")
@click.option("--resume", metavar="FILE", type=FILE, help="Goes on from a checkpoint, to the very same map.")
@click.option(
    "--cluster",
    metavar="ADDRESS",
    help="On a Dask cluster: INPUT is a pattern or a folder, MAP a new folder. `local` starts one here.",
)
@click.option("--workers", type=click.IntRange(1), default=2, show_default=True, help="Processes of --cluster local.")
@reporting
@click.pass_obj
def embed(signals: Signals, /, **given: Any) -> None:  # fmt: skip
    """Computes the map of a table, a matrix or a set of embeddings.

    INPUT is a csv or tsv (also gzipped), parquet, feather, npy, npz or h5ad file.

    \b
    pixelsne embed cells.parquet -o map.parquet --label type --plot map.png
    pixelsne embed vectors.npy -o map.csv --resolution 1920x1080 --perplexity 50
    pixelsne embed cells.h5ad -o map.h5ad --rep X_pca
    pixelsne embed huge.parquet -o map.parquet --checkpoint run.ckpt
    pixelsne embed huge.parquet -o map.parquet --resume run.ckpt
    pixelsne embed 'parts/*.parquet' -o map --cluster tcp://10.0.0.1:8786
    """
    if given["cluster"]:
        from pixelsne.commands.cluster import run as run_on_cluster  # noqa: PLC0415

        sys.exit(run_on_cluster(given, signals))
    from pixelsne.commands.embed import run  # noqa: PLC0415

    sys.exit(run(given, signals))


@main.command()
@MAP
@click.option(
    "-o", "--output", required=True, metavar="FILE", type=FILE, help=".png, .svg or .pdf; .html for a page to explore"
)
@click.option("--color", metavar="COLUMN", help="The column to color by; else the label `embed` was told.")
@click.option("--density", is_flag=True, help="How many points there are, instead of colors.")
@drawing
def plot(**given: Any) -> None:
    """Draws a map that `embed` or `transform` wrote, or any table with columns x and y in pixels.

    \b
    pixelsne plot map.parquet -o map.png --color type --dark --title "Cells by type"
    """
    from pixelsne.commands.plot import run  # noqa: PLC0415

    run(given)


OF_ANY_VIEW = {"path", "live", "port", "host", "url", "browser", "label", "quiet"}


def refuse_fitting(context: click.Context) -> None:
    """Options that would change nothing about a finished map."""
    for option in context.command.params:
        given = context.get_parameter_source(option.name or "") is ParameterSource.COMMANDLINE
        if given and option.name not in OF_ANY_VIEW:
            raise click.UsageError(f"{option.opts[0]} is for --live: this map is finished")


@main.command()
@click.argument("path", metavar="MAP", type=FILE_OR_FOLDER)
@click.option("--live", is_flag=True, help="MAP is an input of `embed`: its map is computed, and shown as it forms.")
@click.option("-o", "--output", metavar="MAP", type=FILE, help="With --live, where the finished map goes.")
@click.option("--port", type=click.IntRange(0, 65535), default=0, help="0 = any that is free.  [default: 0]")
@click.option("--host", default="127.0.0.1", show_default=True, help="Another address of this machine lets others in.")
@click.option(
    "--url",
    metavar="URL",
    help="Address of a tunnel or proxy under which the page is reached, such as https://maps.example.",
)
@click.option("--browser/--no-browser", default=True, help="Open a browser, or print the address only.")
@reading
@fitting
@click.option("--quiet", is_flag=True, help="Nothing but the address.")
@click.pass_context
def view(context: click.Context, /, **given: Any) -> None:
    """Shows a map in the browser; with --live, a run as it happens.

    \b
    pixelsne view map.parquet
    pixelsne view --live cells.parquet -o map.parquet --label type
    """
    from pixelsne.commands.view import run  # noqa: PLC0415

    if not given["live"]:
        refuse_fitting(context)
    run(given | dict.fromkeys(("picture", "html", "model_path", "checkpoint", "resume")))


@main.command()
@INPUT
@MAP
@reading
@click.option("--perplexity", type=Numbers(), help="For the KL divergence.  [default: the map's own]")
@METRIC
@SEED
@JOBS
@AS_JSON
def score(**given: Any) -> None:
    """Says how good a map is: neighborhood precision, k-NN accuracy (with --label) and the KL divergence.

    Up to 20,000 points all are compared with all, above that a sample of them.

    \b
    pixelsne score cells.parquet map.parquet --label type
    """
    from pixelsne.commands.score import run  # noqa: PLC0415

    run(given)


@main.command()
@click.argument("model_path", metavar="MODEL", type=FILE)
@click.argument("input_path", metavar="NEW", type=FILE_OR_FOLDER)
@OUTPUT
@reading
@click.option(
    "--plot", "picture", metavar="FILE", type=FILE, help="Picture of new points over the map's (.png, .svg, .pdf)."
)
@drawing
@JOBS
@reporting
def transform(**given: Any) -> None:
    """Places new rows on the map of a model that `embed --model` wrote.

    \b
    pixelsne embed old.parquet -o old-map.parquet --model cells.pixelsne
    pixelsne transform cells.pixelsne new.parquet -o new-map.parquet --plot both.png --label type
    """
    from pixelsne.commands.transform import run  # noqa: PLC0415

    run(given)
