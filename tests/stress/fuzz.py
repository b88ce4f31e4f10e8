"""Fuzz every reader, models and checkpoints, guided by coverage: `fuzz.py [seconds] [kind ...]`.

Atheris instruments pixelsne and searches for inputs that reach new code. Files with checksums are mutated inside. A
crash, a hang or an error without a message ends the search and leaves its input in build/fuzz. Add the input to
tests/files/regressions when the bug is fixed.
"""

import gc
import shutil
import subprocess
import sys
import tempfile
from contextlib import ExitStack
from importlib import import_module
from pathlib import Path
from types import FunctionType

TESTS = Path(__file__).parents[1]
WORK = TESTS.parent / "build" / "fuzz"
SECONDS = 600
READ_TIMEOUT = 300  # on a loaded machine; more is a hang. HDF5 is stopped after 30 s of CPU time
MAX_MEGABYTES = 4096
MAX_INPUT_BYTES = 65_536


def fuzz(kind, arguments):
    """Fuzz in this process, which libFuzzer ends."""
    import atheris  # noqa: PLC0415 - an optional dependency

    sys.path.insert(0, str(TESTS))
    from hdf5_forks import forked_readers  # noqa: PLC0415
    from mutations import damaged, try_content  # noqa: PLC0415

    for module in ("arrow_format", "csv_format", "h5ad_format", "numpy_format"):
        import_module(f"pixelsne.files.{module}")
    for function in gc.get_objects():  # import hooks miss a package that is installed in editable form
        if isinstance(function, FunctionType) and str(function.__module__).startswith("pixelsne."):
            atheris.instrument_func(function)
    import numpy as np  # noqa: PLC0415

    def mutate(content, max_size, seed):
        random = np.random.default_rng(seed)
        changed = damaged(content, random) if random.integers(2) else atheris.Mutate(content, max_size)
        return bytes(changed[:max_size])

    stack = ExitStack()
    folder = stack.enter_context(tempfile.TemporaryDirectory())
    if kind == "h5ad":
        stack.enter_context(forked_readers())
    atheris.Setup([sys.argv[0], *arguments], lambda content: try_content(kind, content, folder), custom_mutator=mutate)
    atheris.Fuzz()


def run(kind, seconds):
    """Fuzz in a separate process and return its exit code."""
    sys.path.insert(0, str(TESTS))
    from mutations import seeds  # noqa: PLC0415 - slow to import

    found, corpus = WORK / "found", WORK / kind
    found.mkdir(parents=True, exist_ok=True)
    corpus.mkdir(exist_ok=True)
    for seed in seeds(kind):
        shutil.copy(seed, corpus / seed.name)
    limits = [f"-max_total_time={seconds}", f"-timeout={READ_TIMEOUT}", f"-rss_limit_mb={MAX_MEGABYTES}"]
    options = [*limits, f"-max_len={MAX_INPUT_BYTES}", f"-artifact_prefix={found}/{kind}-", "-print_final_stats=1"]
    command = [sys.executable, __file__, "--inside", kind, str(corpus), *options]
    return subprocess.run(command, check=False).returncode


def main(arguments):
    sys.path.insert(0, str(TESTS))
    from mutations import TARGETS  # noqa: PLC0415 - slow to import

    seconds = int(arguments[0]) if arguments else SECONDS
    kinds = arguments[1:] or list(TARGETS)
    failed = [kind for kind in kinds if run(kind, seconds) != 0]
    print(
        f"fuzzed {', '.join(kinds)}, {seconds} s each: "
        + (f"failed: {', '.join(failed)}" if failed else "nothing found")
    )
    return 1 if failed else 0


if __name__ == "__main__":
    if sys.argv[1:2] == ["--inside"]:
        fuzz(sys.argv[2], sys.argv[3:])
    else:
        sys.exit(main(sys.argv[1:]))
