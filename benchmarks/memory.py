"""Measure the accuracy of the memory estimate: `memory.py [DATA ...] [--sizes 20000,100000,...]`.

DATA as in compare_peers.py. Each run is a separate process. Estimate and peak do not include what the process holds
before the fit: its input and imports.
"""

import argparse
import json
import sys
import tempfile
from pathlib import Path

import numpy as np

from measure import Rows, in_own_process, load_source, peak_memory, save, source_name

CHILD = "--child"


def resident_memory() -> float:
    """Return the memory that this process holds now, in gigabytes."""
    return int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1]) * 4096 / 2**30


def child(path: str, perplexity: float) -> None:
    from pixelsne import PixelSNE  # noqa: PLC0415 - the parent does not need it

    PixelSNE(perplexity=5, max_iter=10, neighbors="clusters").fit(np.random.default_rng(0).normal(size=(200, 5)))
    values = np.load(path)
    model = PixelSNE(perplexity=perplexity, random_state=0, max_iter=30, n_jobs=2)
    estimated, before = model.estimate_memory(values) / 2**30, resident_memory()
    model.fit(values)
    print(json.dumps({"estimate, GB": estimated, "peak, GB": peak_memory() - before, "with input, GB": peak_memory()}))


def measure(source: str, sizes: list[int], perplexities: list[float]) -> Rows:
    rows: Rows = []
    with tempfile.TemporaryDirectory() as folder:
        for n in sizes:
            values = load_source(source, n)[0]
            if len(values) < n:
                continue
            np.save(f"{folder}/values.npy", values)
            shape = f"{len(values):,} x {values.shape[1]} {values.dtype}"
            del values
            for perplexity in perplexities:
                figures = in_own_process(__file__, CHILD, f"{folder}/values.npy", perplexity)
                figures["estimate / peak"] = figures["estimate, GB"] / figures["peak, GB"]
                rows.append({"data": source_name(source), "input": shape, "perplexity": perplexity, **figures})
                print(rows[-1], flush=True)
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", nargs="*", default=["clusters"])
    parser.add_argument("--sizes", default="100000,300000,1000000")
    parser.add_argument("--perplexities", default="10,30")
    options = parser.parse_args()
    sizes = [int(size) for size in options.sizes.split(",")]
    perplexities = [float(perplexity) for perplexity in options.perplexities.split(",")]
    rows = [row for source in options.data for row in measure(source, sizes, perplexities)]
    save("memory", "Memory estimated and used", rows)


if __name__ == "__main__":
    if sys.argv[1:2] == [CHILD]:
        child(sys.argv[2], float(sys.argv[3]))
    else:
        main()
