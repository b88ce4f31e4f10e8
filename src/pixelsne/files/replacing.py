"""Files and folders that are complete or absent, whatever happens in between."""

import os
import re
import secrets
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from pixelsne.files.errors import FileError

OPEN_FILES = Path("/proc/self/fd")  # Linux: a name for what has none
NUMBER = re.compile("[0-9a-f]{16}")  # at the end of a hidden name
TIMES_CLEARED = 3


@contextmanager
def replacing(path: Path) -> Iterator[IO[bytes]]:
    """A file to write, which takes the place of `path` once all is written, and leaves no trace otherwise.

    Where the system can do so, the file has no name before it is complete: a process killed while writing leaves
    nothing behind, either.
    """
    handle = open_unnamed(path.parent)
    if handle is None:
        with replacing_by_name(path) as file:
            yield file
        return
    with os.fdopen(handle, "w+b") as file:
        yield file
        flush(file)
        give_name(handle, path)


def open_unnamed(folder: Path) -> int | None:
    if not hasattr(os, "O_TMPFILE") or not OPEN_FILES.is_dir():
        return None
    try:
        return os.open(folder, os.O_TMPFILE | os.O_RDWR, 0o666)
    except OSError:  # not every file system has such files
        return None


def give_name(handle: int, path: Path) -> None:
    """A link cannot take the place of another file, but a second name can."""
    second = hidden_name(path)
    folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
    try:
        # Only with folders given does Python ask the system to follow the first name to what it stands for.
        os.link(OPEN_FILES / str(handle), second, src_dir_fd=folder, dst_dir_fd=folder)
        try:
            os.replace(second, path.name, src_dir_fd=folder, dst_dir_fd=folder)
        except BaseException:
            os.unlink(second, dir_fd=folder)
            raise
    finally:
        os.close(folder)


@contextmanager
def replacing_by_name(path: Path) -> Iterator[IO[bytes]]:
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=path.suffix, dir=path.parent)
    try:
        with os.fdopen(handle, "w+b") as file:
            yield file
            flush(file)
        os.chmod(name, 0o666 & ~current_umask())  # noqa: PTH101 - mkstemp lets nobody else read
        os.replace(name, path)  # noqa: PTH105
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


@contextmanager
def appearing(folder: Path) -> Iterator[Path]:
    """A folder to write into, which becomes `folder` once all is written, and leaves no trace otherwise.

    It has a hidden name before, which only a kill leaves behind: `left_behind` finds it.
    """
    hidden, complete = folder.with_name(hidden_name(folder)), False
    hidden.mkdir()
    try:
        yield hidden
        complete = True
        hidden.rename(folder)
    except BaseException as error:
        if complete and isinstance(error, OSError):  # work is not thrown away because somebody took its name
            raise FileError(folder, f"cannot be made: {error.strerror}; its files are in {hidden}") from None
        clear(hidden)
        raise


def clear(folder: Path) -> None:
    """Whoever still writes there finds no folder any more, and fails; but a file may come while others go."""
    for _ in range(TIMES_CLEARED):
        shutil.rmtree(folder, ignore_errors=True)


def hidden_name(path: Path) -> str:
    return f".{path.name}.{secrets.token_hex(8)}"


def left_behind(folder: Path) -> list[Path]:
    """What kills have left of it; or what another process is writing now."""
    begin, there = f".{folder.name}.", folder.parent.iterdir() if folder.parent.is_dir() else ()
    named = [one for one in there if one.name.startswith(begin) and NUMBER.fullmatch(one.name[len(begin) :])]
    return sorted(one for one in named if one.is_dir())


def flush(file: IO[bytes]) -> None:
    file.flush()
    os.fsync(file.fileno())


def current_umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
