"""Measure the cost of the command line on top of the fit: `command_line.py [DATA] [--n 1000000] [--many 10000000]`.

DATA as in compare_peers.py. Measures `pixelsne --help`, `pixelsne plot`, and time and memory of `pixelsne embed` on a
parquet file with picture, model and checkpoints, compared with the fit alone in Python. Also runs `embed` on a file
that may be too large for the memory: it must fail at once or fit. The time to write checkpoints counts as part of the
fit.
"""

import argparse
import contextlib
import io
import json
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from measure import Clock, Rows, in_own_process, load_source, peak_memory, save, seconds_since_launch, source_name

CHILD = "--child"
PROGRAM = [sys.executable, "-m", "pixelsne"]
MANY_COLUMNS = 16
ROWS_AT_ONCE = 500_000


def child(job: str, folder: str) -> None:
    jobs = {"fit": fit_alone, "embed": embed, "keep": lambda folder: embed(folder, "--checkpoint", "run.ckpt")}
    seconds = jobs[job](Path(folder))
    print(json.dumps({**seconds, "seconds": seconds_since_launch(), "peak, GB": peak_memory()}))


def fit_alone(folder: Path) -> dict[str, float]:
    from pixelsne import PixelSNE  # noqa: PLC0415 - the parent does not need it

    values = np.load(folder / "values.npy")
    with Clock() as clock:
        PixelSNE(random_state=0).fit(values)
    return {"fit, seconds": clock.seconds}


def embed(folder: Path, *options_of_run: str) -> dict[str, float]:
    """Run the command in this process, so that its memory is measured."""
    from pixelsne.cli import main  # noqa: PLC0415 - the parent does not need it

    output = io.StringIO()
    paths = ["-o", "map.parquet", "--plot", "map.png", "--model", "model.pixelsne", *options_of_run]
    with contextlib.chdir(folder), contextlib.redirect_stdout(output), contextlib.suppress(SystemExit):
        main(["embed", "values.parquet", *paths, "--label", "label", "--json", "--quiet"])
    timings = json.loads(output.getvalue())["timings"]
    return {f"{name}, seconds": timings[name] for name in ("fit", "read", "write", "quality")}


def write_table(path: Path, values: np.ndarray, labels: np.ndarray) -> None:
    import pyarrow as pa  # noqa: PLC0415 - children do not need it
    import pyarrow.parquet as pq  # noqa: PLC0415

    columns = {f"column{index}": np.ascontiguousarray(column) for index, column in enumerate(values.T)}
    pq.write_table(pa.table(columns | {"label": [f"kind {label}" for label in labels]}), path)


def write_many(path: Path, rows: int) -> None:
    import pyarrow as pa  # noqa: PLC0415 - children do not need it
    import pyarrow.parquet as pq  # noqa: PLC0415

    rng = np.random.default_rng(0)
    schema = pa.schema([(f"column{index}", pa.float32()) for index in range(MANY_COLUMNS)])
    with pq.ParquetWriter(path, schema) as writer:
        for first in range(0, rows, ROWS_AT_ONCE):
            block = rng.standard_normal((MANY_COLUMNS, min(ROWS_AT_ONCE, rows - first)), dtype=np.float32)
            writer.write_table(pa.table(list(block), schema=schema))


def run_command(*arguments: str, folder: str) -> tuple[float, subprocess.CompletedProcess[str]]:
    with Clock() as clock:
        result = subprocess.run([*PROGRAM, *arguments], cwd=folder, capture_output=True, text=True, check=False)
    return clock.seconds, result


def measure_help(folder: str) -> Rows:
    times = [run_command(*arguments, folder=folder)[0] for arguments in [("--help",)] * 10]
    return [{"what": "pixelsne --help", "seconds": statistics.median(times)}]


def measure_embed(source: str, n: int, folder: str) -> Rows:
    values, labels = load_source(source, n)
    np.save(f"{folder}/values.npy", values)
    write_table(Path(folder, "values.parquet"), values, labels)
    shape = f"{len(values):,} x {values.shape[1]} {values.dtype}"
    del values, labels
    fit_only = in_own_process(__file__, CHILD, "fit", folder)
    commands = [in_own_process(__file__, CHILD, job, folder) for job in ("embed", "keep")]
    for command in commands:
        command["outside the fit"] = 1 - command["fit, seconds"] / command["seconds"]
        command["peak / the fit's"] = command["peak, GB"] / fit_only["peak, GB"]
    seconds, _ = run_command("plot", "map.parquet", "-o", "plot.png", "--color", "label", folder=folder)
    return [
        {"what": f"fit alone, {source_name(source)} {shape}", **fit_only},
        {"what": "pixelsne embed", **commands[0]},
        {"what": "pixelsne embed --checkpoint", **commands[1]},
        {"what": "pixelsne plot of that map", "seconds": seconds},
    ]


def measure_many(rows: int, folder: str) -> Rows:
    write_many(Path(folder, "many.parquet"), rows)
    seconds, result = run_command("embed", "many.parquet", "-o", "many.npy", "--quiet", folder=folder)
    message = result.stderr.strip() or "done"
    return [{"what": f"pixelsne embed, {rows:,} x {MANY_COLUMNS} float32: {message}", "seconds": seconds}]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", nargs="?", default="clusters")
    parser.add_argument("--n", type=int, default=1_000_000)
    parser.add_argument("--many", type=int, default=10_000_000)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        rows = measure_help(folder)
        rows += measure_embed(options.data, options.n, folder)
        rows += measure_many(options.many, folder)
    save("command_line", "The command line, compared with the fit alone", rows)


if __name__ == "__main__":
    if sys.argv[1:2] == [CHILD]:
        child(*sys.argv[2:4])
    else:
        main()
