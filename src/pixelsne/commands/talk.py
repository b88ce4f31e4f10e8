"""What is told on stderr. Results go to stdout and files."""

import sys
import warnings
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

import click


@dataclass(frozen=True)
class Talk:
    quiet: bool = False
    progress: bool = False  # also where stderr is no terminal

    @property
    def is_chatty(self) -> bool:
        return not self.quiet and (self.progress or sys.stderr.isatty())

    def say(self, message: str) -> None:
        """For people who watch."""
        if self.is_chatty:
            click.echo(message, err=True)

    def tell(self, message: str) -> None:
        """What must not be missed."""
        if not self.quiet:
            click.echo(f"pixelsne: {message}", err=True)

    def listeners(self, stack: ExitStack) -> list[Callable[[Any], object]]:
        if not self.is_chatty:
            return []
        from pixelsne.progress import progress  # noqa: PLC0415 - rich is slow to import

        return [stack.enter_context(progress()).show]

    def warnings_as_lines(self, stack: ExitStack) -> None:
        """Where in our code a warning comes from is of no use to somebody at a shell."""
        stack.enter_context(warnings.catch_warnings())
        warnings.simplefilter("always", UserWarning)
        warnings.showwarning = lambda message, *_, **__: self.tell(f"warning: {message}")
