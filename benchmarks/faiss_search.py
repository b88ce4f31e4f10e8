"""faiss's IVFFlat over a small grid: `faiss_search.py POINTS.npy k threads OUT.npz`, index building included.

A program of its own, since faiss and the package bring different thread pools. Prints one JSON object.
"""

import json
import sys
import time

import faiss
import numpy as np

# Of a million points every setting takes more than ten minutes. So a twentieth of them is searched for, counted
# twenty times, and settings that find too little are left out.
MANY = 200_000
SHARE_OF_MANY = 20

# Probes to try, by the number of lists as a multiple of the root of n.
GRID = {1: (4, 8, 16, 32, 64), 4: (4, 8, 16, 32, 64)}
GRID_OF_MANY = {1: (16, 32, 64), 4: (64, 128, 256)}


def main(path: str, k: int, threads: int, out: str) -> None:
    faiss.omp_set_num_threads(threads)
    points = np.load(path)
    n, d = points.shape
    wanted = np.load(path.replace(".npy", ".rows.npy"))
    everyone = np.arange(n) if n <= MANY else np.union1d(np.arange(0, n, SHARE_OF_MANY), wanted)
    queries, places = points[everyone], np.searchsorted(everyone, wanted)
    rows = []
    found = {}
    for multiple, tried in (GRID_OF_MANY if n > MANY else GRID).items():
        lists = round(multiple * np.sqrt(n))
        start = time.perf_counter()
        index = faiss.IndexIVFFlat(faiss.IndexFlatL2(d), d, lists)
        index.train(points)
        index.add(points)
        built = time.perf_counter() - start
        for probes in tried:
            if probes > lists // 4:
                continue
            index.nprobe = probes
            start = time.perf_counter()
            indices = index.search(queries, k + 1)[1]
            seconds = built + (time.perf_counter() - start) * n / len(queries)
            name = f"faiss IVF{lists}, {probes} probes"
            found[name] = indices[places]
            rows.append({"search": name, "seconds": seconds})
            print(rows[-1], file=sys.stderr, flush=True)
    np.savez(out, **found)
    print(json.dumps({"rows": rows}))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4])
