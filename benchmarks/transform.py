"""Measure `transform`, new points on a finished map: `transform.py DATA [new points]`, DATA as in compare_peers.py.

The model is fitted to a random part of the rows, and the other rows are placed on its map. The accuracy of new points
is that of a 10-nearest-neighbor classifier fitted to the map. The accuracy of the map itself is measured by leaving out
one point at a time.
"""

import sys

from sklearn.neighbors import KNeighborsClassifier

from measure import Clock, load_source, save, source_name
from pixelsne import PixelSNE, quality

THREADS = 2


def main(source: str, new: int) -> None:
    values, labels = load_source(source)
    fitted_values, fitted_labels, new_values, new_labels = values[new:], labels[new:], values[:new], labels[:new]
    model = PixelSNE(random_state=0, n_jobs=THREADS)
    with Clock() as fitting:
        model.fit(fitted_values)
    with Clock() as placing:
        placed = model.transform(new_values)
    with Clock() as placing_one:
        model.transform(new_values[:1])
    classifier = KNeighborsClassifier(10).fit(model.embedding_, fitted_labels)
    row = {
        "data": source_name(source),
        "old points": len(fitted_values),
        "new points": new,
        "fit, s": fitting.seconds,
        "transform, s": placing.seconds,
        "transform of one row, s": placing_one.seconds,
        "10-NN accuracy of the map": quality.knn_accuracy(model.embedding_, fitted_labels, 10),
        "10-NN accuracy of new points": float(classifier.score(placed, new_labels)),
    }
    save(f"transform_{source_name(source)}", f"New points on a map, {THREADS} threads", [row])


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 10_000)
