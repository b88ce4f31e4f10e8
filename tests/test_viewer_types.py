"""The page's modules, checked by TypeScript, and what the page and Python must agree on."""

import os
import re
import shutil
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

import pytest

from pixelsne.coloring import GRAY, PALETTE
from pixelsne.viewer.export import standalone
from pixelsne.viewer.files import IMPORT, concatenate, static_files
from pixelsne.viewer.layout import QUANTIZATION_LEVELS, Page

TYPESCRIPT = "typescript@7.0.2"
STATIC = Path(__file__).parents[1] / "src" / "pixelsne" / "viewer" / "static"


@pytest.fixture(scope="module")
def compiler():
    """Return TypeScript's compiler; it is fetched once, into the environment of the tests."""
    npm = shutil.which("npm")
    if npm is None:
        if os.environ.get("PIXELSNE_CI"):
            pytest.fail("CI has no npm")
        pytest.skip("no npm on this machine, and so no TypeScript")
    folder = Path(sys.prefix) / "typescript"
    program = folder / "node_modules" / ".bin" / "tsc"
    if not program.exists():
        folder.mkdir(exist_ok=True)
        fetched = subprocess.run(
            [npm, "install", "--no-audit", "--no-fund", "--prefix", str(folder), TYPESCRIPT],
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        if fetched.returncode != 0 and not os.environ.get("PIXELSNE_CI"):
            pytest.skip(f"TypeScript could not be fetched: {fetched.stderr[-200:]}")
        assert fetched.returncode == 0, fetched.stderr
    return program


@pytest.mark.slow
def test_types(compiler):
    options = ["--noEmit", "--allowJs", "--checkJs", "--strict", "--noUnusedLocals", "--noUnusedParameters"]
    options += ["--target", "es2022", "--module", "es2022", "--lib", "es2023,dom,dom.iterable"]
    files = sorted(map(str, STATIC.glob("*.js")))
    result = subprocess.run([compiler, *options, *files], capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stdout


def test_colors_are_those_of_the_pictures():
    text = static_files()["colors.js"].decode()
    palette = re.search(r"PALETTE = \[(.*?)\]", text, re.DOTALL)[1]
    assert tuple(re.findall(r"#[0-9a-f]{6}", palette)) == PALETTE
    assert re.search(r'GRAY = "(.*?)"', text)[1] == GRAY


def test_coordinates_are_quantized_alike():
    assert f"QUANTIZATION_LEVELS = {QUANTIZATION_LEVELS};" in static_files()["scene.js"].decode()


def test_points_have_the_size_and_opacity_of_the_pictures():
    raster = pytest.importorskip("pixelsne.raster")
    text = static_files()["point_style.js"].decode()
    number = r"([\d.]+)"
    for pattern, expected in {
        f"DIAMETER_PER_SPACING = {number};": (raster.DIAMETER_PER_SPACING,),
        rf"\[MIN_DIAMETER, MAX_DIAMETER\] = \[{number}, {number}\];": (
            raster.MIN_DIAMETER,
            raster.MAX_DIAMETER,
        ),
        rf"\[OPAQUE_SPACING, OPACITY_POWER\] = \[{number}, {number}\];": (raster.OPAQUE_SPACING, raster.OPACITY_POWER),
        f"OPACITY_AT_OPAQUE_SPACING = {number};": (raster.OPACITY_AT_OPAQUE_SPACING,),
        rf"\[FAINTEST, STRONGEST\] = \[{number}, {number}\];": (raster.FAINTEST, raster.STRONGEST),
    }.items():
        assert tuple(map(float, re.search(pattern, text).groups())) == expected


def test_every_module_is_in_the_file():
    files = {name: content.decode() for name, content in static_files().items()}
    text = concatenate(files, "main.js")
    assert not IMPORT.search(text)
    assert "export " not in re.sub(r"//.*|/\*.*?\*/", "", text, flags=re.DOTALL)
    modules = {name for name in files if name.endswith(".js")} - {"enter.js"}
    for name in modules:
        first = next(line for line in files[name].splitlines() if line.startswith("// "))
        assert first in text, f"{name} is missing"


def test_no_name_is_in_two_modules():
    """All modules are concatenated into one script."""
    modules = defaultdict(list)
    for name, content in static_files().items():
        if name.endswith(".js") and name != "enter.js":
            for found in re.findall(
                r"^(?:export )?(?:async )?(?:function|class|const|let) (\w+)", content.decode(), re.MULTILINE
            ):
                modules[found].append(name)
    assert len(modules) > 200
    assert not {name: files for name, files in modules.items() if len(files) > 1}


def test_a_file_that_holds_markup_only_as_data():
    hostile = "</script><script>alert(1)</script>"
    text = standalone(Page(hostile, (10, 10), 0))
    assert hostile not in text
    assert text.count("<script") == text.count("</script>")
    assert "http://" not in text.replace("http://www.w3.org", "")
    assert "https://" not in text
