"""Functions of all benchmarks: load data, describe the machine, start child processes, save results.

This file imports nothing slower than NumPy, because child processes that import it time the imports of libraries.
"""

import argparse
import json
import os
import platform
import resource
import subprocess
import sys
import time
from collections.abc import Collection
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any, Self

import numpy as np

import pixelsne

RESULTS = Path(__file__).parent / "results"
Rows = list[dict[str, Any]]

# Libraries that start their own threads read one of these before their first use.
THREAD_VARIABLES = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
    "NUMBA_NUM_THREADS",
)
LAUNCHED_AT = "BENCHMARK_LAUNCHED_AT"


def load(path: str, n: int | None = None, seed: int = 0) -> tuple[Any, Any]:
    """Return X and y of an npz file, in random order (files are often sorted), or the first n rows of that order.

    `file.npz:NAME` uses the array NAME in place of X.
    """
    path, _, name = path.partition(":")
    with np.load(path) as arrays:
        values, labels = arrays[name or "X"], arrays["y"]
    order = np.random.default_rng(seed).permutation(len(values))[:n]
    return values[order], labels[order]


def load_points(path: str, n: int | None = None, seed: int = 0) -> tuple[Any, Any]:
    """Return data as `load` does, reduced to 50 dimensions by PCA, float32."""
    values, labels = load_source(path, n, seed)
    return to_points(values), labels


def to_points(values: Any) -> Any:
    """Return (n, at most 50) float32."""
    from pixelsne.reduce import reduce  # noqa: PLC0415 - children that time imports do not need it

    return reduce(values, 50, 0)


def clusters(n: int | None = None, seed: int = 0, columns: int = 50) -> tuple[Any, Any]:
    """Return a hundred Gaussian clusters, and the cluster of each point."""
    rng, n = np.random.default_rng(seed), n or 10_000
    centers = rng.normal(0, 1, (100, columns)).astype(np.float32)
    labels = rng.integers(0, 100, n)
    return centers[labels] + 0.4 * rng.standard_normal((n, columns), dtype=np.float32), labels


def digits(n: int | None = None, seed: int = 0) -> tuple[Any, Any]:
    """Return scikit-learn's 1,797 digits of 8 x 8 pixels."""
    from sklearn.datasets import load_digits  # noqa: PLC0415 - children that time imports do not need it

    values, labels = load_digits(return_X_y=True)
    order = np.random.default_rng(seed).permutation(len(values))[:n]
    return values[order].astype(np.float32), labels[order]


# Data that need no file. Scripts add their own.
SOURCES: dict[str, Any] = {"clusters": clusters, "clusters16": partial(clusters, columns=16), "digits": digits}


def load_source(source: str, n: int | None = None, seed: int = 0) -> tuple[Any, Any]:
    """Return X and y of a name in SOURCES or of an npz file."""
    return SOURCES[source](n, seed) if source in SOURCES else load(source, n, seed)


def source_name(source: str) -> str:
    return source if source in SOURCES else Path(source).stem


def machine() -> dict[str, Any]:
    from pixelsne import _core  # noqa: PLC0415 - children that time imports do not need it

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
    """Return the peak memory of this process in gigabytes.

    On Linux ru_maxrss starts with the memory of the parent, which may exceed the child's own peak.
    """
    status = Path("/proc/self/status")
    if status.exists():
        lines = status.read_text(encoding="utf-8").splitlines()
        return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) / 2**20
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (2**30 if sys.platform == "darwin" else 2**20)


def check_names(parser: argparse.ArgumentParser, option: str, given: str, known: Collection[str]) -> None:
    """End the program with an error if a list of names, as in a,b, has one that is unknown."""
    unknown = set(given.split(",")) - set(known)
    if unknown:
        parser.error(f"unknown: {', '.join(sorted(unknown))}; {option} takes names of {', '.join(known)}")


class Clock:
    """A stopwatch: `with Clock() as clock: ...`, then clock.seconds."""

    def __enter__(self) -> Self:
        self._start = time.perf_counter()
        return self

    def __exit__(self, *_error: object) -> None:
        self.seconds = time.perf_counter() - self._start


def seconds_since_launch() -> float:
    """Return the seconds since `in_own_process` started this child, including the interpreter and all imports."""
    return time.monotonic() - float(os.environ[LAUNCHED_AT])


def in_own_process(
    script: str, *arguments: object, threads: int | None = None, python: str = sys.executable
) -> dict[str, Any]:
    """Run a benchmark script in a separate process; the last line of its output is a JSON object."""
    command = [python, script, *map(str, arguments)]
    limits = dict.fromkeys(THREAD_VARIABLES, str(threads)) if threads else {}
    environment = {**os.environ, **limits, LAUNCHED_AT: str(time.monotonic())}
    result = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    if result.returncode != 0:
        raise RuntimeError(f"{' '.join(command)} failed:\n{result.stderr}")
    return dict(json.loads(result.stdout.strip().splitlines()[-1]))


def table(rows: Rows) -> str:
    """Return rows as a Markdown table."""
    heads = list(dict.fromkeys(key for row in rows for key in row))
    cells = [[format_value(row.get(head, "")) for head in heads] for row in rows]
    lines = [heads, ["---"] * len(heads), *cells]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def format_value(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def save(name: str, title: str, rows: Rows, notes: str = "", **extra: Any) -> None:
    """Print the table and write results/NAME.md and results/NAME.json, the latter with all extra arguments."""
    RESULTS.mkdir(exist_ok=True)
    description = machine()
    words = ", ".join(f"{key} {value}" for key, value in description.items())
    arguments = " ".join(map(without_folder, sys.argv[1:]))
    text = f"# {title}\n\n`python benchmarks/{Path(sys.argv[0]).name} {arguments}`\n\n{words}\n\n"
    text += table(rows) + "\n" + (f"\n{notes}\n" if notes else "")
    (RESULTS / f"{name}.md").write_text(text, encoding="utf-8")
    content = json.dumps({"machine": description, "rows": rows, **extra}, indent=1)
    (RESULTS / f"{name}.json").write_text(content, encoding="utf-8")
    print(text)


def without_folder(argument: str) -> str:
    """Return the last part of a path, so that results do not contain private folders."""
    return Path(argument).name if "/" in argument else argument
