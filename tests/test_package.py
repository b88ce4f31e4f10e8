"""Consistency of the package: versions, examples, imports."""

import doctest
import importlib
import importlib.metadata
import pkgutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import pixelsne
from pixelsne import descent_loop, distributed, estimator, quality, screen, seeds, viewer

ROOT = Path(__file__).parents[1]


def test_the_version_is_the_same_everywhere():
    assert importlib.metadata.version("pixelsne") == pixelsne.__version__
    assert f'version: "{pixelsne.__version__}"' in (ROOT / "CITATION.cff").read_text()
    assert f"## {pixelsne.__version__}" in (ROOT / "CHANGELOG.md").read_text()


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


def modules():
    """Return every module of the package except __main__."""
    found = pkgutil.walk_packages(pixelsne.__path__, "pixelsne.")
    return [module.name for module in found if not module.name.endswith("__main__")]


@pytest.mark.parametrize("name", modules())
def test_examples_in_docstrings_run(name):
    assert doctest.testmod(importlib.import_module(name)).failed == 0


def test_there_are_examples_in_docstrings():
    assert doctest.testmod(estimator).attempted > 0
    assert doctest.testmod(quality).attempted > 0


def public_functions():
    """Return what users call, with its dotted name."""
    classes = [estimator.PixelSNE, seeds.SeedReport, screen.Screen, descent_loop.Snapshot, viewer.View]
    methods = [(f"{one.__name__}.{name}", vars(one)[name]) for one in classes for name in vars(one)]
    modules = (pixelsne, quality, viewer, distributed)
    functions = [(f"{one.__name__}.{name}", getattr(one, name)) for one in modules for name in one.__all__]
    return [(name, one) for name, one in methods + functions if not name.split(".")[-1].startswith("_")]


@pytest.mark.parametrize(("name", "one"), [pair for pair in public_functions() if callable(pair[1])])
def test_public_functions_have_docstrings(name, one):
    assert one.__doc__, name


def test_the_page_needs_no_extra():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    needed = {text.partition(">=")[0] for text in project["dependencies"]}
    assert needed >= {"starlette", "uvicorn", "websockets"}
    assert project["optional-dependencies"]["viewer"] == []
