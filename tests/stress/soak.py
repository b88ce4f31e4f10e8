"""Run 200 fits, transforms, saves and loads in one process: `soak.py [fits]`. Memory must not grow."""

import ctypes
import gc
import sys
import tempfile
from pathlib import Path

import numpy as np
from sklearn.datasets import load_digits

from pixelsne import PixelSNE

SIZES = 11
SEARCHES = ("auto", "clusters", "rp-forest")
ROUND = SIZES * len(SEARCHES)  # fits until every pair of size and search was there once
SLACK = 5e6  # bytes by which the lowest use of two rounds may differ: the heap is never equally full


def resident_bytes() -> int:
    """What the process holds, without free pages that the allocator keeps."""
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)
    pages = Path("/proc/self/statm").read_text(encoding="ascii").split()[1]
    return int(pages) * 4096


def fit_once(values: np.ndarray, seed: int, folder: Path) -> None:
    n = 200 + 137 * (seed % SIZES)
    model = PixelSNE(random_state=seed, max_iter=30, neighbors=SEARCHES[seed % len(SEARCHES)])
    model.fit(values[:n])
    model.transform(values[-20:])
    model.save(folder / "model")
    PixelSNE.load(folder / "model")


def main(fits: int) -> int:
    """Compare the lowest use of the last round with that of the second: the first one fills caches."""
    values = load_digits(return_X_y=True)[0]
    used = []
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(max(fits, 3 * ROUND)):
            fit_once(values, seed, Path(folder))
            used.append(resident_bytes())
    before, after = min(used[ROUND : 2 * ROUND]), min(used[-ROUND:])
    print(f"{len(used)} fits: {before / 1e6:.1f} MB in the second {ROUND}, {after / 1e6:.1f} MB in the last")
    if after - before > SLACK:
        print(f"memory grew by {(after - before) / 1e6:.1f} MB")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 200))
