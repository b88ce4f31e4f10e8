"""What all benchmarks share: data by path, the machine, child processes, results on disk."""

import json
import os
import platform
import resource
import subprocess
import sys
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Self

import numpy as np

import pixelsne
from pixelsne import _core
from pixelsne.reduce import reduce

RESULTS = Path(__file__).parent / "results"
Rows = list[dict[str, Any]]


def load(path: str, n: int | None = None, seed: int = 0) -> tuple[Any, Any]:
    """X and y of an npz file, rows in random order (files are often sorted), the first n of them."""
    with np.load(path) as arrays:
        values, labels = arrays["X"], arrays["y"]
    order = np.random.default_rng(seed).permutation(len(values))[:n]
    return values[order], labels[order]


def load_points(path: str, n: int | None = None, seed: int = 0) -> tuple[Any, Any]:
    """As `load`, reduced to 50 dimensions by PCA, float32."""
    values, labels = load(path, n, seed)
    return reduce(values, 50, 0), labels


def clusters(n: int, d: int = 50, seed: int = 0) -> Any:
    """Gaussian clusters that need no file."""
    rng = np.random.default_rng(seed)
    centers = rng.normal(0, 1, (100, d)).astype(np.float32)
    return centers[rng.integers(0, 100, n)] + 0.4 * rng.standard_normal((n, d), dtype=np.float32)


def machine() -> dict[str, Any]:
    model = ""
    if Path("/proc/cpuinfo").exists():
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
        model = next((line.split(":")[1].strip() for line in lines if line.startswith("model name")), "")
    return {
        "date": datetime.now(UTC).strftime("%Y-%m-%d"),
        "processor": model or platform.processor(),
        "cores": os.cpu_count(),
        "instruction set": _core.instruction_set,
        "python": platform.python_version(),
        "pixelsne": pixelsne.__version__,
    }


def peak_memory() -> float:
    """Gigabytes this process has used at most."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20


class Clock:
    """`with Clock() as clock: ...`, then clock.seconds."""

    def __enter__(self) -> Self:
        self._start = time.perf_counter()
        return self

    def __exit__(self, *_error: object) -> None:
        self.seconds = time.perf_counter() - self._start


def in_own_process(script: str, *arguments: object) -> dict[str, Any]:
    """Runs a benchmark script in a process of its own; its last line of output is a JSON object."""
    command = [sys.executable, script, *map(str, arguments)]
    finished = subprocess.run(command, capture_output=True, text=True, check=False)
    if finished.returncode != 0:
        raise RuntimeError(f"{' '.join(command)} failed:\n{finished.stderr}")
    return dict(json.loads(finished.stdout.strip().splitlines()[-1]))


def table(rows: Rows) -> str:
    """Rows as a Markdown table."""
    heads = list(dict.fromkeys(key for row in rows for key in row))
    cells = [[shown(row.get(head, "")) for head in heads] for row in rows]
    lines = [heads, ["---"] * len(heads), *cells]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def shown(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def save(name: str, title: str, rows: Rows, notes: str = "") -> None:
    """Prints the table and writes results/NAME.md and results/NAME.json."""
    RESULTS.mkdir(exist_ok=True)
    about = machine()
    words = ", ".join(f"{key} {value}" for key, value in about.items())
    text = (
        f"# {title}\n\n`python benchmarks/{Path(sys.argv[0]).name} {' '.join(map(plain, sys.argv[1:]))}`\n\n{words}\n\n"
    )
    text += table(rows) + "\n" + (f"\n{notes}\n" if notes else "")
    (RESULTS / f"{name}.md").write_text(text, encoding="utf-8")
    (RESULTS / f"{name}.json").write_text(json.dumps({"machine": about, "rows": rows}, indent=1), encoding="utf-8")
    print(text)


def plain(argument: str) -> str:
    """A path's last part: where the data lie is everybody's own business."""
    return Path(argument).name if "/" in argument else argument
