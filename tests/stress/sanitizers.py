"""Run the tests of the core and of damaged files on a core built with sanitizers: `make sanitize`.

Builds the package with AddressSanitizer and UndefinedBehaviorSanitizer, then with ThreadSanitizer, into separate
folders, and runs the tests that exercise the core most against each. A report of a sanitizer ends the run.
`sanitizers.py address` or `sanitizers.py thread` runs one of the two.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
SUPPRESSIONS = Path(__file__).with_name("thread.suppressions")
TESTS = [
    "test_core_arguments.py",
    "test_covariance.py",
    "test_forces.py",
    "test_weighted_forces.py",
    "test_pixel_field.py",
    "test_neighbors.py",
    "test_affinities.py",
    "test_descent.py",
    "test_transform.py",
]
# Damaged files matter to AddressSanitizer only.
FILE_TESTS = ["test_sparse_structure.py", "test_mutated_files.py"]
# Python loads the instrumented core, so the sanitizer's runtime must be loaded before.
SANITIZERS = {
    "address": {
        "flags": "address,undefined",
        "runtimes": ["libasan.so", "libubsan.so", "libstdc++.so"],
        # Python itself leaks on purpose at exit.
        "options": {
            "ASAN_OPTIONS": "detect_leaks=0:allocator_may_return_null=1",  # as without it: Arrow handles that
            "UBSAN_OPTIONS": "halt_on_error=1:print_stacktrace=1",
            "ARROW_DEFAULT_MEMORY_POOL": "system",  # its blocks are known to the sanitizer
            "MUTATIONS": "200",
        },
        "tests": [*TESTS, *FILE_TESTS],
    },
    "thread": {
        "flags": "thread",
        "runtimes": ["libtsan.so", "libstdc++.so"],
        "options": {"TSAN_OPTIONS": f"halt_on_error=1:report_signal_unsafe=0:suppressions={SUPPRESSIONS}"},
        "tests": TESTS,
    },
}

# The editable installation would answer imports before any path is searched.
WITHOUT_EDITABLE = """
import sys
sys.meta_path[:] = [finder for finder in sys.meta_path if "ScikitBuild" not in type(finder).__name__]
"""


def runtime(name: str) -> str:
    compiler = os.environ.get("CXX", "g++")
    found = subprocess.run([compiler, f"-print-file-name={name}"], capture_output=True, text=True, check=True)
    return found.stdout.strip()


def build(name: str, flags: str) -> Path:
    target = ROOT / "build" / f"sanitized-{name}"
    shutil.rmtree(target, ignore_errors=True)
    install = [sys.executable, "-m", "pip", "install", "--quiet", "--no-build-isolation", "--no-deps"]
    install += ["--disable-pip-version-check", "--target", str(target), f"-Cbuild-dir=build/cmake-{name}"]
    subprocess.run([*install, f"-Ccmake.define.PIXELSNE_SANITIZE={flags}", str(ROOT)], check=True)
    (target / "sitecustomize.py").write_text(WITHOUT_EDITABLE, encoding="utf-8")
    return target


def run(name: str) -> None:
    sanitizer = SANITIZERS[name]
    target = build(name, sanitizer["flags"])
    environment = {
        **os.environ,
        **sanitizer["options"],
        "LD_PRELOAD": " ".join(runtime(library) for library in sanitizer["runtimes"]),
        "PYTHONPATH": str(target),
        "OPENBLAS_NUM_THREADS": "1",  # not under test
        "OMP_NUM_THREADS": "1",
    }
    where = "import pixelsne; print(pixelsne.__file__)"
    used = subprocess.run([sys.executable, "-c", where], env=environment, capture_output=True, text=True, check=True)
    if not used.stdout.strip().startswith(str(target)):
        raise SystemExit(f"the tests would run on {used.stdout.strip()}, not on the sanitized core")
    # The sanitizers do not support a forked child of a threaded program.
    tests = [str(ROOT / "tests" / test) for test in sanitizer["tests"]]
    command = [sys.executable, "-m", "pytest", "-x", "-n", "2", "-p", "no:cacheprovider"]
    command += ["-k", "not forked and not recall"]
    subprocess.run([*command, *tests], env=environment, cwd=ROOT, check=True)
    print(f"{name}: nothing found", flush=True)


if __name__ == "__main__":
    for chosen in sys.argv[1:] or SANITIZERS:
        run(chosen)
