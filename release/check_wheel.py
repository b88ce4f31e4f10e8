"""Run all tests on a wheel, in an empty environment without a compiler.

    python release/check_wheel.py [--python python3.13] [--simd baseline] dist/pixelsne-*.whl [-- pytest's options]

The tests come from this repository and import the package of the wheel. They run once for each instruction set of this
machine, from the best to the baseline.
"""

import argparse
import os
import re
import subprocess
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
SETS = ("avx512", "avx2", "baseline")
COMPILERS = re.compile(r"(.*-)?(cc|c\+\+|gcc|g\+\+|clang|clang\+\+|cl|ld|c[89]9|cmake|ninja)(-[\d.]+)?(\.exe)?")


def path_without_compilers(folder: Path) -> Path:
    """Fill a folder with links to all programs on PATH except compilers, and return it."""
    folder.mkdir()
    for directory in os.environ["PATH"].split(os.pathsep):
        for program in Path(directory).glob("*"):
            name = folder / program.name
            if not COMPILERS.fullmatch(program.name) and not name.is_symlink():
                name.symlink_to(program)
    return folder


def python_of(wheel: Path) -> str:
    """Return the oldest Python for a wheel: python3.12 for pixelsne-1.0-cp312-abi3-linux_x86_64.whl."""
    tag = wheel.name.split("-")[2]
    return f"python{tag[2]}.{tag[3:]}"


def install(wheel: Path, python: str, folder: Path, environment: dict[str, str]) -> Path:
    """Install a wheel into a new environment; return the environment's Python."""
    subprocess.run([python, "-m", "venv", folder], check=True)
    inside = folder / ("Scripts" if os.name == "nt" else "bin") / "python"
    requirement = f"pixelsne[test] @ {wheel.resolve().as_uri()}"
    command = [inside, "-m", "pip", "install", "--quiet", "--only-binary", ":all:", requirement]
    subprocess.run(command, check=True, env=environment)
    return inside


def instruction_set(python: Path, environment: dict[str, str]) -> str:
    """Return the best instruction set that the wheel finds on this machine; exit if another package is imported."""
    code = "from pixelsne import _core; print(_core.__file__, _core.instruction_set)"
    result = subprocess.run([python, "-c", code], check=True, env=environment, capture_output=True, text=True, cwd=ROOT)
    file, best = result.stdout.split()
    if not file.startswith(os.fspath(python.parents[1])):
        raise SystemExit(f"the tests would import {file} instead of the wheel")
    return best


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("wheel", type=Path)
    parser.add_argument("--python", help="Python to install the wheel for (default: the oldest possible)")
    parser.add_argument("--simd", choices=SETS, help="run only with this instruction set")
    parser.add_argument("pytest", nargs="*", help="options of pytest, after -- (default: all tests, on two processes)")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        environment = {**os.environ, "PATH": os.fspath(path_without_compilers(folder / "programs"))}
        for variable in ("CC", "CXX", "PYTHONPATH", "PIXELSNE_CI"):
            environment.pop(variable, None)
        python = install(options.wheel, options.python or python_of(options.wheel), folder / "empty", environment)
        best = instruction_set(python, environment)
        for simd in [options.simd] if options.simd else SETS[SETS.index(best) :]:
            print(f"{options.wheel.name}, {simd}:", flush=True)
            arguments = options.pytest or ["-n", "2", "--dist", "loadfile"]
            environment["PIXELSNE_SIMD"] = simd
            subprocess.run([python, "-m", "pytest", *arguments], check=True, env=environment, cwd=ROOT)


if __name__ == "__main__":
    main()
