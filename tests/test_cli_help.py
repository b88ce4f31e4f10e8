"""Help texts of the command line, their page in docs/, and completion."""

import os
import re
import subprocess
import sys
from pathlib import Path

import click
import pytest

from command_line import run
from pixelsne import PixelSNE, choices, settings
from pixelsne.cli import main
from pixelsne.neighbors import SEARCHES
from pixelsne.repulsion import METHODS
from pixelsne.spaces import SPACES

ROOT = Path(__file__).parents[1]
DOCUMENTED = (ROOT / "docs" / "command-line.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(("name", "command"), list(main.commands.items()))
def test_every_command_and_option_has_help_and_an_example(name, command):
    text = run(name, "--help").stdout
    assert f"\n  pixelsne {name} " in text.split("Options:")[0].split("Usage:")[1], "no example"
    for option in command.params:
        if isinstance(option, click.Option):
            assert option.help, option.name


def section_of(name):
    return re.search(rf"^## `pixelsne {name}.*?(?=^## |\Z)", DOCUMENTED, re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize(("name", "command"), list(main.commands.items()))
def test_every_command_and_option_is_documented(name, command):
    section = section_of(name)
    assert section, f"docs/command-line.md has no section on {name}"
    shared = re.search(r"^## Options of several commands.*?(?=^## )", DOCUMENTED, re.MULTILINE | re.DOTALL)[0]
    known = {flag for option in command.params if isinstance(option, click.Option) for flag in option.opts}
    for flag in known:
        assert f"`{flag}" in section[0] + shared, f"{flag} of {name} is not documented"
    for flag in re.findall(r"^\| `(--?[a-z-]+)", section[0], re.MULTILINE):
        assert flag in known, f"{flag} of {name} is documented, but unknown"


def test_choices_are_those_of_the_estimator():
    assert set(choices.METRICS) == set(SPACES)
    assert ("auto", *SEARCHES) == choices.SEARCHES
    assert ("auto", *METHODS) == choices.REPULSIONS
    assert tuple(settings.PRESETS) == choices.PRESETS


def test_documented_defaults_are_those_of_the_estimator():
    parameters = PixelSNE().get_params()
    for option in main.commands["embed"].params:
        documented = re.search(r"\[default: (\S+)\]", option.help or "") if isinstance(option, click.Option) else None
        if documented is not None:
            assert str(parameters[option.name]) in {documented[1], f"{documented[1]}.0"}, option.name


def test_version_and_completion():
    assert "pixelsne, version" in run("--version").stdout
    program = Path(sys.executable).with_name("pixelsne")
    environment = {**os.environ, "_PIXELSNE_COMPLETE": "bash_source"}
    shown = subprocess.run([program], env=environment, capture_output=True, text=True, check=True)
    assert "complete" in shown.stdout
    environment = {**os.environ, "_PIXELSNE_COMPLETE": "bash_complete"}
    environment |= {"COMP_WORDS": "pixelsne embed --neighbors r", "COMP_CWORD": "3"}
    shown = subprocess.run([program], env=environment, capture_output=True, text=True, check=True)
    assert "rp-forest" in shown.stdout


def test_help_imports_no_slow_module():
    code = (
        "import sys; from pixelsne.cli import main\n"
        "try: main(['embed', '--help'])\n"
        "except SystemExit: pass\n"
        "slow = ('numpy', 'scipy', 'sklearn', 'pyarrow', 'rich', 'matplotlib')\n"
        "print([name for name in slow if name in sys.modules])"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.splitlines()[-1] == "[]"
