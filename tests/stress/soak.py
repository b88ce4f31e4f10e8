"""Run 200 fits, transforms, saves and loads in one process: `soak.py [fits]`. Memory must not grow."""

import gc
import sys
import tempfile
from pathlib import Path

import numpy as np
from sklearn.datasets import load_digits

from pixelsne import PixelSNE

WARM_UP = 20  # fits until pools and caches have their final size
SLACK = 8e6  # bytes: rounding of the heap


def resident_bytes() -> int:
    pages = Path("/proc/self/statm").read_text(encoding="ascii").split()[1]
    return int(pages) * 4096


def fit_once(values: np.ndarray, seed: int, folder: Path) -> None:
    n = 200 + 137 * (seed % 11)
    model = PixelSNE(random_state=seed, max_iter=30, neighbors=("auto", "clusters", "rp-forest")[seed % 3])
    model.fit(values[:n])
    model.transform(values[-20:])
    model.save(folder / "model")
    PixelSNE.load(folder / "model")


def main(fits: int) -> int:
    values = load_digits(return_X_y=True)[0]
    used = []
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(fits + WARM_UP):
            fit_once(values, seed, Path(folder))
            gc.collect()
            used.append(resident_bytes())
    grown = max(used[-20:]) - max(used[:WARM_UP])
    print(f"{fits} fits: {used[WARM_UP - 1] / 1e6:.1f} MB after {WARM_UP}, {used[-1] / 1e6:.1f} MB at the end")
    if grown > SLACK:
        print(f"memory grew by {grown / 1e6:.1f} MB")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 200))
