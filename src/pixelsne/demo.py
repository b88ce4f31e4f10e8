"""The digits that scikit-learn ships, as a map: `python -m pixelsne.demo [picture]`."""

import sys
import time
from pathlib import Path

from sklearn.datasets import load_digits

from pixelsne import PixelSNE, quality
from pixelsne.plot import save_picture

RESOLUTION = (1024, 768)


def main(picture: Path) -> None:
    values, labels = load_digits(return_X_y=True)
    started = time.perf_counter()
    model = PixelSNE(resolution=RESOLUTION, random_state=0, verbose=True).fit(values)
    seconds = time.perf_counter() - started
    save_picture(
        picture,
        model.pixels_,
        RESOLUTION,
        labels,
        f"{len(values):,} handwritten digits · PixelSNE · {seconds:.1f} s",
    )
    print(
        f"map of {len(values):,} digits in {seconds:.1f} s, {model.n_iter_} iterations, KL {model.kl_divergence_:.3f}"
    )
    accuracy = quality.knn_accuracy(model.embedding_, labels, 10)
    print(f"10-NN accuracy {accuracy:.3f} (share of digits among their own kind)")
    print(f"neighborhood precision at 10: {quality.neighborhood_precision(values, model.embedding_, 10):.3f}")
    print(f"picture: {picture.resolve()}")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "map.png"))
