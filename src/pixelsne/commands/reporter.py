"""Print messages, warnings and progress on stderr. Results go to stdout and files."""

import sys
import warnings
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

import click


@dataclass(frozen=True)
class Reporter:
    """Prints what a command does, as --quiet and --progress ask."""

    quiet: bool = False
    progress: bool = False  # even if stderr is not a terminal

    @property
    def is_verbose(self) -> bool:
        return not self.quiet and (self.progress or sys.stderr.isatty())

    def info(self, message: str) -> None:
        """Print a message if stderr is a terminal or --progress is set."""
        if self.is_verbose:
            click.echo(message, err=True)

    def warn(self, message: str) -> None:
        """Print a message unless --quiet is set."""
        if not self.quiet:
            click.echo(f"pixelsne: {message}", err=True)

    def listeners(self, stack: ExitStack) -> list[Callable[[Any], object]]:
        """Return the functions to call with each snapshot: the progress bar, or none."""
        if not self.is_verbose:
            return []
        from pixelsne.progress import progress  # noqa: PLC0415 - rich is slow to import

        return [stack.enter_context(progress()).show]

    def progress_of(self, description: str, stack: ExitStack) -> Callable[[float], None] | None:
        """Return the function to call with the finished fraction of a step after the fit, or None."""
        if not self.is_verbose:
            return None
        from pixelsne.progress import progress_of  # noqa: PLC0415 - as above

        return stack.enter_context(progress_of(description))

    def warnings_as_lines(self, stack: ExitStack) -> None:
        """Print each warning as one line, without its location in the code."""
        stack.enter_context(warnings.catch_warnings())
        warnings.simplefilter("always", UserWarning)
        warnings.showwarning = lambda message, *_, **__: self.warn(f"warning: {message}")
