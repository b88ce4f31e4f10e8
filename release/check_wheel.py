"""All tests on a wheel in an empty environment where there is no compiler.

    python release/check_wheel.py [--python python3.13] [--simd baseline] dist/pixelsne-*.whl [-- pytest's options]

The tests are those of this folder; what they import is the wheel. They run once for each instruction set of this
machine, from the best to none.
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
    """All programs of PATH in one folder, but for those that compile."""
    folder.mkdir()
    for place in os.environ["PATH"].split(os.pathsep):
        for program in Path(place).glob("*"):
            name = folder / program.name
            if not COMPILERS.fullmatch(program.name) and not name.is_symlink():
                name.symlink_to(program)
    return folder


def python_of(wheel: Path) -> str:
    """The oldest that can use it: python3.12 for pixelsne-1.0-cp312-abi3-linux_x86_64.whl."""
    tag = wheel.name.split("-")[2]
    return f"python{tag[2]}.{tag[3:]}"


def install(wheel: Path, python: str, folder: Path, environment: dict[str, str]) -> Path:
    subprocess.run([python, "-m", "venv", folder], check=True)
    inside = folder / ("Scripts" if os.name == "nt" else "bin") / "python"
    wanted = f"pixelsne[test] @ {wheel.resolve().as_uri()}"
    command = [inside, "-m", "pip", "install", "--quiet", "--only-binary", ":all:", wanted]
    subprocess.run(command, check=True, env=environment)
    return inside


def instruction_set(python: Path, environment: dict[str, str]) -> str:
    """The best that the wheel finds here. What is imported must be the wheel."""
    code = "from pixelsne import _core; print(_core.__file__, _core.instruction_set)"
    told = subprocess.run([python, "-c", code], check=True, env=environment, capture_output=True, text=True, cwd=ROOT)
    file, best = told.stdout.split()
    if not file.startswith(os.fspath(python.parents[1])):
        raise SystemExit(f"imported is not the wheel, but {file}")
    return best


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("wheel", type=Path)
    parser.add_argument("--python", help="default: the oldest that can use the wheel")
    parser.add_argument("--simd", choices=SETS, help="only with this instruction set")
    parser.add_argument("pytest", nargs="*", help="after --; default: all tests, on two processes")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        environment = {**os.environ, "PATH": os.fspath(path_without_compilers(folder / "programs"))}
        for name in ("CC", "CXX", "PYTHONPATH", "PIXELSNE_CI"):
            environment.pop(name, None)
        python = install(options.wheel, options.python or python_of(options.wheel), folder / "empty", environment)
        best = instruction_set(python, environment)
        for simd in [options.simd] if options.simd else SETS[SETS.index(best) :]:
            print(f"{options.wheel.name}, {simd}:", flush=True)
            wanted = options.pytest or ["-n", "2", "--dist", "loadfile"]
            environment["PIXELSNE_SIMD"] = simd
            subprocess.run([python, "-m", "pytest", *wanted], check=True, env=environment, cwd=ROOT)


if __name__ == "__main__":
    main()
