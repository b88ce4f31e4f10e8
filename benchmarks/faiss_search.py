"""Search neighbors with faiss's IVFFlat, over a small grid of settings: `faiss_search.py POINTS.npy k threads OUT.npz`.

Times include building the index. This is a separate program, because faiss and the package use different thread pools.
Prints one JSON object.
"""

import json
import sys
import time

import faiss
import numpy as np

# With a million points every setting takes more than ten minutes. So a twentieth of the points is searched, its time is
# multiplied by twenty, and settings with low recall are left out.
MANY = 200_000
EVERY_NTH = 20

# Numbers of probes to try, for each number of lists, which is a multiple of the square root of n.
GRID = {1: (4, 8, 16, 32, 64), 4: (4, 8, 16, 32, 64)}
LARGE_GRID = {1: (16, 32, 64), 4: (64, 128, 256)}


def main(path: str, k: int, threads: int, out: str) -> None:
    faiss.omp_set_num_threads(threads)
    points = np.load(path)
    n, d = points.shape
    row_indices = np.load(path.replace(".npy", ".rows.npy"))
    query_indices = np.arange(n) if n <= MANY else np.union1d(np.arange(0, n, EVERY_NTH), row_indices)
    queries, positions = points[query_indices], np.searchsorted(query_indices, row_indices)
    rows = []
    found = {}
    for multiple, tried in (LARGE_GRID if n > MANY else GRID).items():
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
            found[name] = indices[positions]
            rows.append({"search": name, "seconds": seconds})
            print(rows[-1], file=sys.stderr, flush=True)
    np.savez(out, **found)
    print(json.dumps({"rows": rows}))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4])
