"""Messages, warnings and progress on stderr. Results go to stdout and files."""

import sys
import warnings
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

import click


@dataclass(frozen=True)
class Reporter:
    quiet: bool = False
    progress: bool = False  # also if stderr is no terminal

    @property
    def is_verbose(self) -> bool:
        return not self.quiet and (self.progress or sys.stderr.isatty())

    def info(self, message: str) -> None:
        """Print a message for people at a terminal."""
        if self.is_verbose:
            click.echo(message, err=True)

    def warn(self, message: str) -> None:
        """Print a message unless --quiet is given."""
        if not self.quiet:
            click.echo(f"pixelsne: {message}", err=True)

    def listeners(self, stack: ExitStack) -> list[Callable[[Any], object]]:
        if not self.is_verbose:
            return []
        from pixelsne.progress import progress  # noqa: PLC0415 - rich is slow to import

        return [stack.enter_context(progress()).show]

    def warnings_as_lines(self, stack: ExitStack) -> None:
        """Print warnings as one line, without the place in the code that raised them."""
        stack.enter_context(warnings.catch_warnings())
        warnings.simplefilter("always", UserWarning)
        warnings.showwarning = lambda message, *_, **__: self.warn(f"warning: {message}")
