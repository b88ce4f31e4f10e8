"""Run all tests with the oldest or the newest dependencies that pyproject.toml allows: `bounds.py lowest | highest`.

Further arguments go to pytest. The environment is created anew in build/.
"""

import os
import subprocess
import sys
import tomllib
from pathlib import Path

from packaging.requirements import Requirement

ROOT = Path(__file__).parents[1]
ENDS = ("lowest", "highest")


def requirements() -> list[Requirement]:
    """Return the requirements of the package, of its extras for users and of its build, without the package itself."""
    document = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    extras = document["project"]["optional-dependencies"]
    users = [name for name in extras if name not in {"bench", "dev", "docs", "experiments"}]
    texts = [*document["build-system"]["requires"], *document["project"]["dependencies"]]
    texts += [text for name in users for text in extras[name]]
    return [requirement for requirement in map(Requirement, texts) if requirement.name != "pixelsne"]


def lowest(requirement: Requirement) -> str:
    """Return the constraint that pins a requirement to its lower bound."""
    (bound,) = (part.version for part in requirement.specifier if part.operator == ">=")
    return f"{requirement.name}=={bound}"


def main() -> None:
    if len(sys.argv) < 2 or sys.argv[1] not in ENDS:
        raise SystemExit(f"usage: bounds.py {' | '.join(ENDS)}")
    end = sys.argv[1]
    folder = ROOT / "build" / end
    subprocess.run([sys.executable, "-m", "venv", "--clear", folder], check=True)
    python = folder / "bin" / "python"
    bounds = folder / "bounds.txt"
    bounds.write_text("\n".join(map(lowest, requirements())) + "\n" if end == "lowest" else "", encoding="utf-8")

    def install(*packages: str) -> None:
        command = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--constraint", bounds]
        subprocess.run([*command, *packages], check=True)

    install("scikit-build-core", "nanobind", "cmake", "ninja")
    install("--no-build-isolation", f"--config-settings=build-dir={folder / 'cmake'}", f"{ROOT}[test]")
    subprocess.run([python, "-m", "pip", "list", "--disable-pip-version-check"], check=True)
    tests = sys.argv[2:] or ["-n", "2", "--dist", "loadfile"]
    sys.exit(subprocess.run([python, "-m", "pytest", *tests], check=False, cwd=ROOT, env=os.environ).returncode)


if __name__ == "__main__":
    main()
