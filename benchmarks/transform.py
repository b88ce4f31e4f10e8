"""New points on a finished map: `transform.py DATA [new points]`, DATA as in compare_peers.py.

A random part of the rows is kept back, the others are mapped, then those that were kept back are placed. Their
accuracy is the share whose ten nearest on the map are mostly of their kind; the map's own is measured leaving one out.
"""

import sys

from sklearn.neighbors import KNeighborsClassifier

from measure import Clock, load_source, save, source_name
from pixelsne import PixelSNE, quality

THREADS = 2


def main(source: str, new: int) -> None:
    values, labels = load_source(source)
    old, old_labels, strangers, their_labels = values[new:], labels[new:], values[:new], labels[:new]
    model = PixelSNE(random_state=0, n_jobs=THREADS)
    with Clock() as fitting:
        model.fit(old)
    with Clock() as placing:
        placed = model.transform(strangers)
    with Clock() as placing_one:
        model.transform(strangers[:1])
    voters = KNeighborsClassifier(10).fit(model.embedding_, old_labels)
    row = {
        "data": source_name(source),
        "old points": len(old),
        "new points": new,
        "fit, s": fitting.seconds,
        "transform, s": placing.seconds,
        "transform of one row, s": placing_one.seconds,
        "10-NN accuracy of the map": quality.knn_accuracy(model.embedding_, old_labels, 10),
        "10-NN accuracy of new points": float(voters.score(placed, their_labels)),
    }
    save(f"transform_{source_name(source)}", f"New points on a map, {THREADS} threads", [row])


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 10_000)
