"""Files that are complete or absent, whatever happens in between."""

import os
import secrets
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

OPEN_FILES = Path("/proc/self/fd")  # Linux: a name for what has none


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
    second = f".{path.name}.{secrets.token_hex(8)}"
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


def flush(file: IO[bytes]) -> None:
    file.flush()
    os.fsync(file.fileno())


def current_umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
