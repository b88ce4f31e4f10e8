"""faiss's IVFFlat over a small grid: `faiss_search.py POINTS.npy k threads OUT.npz`, index building included.

A program of its own, since faiss and the package bring different thread pools. Prints one JSON object.
"""

import json
import sys
import time

import faiss
import numpy as np

# A million points take minutes for each setting; those that find too little are left out.
MANY = 200_000
FEWEST_PROBES_OF_MANY = 32


def main(path: str, k: int, threads: int, out: str) -> None:
    faiss.omp_set_num_threads(threads)
    points = np.load(path)
    n, d = points.shape
    rows = []
    found = {}
    for lists in (round(np.sqrt(n)), round(4 * np.sqrt(n))):
        start = time.perf_counter()
        index = faiss.IndexIVFFlat(faiss.IndexFlatL2(d), d, lists)
        index.train(points)
        index.add(points)
        built = time.perf_counter() - start
        for probes in (4, 8, 16, 32, 64):
            if probes > lists // 4 or (n > MANY and probes < FEWEST_PROBES_OF_MANY):
                continue
            index.nprobe = probes
            start = time.perf_counter()
            indices = index.search(points, k + 1)[1]
            seconds = built + time.perf_counter() - start
            name = f"faiss IVF{lists}, {probes} probes"
            found[name] = indices[np.load(path.replace(".npy", ".rows.npy"))]
            rows.append({"search": name, "seconds": seconds})
    np.savez(out, **found)
    print(json.dumps({"rows": rows}))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4])
