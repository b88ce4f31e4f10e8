"""The pages are correct: their Python runs, their commands exist, their links lead to files, and the site builds."""

import ast
import os
import re
import shlex
import signal
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import click
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from sklearn.datasets import load_digits

from pixelsne.cli import main

ROOT = Path(__file__).parents[1]
README = ROOT / "README.md"
PAGES = [README, *sorted(ROOT.glob("docs/**/*.md"))]
FENCED = re.compile(r"^```(\w*)\n(.*?)^```", re.DOTALL | re.MULTILINE)
LINK = re.compile(r"\]\(([^)#\s]+)(#[^)\s]*)?\)")
ROWS = 400  # rows of the table that represents the reader's data

pytestmark = pytest.mark.skipif(not (ROOT / "docs" / "index.md").exists(), reason="no pages here: not a clone")


def name_of(page):
    return str(page.relative_to(ROOT))


def blocks(page, language):
    return [text for kind, text in FENCED.findall(page.read_text(encoding="utf-8")) if kind == language]


def commands(page):
    lines = [line for text in blocks(page, "") for line in text.splitlines()]
    return [line.split("    #")[0].strip() for line in lines if re.match(r"(pixelsne|python|pip|make) ", line)]


@pytest.fixture
def readers_folder(tmp_path, monkeypatch):
    """A working directory with files of the names that pages use."""
    values, labels = load_digits(return_X_y=True)
    values_of_rows = values[:ROWS].astype(np.float32)
    columns = {f"gene{number}": values_of_rows[:, number] for number in range(values_of_rows.shape[1])}
    table = pa.table({**columns, "type": pa.array([f"type {label}" for label in labels[:ROWS]]), "age": labels[:ROWS]})
    pq.write_table(table, tmp_path / "cells.parquet")
    pq.write_table(table.slice(0, 50), tmp_path / "new.parquet")
    np.save(tmp_path / "vectors.npy", values_of_rows)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("BROWSER", "true")  # a program that shows nothing
    return tmp_path


@pytest.mark.slow
@pytest.mark.usefixtures("readers_folder")
@pytest.mark.parametrize("page", [page for page in PAGES if blocks(page, "python")], ids=name_of)
def test_the_python_of_a_page_runs(page):
    texts = blocks(page, "python")
    for package in sorted({"scanpy", "dask"} & imported(texts)):
        pytest.importorskip(package)
    namespace = {}
    for text in texts:
        exec(compile(text, page.name, "exec"), namespace)  # noqa: S102 - our own pages


@pytest.mark.slow
@pytest.mark.usefixtures("readers_folder")
def test_the_accuracy_promised_by_the_readme_holds():
    namespace = {}
    exec(blocks(README, "python")[0], namespace)  # noqa: S102
    assert namespace["embedding"].shape == (1797, 2)
    assert namespace["quality"].knn_accuracy(namespace["embedding"], namespace["labels"], k=10) > 0.975


def imported(texts):
    """Return the top-level packages that are imported."""
    nodes = [node for text in texts for node in ast.walk(ast.parse(text))]
    plain = [alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names]
    named = [node.module or "" for node in nodes if isinstance(node, ast.ImportFrom)]
    return {name.split(".")[0] for name in plain + named}


@pytest.mark.parametrize("page", [page for page in PAGES if commands(page)], ids=name_of)
def test_the_commands_of_a_page_have_known_options(page):
    """The command's parser accepts every option."""
    for line in commands(page):
        program, name, *arguments = shlex.split(line)
        if program == "pixelsne" and not name.startswith("-"):
            command = main.commands[name]
            command.make_parser(click.Context(command)).parse_args(arguments)


def test_the_readme_is_short():
    text = README.read_text(encoding="utf-8")
    assert text.index("```python") < 1500
    assert "make demo" in commands(README)
    assert "make test" in commands(README)


def run(line, folder):
    """Run a command of the README as a reader would, with the programs of this environment."""
    bin_folder = Path(sys.executable).parent
    environment = {**os.environ, "PATH": f"{bin_folder}{os.pathsep}{os.environ['PATH']}"}
    words = shlex.split(line)
    if words[0] == "make":  # `make test` runs this test
        words = ["make", "--dry-run", words[1]]
    if words[:2] == ["pip", "install"] and find_spec("scikit_build_core") is None:
        return subprocess.CompletedProcess(words, 0)  # this tests a wheel where nothing can be built
    if words[:2] == ["pip", "install"]:  # the requirement is found and resolved
        words = [sys.executable, "-m", "pip", "install", "--dry-run", "--no-deps", "--no-build-isolation", *words[2:]]
    if words[:2] == ["pixelsne", "view"]:
        return view(words, folder, environment)
    return subprocess.run(words, cwd=folder, env=environment, capture_output=True, text=True, timeout=300, check=False)


def view(words, folder, environment):
    """Start the page's server, read its address, and stop it."""
    with subprocess.Popen(
        words, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as server:
        first_line = server.stdout.readline()
        assert "http://127.0.0.1" in first_line
        server.send_signal(signal.SIGINT)
        _, errors = server.communicate(timeout=60)
    return subprocess.CompletedProcess(
        words, 0 if server.returncode in {0, 130} else server.returncode, first_line, errors
    )


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="make and signals")
def test_every_command_of_the_readme_runs(readers_folder):
    """`make` and `pip install` are dry runs here; CI runs them."""
    ran = []
    for line in commands(README):
        inside = line.startswith("pixelsne ")
        done = run(line, readers_folder if inside else ROOT)
        assert done.returncode == 0, (line, done.stderr[-2000:])
        ran.append(line)
    assert len(ran) >= 9
    assert (readers_folder / "map.png").stat().st_size > 1000
    assert (readers_folder / "new-map.parquet").exists()


@pytest.mark.parametrize("page", [*PAGES, *sorted(ROOT.glob("*.md")), ROOT / "experiments/README.md"], ids=name_of)
def test_links_lead_to_files(page):
    for target, _ in LINK.findall(page.read_text(encoding="utf-8")):
        if not re.match(r"[a-z]+:", target):
            assert (page.parent / target).exists(), target


def test_functions_named_on_the_algorithm_page_exist():
    page = ROOT / "docs" / "algorithm.md"
    rows = [line for line in page.read_text(encoding="utf-8").splitlines() if line.startswith("|") and "](" in line]
    assert len(rows) > 10
    for row in rows:
        where, reference = row.split(" | ")[-2:]
        for function, target in re.findall(r"`(\w+)` in \[[^]]*\]\(([^)]*)\)", where):
            assert re.search(rf"(def|class) {function}\b", (page.parent / target).read_text(encoding="utf-8")), function
        for function in re.findall(r"`(\w+)`", reference):
            assert re.search(rf"(def|class) {function}\b", (ROOT / "tests/reference.py").read_text("utf-8")), function


@pytest.mark.slow
def test_the_first_example_of_the_gallery_runs(tmp_path):
    picture = tmp_path / "digits.png"
    program = ROOT / "docs/examples/digits.py"
    subprocess.run([sys.executable, program, picture], check=True, capture_output=True)
    assert picture.read_bytes().startswith(b"\x89PNG")


# Data of the other examples, which drew the committed pictures.
DATA = {
    "mnist": "mnist.npz",
    "faces": "facexp.npz",
    "headlines": "newsagg_minilm.npz newsagg.texts.jsonl.gz",
    "reviews": "reviews1m.npz",
    "words": "news20.texts.jsonl.gz",
}


@pytest.mark.skipif("PIXELSNE_GALLERY" not in os.environ, reason="needs data: PIXELSNE_GALLERY=folder")
@pytest.mark.parametrize("name", DATA)
def test_an_example_of_the_gallery_runs(name, tmp_path):
    picture = tmp_path / f"{name}.png"
    data = [Path(os.environ["PIXELSNE_GALLERY"]) / file for file in DATA[name].split()]
    subprocess.run([sys.executable, ROOT / f"docs/examples/{name}.py", picture, *data], check=True, capture_output=True)
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_every_example_is_in_the_gallery():
    shown = (ROOT / "docs/gallery.md").read_text(encoding="utf-8")
    for program in (ROOT / "docs/examples").glob("*.py"):
        assert f"literalinclude}} examples/{program.name}" in shown
        assert (ROOT / "docs/gallery" / f"{program.stem}.png").exists()


@pytest.mark.slow
def test_the_site_builds_without_warnings(tmp_path):
    pytest.importorskip("sphinx")
    command = [
        sys.executable,
        "-m",
        "sphinx",
        "--fail-on-warning",
        "--quiet",
        "-c",
        "docs",
        ".",
        str(tmp_path / "site"),
    ]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    for page in (
        "index.html",
        "docs/index.html",
        "docs/api.html",
        "docs/commands.html",
        "benchmarks/results/memory.html",
    ):
        assert (tmp_path / "site" / page).exists()
    reference = (tmp_path / "site/docs/api.html").read_text(encoding="utf-8")
    assert "early_exaggeration" in reference
    assert "--perplexity" in (tmp_path / "site/docs/commands.html").read_text(encoding="utf-8")
