"""What holds the package together: versions, stubs, imports."""

import ast
import doctest
import importlib.metadata
import re
import subprocess
import sys
from pathlib import Path

import pixelsne
from pixelsne import _core, estimator

ROOT = Path(__file__).parents[1]


def test_one_version():
    assert importlib.metadata.version("pixelsne") == pixelsne.__version__
    assert f'version: "{pixelsne.__version__}"' in (ROOT / "CITATION.cff").read_text()
    assert f"## {pixelsne.__version__}" in (ROOT / "CHANGELOG.md").read_text()


def test_the_stub_names_what_the_core_has():
    stub = ast.parse((ROOT / "src/pixelsne/_core.pyi").read_text())
    named = {node.name: node for node in stub.body if isinstance(node, ast.FunctionDef | ast.ClassDef)}
    public = {name for name in dir(_core) if not name.startswith("_")}
    assert public == set(named) | {"instruction_set"}
    for name, node in named.items():
        if isinstance(node, ast.ClassDef) and name != "Cancelled":
            members = {member.name for member in node.body if isinstance(member, ast.FunctionDef)}
            assert {member for member in dir(getattr(_core, name)) if not member.startswith("_")} == members - {
                "__init__"
            }


def test_public_names_exist():
    for name in pixelsne.__all__:
        assert hasattr(pixelsne, name)
    assert pixelsne.quality.knn_accuracy
    assert {"PixelSNE", "quality"} <= set(dir(pixelsne))


def test_import_is_light():
    heavy = ["sklearn", "matplotlib", "rich", "scipy"]
    code = f"import sys, pixelsne; print(any(name in sys.modules for name in {heavy}))"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "False"


def test_the_readme_runs(tmp_path, monkeypatch):
    """Its Python, and its two commands exist."""
    monkeypatch.chdir(tmp_path)
    text = (ROOT / "README.md").read_text()
    namespace = {}
    for block in re.findall(r"```python\n(.*?)```", text, re.DOTALL):
        exec(block, namespace)  # noqa: S102 - our own words
    assert namespace["screen"].shape == (1797, 2)
    assert namespace["quality"].knn_accuracy(namespace["screen"], namespace["labels"], k=10) > 0.975
    makefile = (ROOT / "Makefile").read_text()
    for command in ("demo", "test"):
        assert f"make {command}" in text
        assert f"\n{command}:" in makefile


def test_the_docstrings_run():
    for module in (pixelsne, estimator):
        results = doctest.testmod(module)
        assert results.attempted > 0
        assert results.failed == 0
