"""`pixelsne demo`: compute a map of the handwritten digits in scikit-learn."""

import time
from pathlib import Path

import click
import pyarrow as pa
from sklearn.datasets import load_digits

from pixelsne import PixelSNE, quality
from pixelsne.commands.plot import draw_map, write_page
from pixelsne.files.maps import Map
from pixelsne.files.write_map import check_output
from pixelsne.plot import PlotStyle

RESOLUTION = (1024, 768)


def run(picture: str) -> None:
    check_output(picture, (), (".png",))
    values, labels = load_digits(return_X_y=True)
    started = time.perf_counter()
    model = PixelSNE(resolution=RESOLUTION, random_state=0, verbose=True).fit(values)
    seconds = time.perf_counter() - started
    title = f"{len(values):,} handwritten digits · PixelSNE · {seconds:.1f} s"
    page = Path(picture).with_suffix(".html")
    map_ = Map(model.embedding_, RESOLUTION, pa.table({"digit": labels.astype(str)}), {"label": "digit"})
    draw_map(picture, map_, "digit", "auto", PlotStyle(title))
    write_page(str(page), map_, "handwritten digits", "digit")
    click.echo(
        f"map of {len(values):,} digits in {seconds:.1f} s, {model.n_iter_} iterations, KL {model.kl_divergence_:.3f}"
    )
    accuracy = quality.knn_accuracy(model.embedding_, labels, 10)
    click.echo(f"10-NN accuracy {accuracy:.3f} (share of digits that their neighbors on the map classify correctly)")
    click.echo(f"neighborhood precision at 10: {quality.neighborhood_precision(values, model.embedding_, 10):.3f}")
    click.echo(f"picture: {Path(picture).resolve()}")
    click.echo(f"page:    {page.resolve()}")
