"""What can be wrong with a file, told in one line."""

import os


class FileError(ValueError):
    """A file is not what it should be. The message names it, and the column and row where there are some."""

    def __init__(self, path: str | os.PathLike[str], problem: str) -> None:
        super().__init__(f"{os.fspath(path)}: {problem}")
