"""Runs commands in this process."""

from click.testing import CliRunner

from pixelsne.cli import main

QUICK = ["--perplexity", "10", "--max-iter", "60", "--quiet"]


def run(*arguments, expect=0):
    result = CliRunner().invoke(main, [str(argument) for argument in arguments])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code == expect, result.output
    return result
