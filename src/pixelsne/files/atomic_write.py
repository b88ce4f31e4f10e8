"""Files and folders that are complete or absent, whatever happens in between."""

import errno
import hashlib
import os
import re
import secrets
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from pixelsne.files.errors import FileError
from pixelsne.files.paths import check_special, target_of

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

OPEN_FILES = Path("/proc/self/fd")  # Linux: a name for what has none
NUMBER = re.compile("[0-9a-f]{16}")  # at the end of a hidden name
TIMES_CLEARED = 3
LONGEST_IN_HIDDEN = 200  # bytes of a name within a hidden one, which must fit into 255


@contextmanager
def atomic_write(path: Path) -> Iterator[IO[bytes]]:
    """A file to write, which takes the place of `path` once all is written, and leaves no trace otherwise.

    Where the system can do so, the file has no name before it is complete: a process killed while writing leaves
    nothing behind, either. A link stays, and the file it leads to is replaced. An OSError names `path`.
    """
    check_special(path)
    path = target_of(path)
    try:
        handle = open_unnamed(path.parent)
        if handle is None:
            with atomic_write_by_name(path) as file:
                yield file
            return
        with os.fdopen(handle, "w+b") as file:
            yield file
            flush(file)
            give_name(handle, path)
    except OSError as error:
        if error.filename is not None and error.errno != errno.ENOSPC:
            raise
        reason = error.strerror or f"{error} (is the disk full?)"
        raise OSError(error.errno or errno.EIO, reason, os.fspath(path)) from error


def open_unnamed(folder: Path) -> int | None:
    if not hasattr(os, "O_TMPFILE") or not OPEN_FILES.is_dir():
        return None
    try:
        return os.open(folder, os.O_TMPFILE | os.O_RDWR, 0o666)
    except OSError:  # not every file system has such files
        return None


def give_name(handle: int, path: Path) -> None:
    """One link where there is no file yet. A link cannot replace a file, but a second name can.

    A kill between these two steps leaves the second name behind. It is locked as long as its writer lives, so the next
    write knows whether to remove it.
    """
    folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
    source = OPEN_FILES / str(handle)
    try:
        # Only with folders given does Python ask the system to follow the first name to what it stands for.
        with suppress(FileExistsError):
            os.link(source, path.name, src_dir_fd=folder, dst_dir_fd=folder)
            return
        sweep(path)
        second = hidden_name(path)
        if fcntl is not None:
            fcntl.flock(handle, fcntl.LOCK_EX)
        os.link(source, second, src_dir_fd=folder, dst_dir_fd=folder)
        try:
            os.replace(second, path.name, src_dir_fd=folder, dst_dir_fd=folder)
        except BaseException:
            os.unlink(second, dir_fd=folder)
            raise
    finally:
        os.close(folder)


def sweep(path: Path) -> None:
    """Removes second names that killed writers of `path` have left: those that no process holds locked."""
    for left in hidden_ones(path):
        if fcntl is None or not left.is_file() or left.is_symlink():
            continue
        with suppress(OSError):  # locked, or gone already
            handle = os.open(left, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                left.unlink()
            finally:
                os.close(handle)


@contextmanager
def atomic_write_by_name(path: Path) -> Iterator[IO[bytes]]:
    handle, name = tempfile.mkstemp(prefix=hidden_prefix(path), dir=path.parent)
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
def atomic_directory(folder: Path) -> Iterator[Path]:
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


def hidden_prefix(path: Path) -> str:
    name = os.fsencode(path.name)
    short = path.name if len(name) <= LONGEST_IN_HIDDEN else hashlib.blake2b(name, digest_size=16).hexdigest()
    return f".{short}."


def hidden_name(path: Path) -> str:
    return hidden_prefix(path) + secrets.token_hex(8)


def hidden_ones(path: Path) -> list[Path]:
    """All hidden names of `path` beside it."""
    begin, there = hidden_prefix(path), path.parent.iterdir() if path.parent.is_dir() else ()
    return sorted(one for one in there if one.name.startswith(begin) and NUMBER.fullmatch(one.name[len(begin) :]))


def left_behind(folder: Path) -> list[Path]:
    """What kills have left of a folder; or what another process is writing now."""
    return [one for one in hidden_ones(folder) if one.is_dir()]


def flush(file: IO[bytes]) -> None:
    file.flush()
    os.fsync(file.fileno())


def current_umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
