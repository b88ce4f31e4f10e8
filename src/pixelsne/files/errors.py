"""What can be wrong with a file, told in one line."""

import os


class FileError(ValueError):
    """A file is not what it should be. The message names it, and the column and row where there are some."""

    def __init__(self, path: str | os.PathLike[str], problem: str) -> None:
        problem = printable(problem)
        super().__init__(f"{os.fspath(path)}: {problem}")
        self.path, self.problem = os.fspath(path), problem

    def __reduce__(self) -> tuple[type["FileError"], tuple[str, str]]:
        """As it was made: Exception would give back one argument, the message, to a class that takes two."""
        return type(self), (self.path, self.problem)


class NoColumnError(FileError):
    """A table has not the column that was asked for."""


def no_map(path: str | os.PathLike[str], reason: str) -> FileError:
    """Return the error of a file that was taken for a map."""
    remedy = f"make a map of it with `pixelsne embed {os.fspath(path)} -o map.parquet`"
    return FileError(path, f"is no map: {reason}; {remedy}")


def printable(text: str) -> str:
    """One line: what a file calls its columns may hold line ends, or commands for a terminal."""
    return "".join(letter if letter.isprintable() else ascii(letter)[1:-1] for letter in text)


def first_words(error: BaseException) -> str:
    """One line of an error's message, not too long; its name if it has no message."""
    return (str(error).splitlines() or [type(error).__name__])[0][:200]
