"""Errors about files, each with a message of one line."""

import os


class FileError(ValueError):
    """Raised for a file that cannot be used. The message names the file and, in a table, the column and row."""

    def __init__(self, path: str | os.PathLike[str], problem: str) -> None:
        problem = printable(problem)
        super().__init__(f"{os.fspath(path)}: {problem}")
        self.path, self.problem = os.fspath(path), problem

    def __reduce__(self) -> tuple[type["FileError"], tuple[str, str]]:
        """Pickle both arguments: Exception would pass only the message to a constructor that takes two."""
        return type(self), (self.path, self.problem)


class NoColumnError(FileError):
    """Raised for a table that lacks a requested column."""


def not_a_map(path: str | os.PathLike[str], reason: str) -> FileError:
    """Return the error for a file that was passed as a map, but is none."""
    remedy = f"make a map of it with `pixelsne embed {os.fspath(path)} -o map.parquet`"
    return FileError(path, f"is no map: {reason}; {remedy}")


def printable(text: str) -> str:
    """Return the text in one line, with control characters escaped: column names may hold line ends or ANSI codes."""
    return "".join(character if character.isprintable() else ascii(character)[1:-1] for character in text)


def first_line(error: BaseException) -> str:
    """Return the first line of an error's message, at most 200 characters, or its class name if it has no message."""
    return (str(error).splitlines() or [type(error).__name__])[0][:200]
