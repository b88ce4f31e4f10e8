"""Kill `pixelsne embed` at random moments and check its files: `python tests/stress/kills.py [kills] [seed]`.

Every file on disk must be complete or absent, and the resumed run must end with the same bytes as an undisturbed run.
"""

import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

import matplotlib.image
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from pixelsne import PixelSNE
from pixelsne.files.archive import read_archive
from pixelsne.files.atomic_write import hidden_paths
from pixelsne.files.read_map import read_map

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGKILL)
OUTPUTS = {"map.parquet", "map.png", "model.pixelsne", "run.ckpt", "run.ckpt.prepared"}
EXITS = {signal.SIGINT: 130, signal.SIGTERM: 143, signal.SIGKILL: -signal.SIGKILL}
TIMEOUT = 300  # seconds per run

SETTINGS = ["--perplexity", "15", "--max-iter", "250", "--quiet"]


def make_input(path: Path) -> None:
    rng = np.random.default_rng(0)
    kinds = rng.integers(0, 12, 12_000)
    values = rng.normal(size=(12, 30))[kinds] * 3 + rng.normal(size=(12_000, 30))
    vectors = pa.FixedSizeListArray.from_arrays(values.astype(np.float32).ravel(), 30)
    pq.write_table(pa.table({"vector": vectors, "kind": [f"kind {kind}" for kind in kinds]}), path)


def start(source: Path, folder: Path, jobs: int) -> subprocess.Popen:
    outputs = ["-o", "map.parquet", "--plot", "map.png", "--model", "model.pixelsne"]
    keeping = ["--checkpoint", "run.ckpt", "--resume", "run.ckpt", "--every", "0.05"]
    command = [sys.executable, "-m", "pixelsne", "embed", str(source), *outputs, *keeping, "--label", "kind"]
    return subprocess.Popen([*command, *SETTINGS, "--jobs", str(jobs)], cwd=folder)


def check_files(folder: Path, *, killed: bool = False) -> None:
    """Check that all files are complete. A kill may leave a hidden copy of a file, which the next run removes."""
    names = {path.name for path in folder.iterdir()}
    seconds = {second.name for name in OUTPUTS for second in hidden_paths(folder / name)} if killed else set()
    unknown = names - OUTPUTS - seconds
    if unknown:
        raise AssertionError(f"left behind: {unknown}")
    if "map.parquet" in names:
        read_map(folder / "map.parquet")
    if "map.png" in names:
        matplotlib.image.imread(folder / "map.png")
    if "model.pixelsne" in names:
        PixelSNE.load(folder / "model.pixelsne")
    for name in names & {"run.ckpt", "run.ckpt.prepared"}:
        read_archive(folder / name)
    if "run.ckpt" in names and "run.ckpt.prepared" not in names:
        raise AssertionError("a checkpoint without its other half")


def undisturbed(source: Path, folder: Path) -> tuple[float, bytes]:
    began = time.monotonic()
    if start(source, folder, 2).wait(TIMEOUT) != 0:
        raise AssertionError("the run failed without being disturbed")
    check_files(folder)
    return time.monotonic() - began, (folder / "map.parquet").read_bytes()


def kill_one(chance: random.Random, source: Path, folder: Path, seconds: float) -> str:
    """Return the name of the signal, or "finished" if the run ended before it."""
    number = chance.choice(SIGNALS)
    process = start(source, folder, chance.choice((1, 2)))
    time.sleep(chance.uniform(0.0, seconds))
    process.send_signal(number)
    code = process.wait(TIMEOUT)
    check_files(folder, killed=number == signal.SIGKILL)
    # Before the interpreter has reached our code, signals have their default effect.
    if code not in {0, EXITS[number], -number}:
        raise AssertionError(f"exit {code} after {number.name}")
    return "finished" if code == 0 else number.name


def main(kills: int, seed: int) -> None:
    chance = random.Random(seed)  # noqa: S311 - not for secrets
    outcomes: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as folder_of_runs:
        source = Path(folder_of_runs, "points.parquet")
        make_input(source)
        whole = Path(folder_of_runs, "whole")
        whole.mkdir()
        seconds, expected = undisturbed(source, whole)
        print(f"undisturbed: {seconds:.1f} s", flush=True)
        rounds = 0
        while outcomes.total() - outcomes["finished"] < kills:
            folder = Path(folder_of_runs, f"round{rounds}")
            folder.mkdir()
            rounds += 1
            for _ in range(chance.randint(1, 4)):
                outcome = kill_one(chance, source, folder, seconds)
                outcomes[outcome] += 1
                if outcome == "finished":
                    break
            if start(source, folder, 2).wait(TIMEOUT) != 0:
                raise AssertionError("resuming failed")
            check_files(folder)
            if (folder / "map.parquet").read_bytes() != expected:
                raise AssertionError("the map differs from that of an undisturbed run")
            if (folder / "run.ckpt").exists():
                raise AssertionError("a completed run left its checkpoint")
            print(f"round {rounds}: {dict(outcomes)}, the same map", flush=True)
    print(
        f"{outcomes.total() - outcomes['finished']} kills in {rounds} runs: {dict(outcomes)}; every map the same",
        flush=True,
    )


if __name__ == "__main__":
    main(*(int(argument) for argument in (sys.argv[1:] + ["50", "0"][len(sys.argv) - 1 :])))
