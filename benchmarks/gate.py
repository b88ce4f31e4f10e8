"""Compare instruction counts of five fixed jobs with those of another commit: `gate.py [COMMIT]`, by default HEAD^.

Both commits are built by the same compiler with the flags of CMakeLists.txt, and run under callgrind with AVX2 kernels
and one thread. A count is the difference between a run of two repeats and a run of one, so it does not include start
and set-up. The counts do not depend on the load of the machine. The gate fails if a count grows by more than 3 %.
"""

import argparse
import io
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).parents[1]
BUILD = ROOT / "build" / "gate"
JOBS = ("search", "affinities", "field", "attraction", "transform")
MAX_GROWTH = 0.03

COMMON = ("-std=c++17", "-O3", "-fPIC", "-DNDEBUG", "-DPIXELSNE_WITH_X86_VECTORS", "-pthread", "-w")
KERNELS = ("kernels.cpp", "field_kernels.cpp")
KERNEL_FLAGS = {
    "baseline": (),
    "avx2": ("-mavx2", "-mfma"),
    "avx512": ("-mavx512f", "-mavx512vl", "-mavx512dq", "-mavx512bw", "-mfma", "-mprefer-vector-width=512"),
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("commit", nargs="?", default="HEAD^", help="commit to compare with")
    base = parser.parse_args().commit
    if shutil.which("valgrind") is None:
        sys.exit("gate.py needs valgrind; on Debian, install the package valgrind")
    with tempfile.TemporaryDirectory() as folder:
        archive = subprocess.run(["git", "archive", base, "core"], cwd=ROOT, check=True, capture_output=True)  # noqa: S607 - on the path
        with tarfile.open(fileobj=io.BytesIO(archive.stdout)) as files:
            files.extractall(folder, filter="data")
        before = build(Path(folder) / "core", BUILD / "before")
        now = build(ROOT / "core", BUILD / "now")
    return report(base, {job: (instructions(before, job), instructions(now, job)) for job in JOBS})


def build(core: Path, target: Path) -> Path:
    """Compile the core without its bindings, and the jobs. Return the program."""
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir(parents=True)
    commands = [
        compile_command(core, source, target / f"{source.stem}-{source.parent.name}.o")
        for source in core.rglob("*.cpp")
        if source.name not in KERNELS and not source.name.startswith("bindings")
    ]
    commands += [
        compile_command(core, core / name, target / f"{name}-{isa}.o", kernel_flags(isa))
        for isa in KERNEL_FLAGS
        for name in KERNELS
    ]
    commands.append(compile_command(core, Path(__file__).with_name("gate_jobs.cpp"), target / "jobs.o"))
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(run, commands))
    program = target / "gate_jobs"
    run(["g++", "-pthread", "-o", str(program), *map(str, target.glob("*.o"))])
    return program


def kernel_flags(isa: str) -> list[str]:
    names = [f"-DPIXELSNE_ISA={isa}", f'-DPIXELSNE_ISA_NAME="{isa}"']
    return [*names, "-fno-math-errno", "-fno-trapping-math", *KERNEL_FLAGS[isa]]


def compile_command(core: Path, source: Path, target: Path, flags: list[str] | None = None) -> list[str]:
    return ["g++", *COMMON, *(flags or []), f"-I{core}", "-c", str(source), "-o", str(target)]


def run(command: list[str]) -> None:
    finished = subprocess.run(command, check=False, capture_output=True, text=True)
    if finished.returncode != 0:
        sys.exit(
            f"{' '.join(command)}\n{finished.stderr}\nIf the core's interface changed, compare these jobs by hand."
        )


def instructions(program: Path, job: str) -> int:
    """Return the instructions that one more repeat of a job takes."""
    counts = [count_instructions(program, job, repeats) for repeats in (1, 2)]
    return counts[1] - counts[0]


def count_instructions(program: Path, job: str, repeats: int) -> int:
    command = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", str(program), job, str(repeats)]
    environment = os.environ | {"PIXELSNE_SIMD": "avx2"}
    finished = subprocess.run(command, check=True, capture_output=True, text=True, env=environment)
    return int(re.search(r"Collected : (\d+)", finished.stderr)[1])


def report(base: str, counts: dict[str, tuple[int, int]]) -> int:
    print(f"| job | instructions at {base} | now | change |\n| --- | --- | --- | --- |")
    for job, (before, now) in counts.items():
        print(f"| {job} | {before:,} | {now:,} | {now / before - 1:+.2%} |")
    grown = [job for job, (before, now) in counts.items() if now > (1 + MAX_GROWTH) * before]
    if grown:
        print(f"instruction count grew by more than {MAX_GROWTH:.0%}: {', '.join(grown)}", file=sys.stderr)
    return 1 if grown else 0


if __name__ == "__main__":
    sys.exit(main())
