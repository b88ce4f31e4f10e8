"""Write files and folders atomically: a crash leaves either the old content or the new one."""

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

OPEN_FILES = Path("/proc/self/fd")  # Linux: paths of open files, also of those without a name
TOKEN = re.compile("[0-9a-f]{16}")  # suffix of a hidden name
REMOVAL_ATTEMPTS = 3
MAX_STEM_BYTES = 200  # bytes of the original name in a hidden name, which may have 255 in total


@contextmanager
def atomic_write(path: Path) -> Iterator[IO[bytes]]:
    """Open a file for writing that replaces `path` when the block ends, and is discarded if the block raises.

    Where the operating system allows it, the file has no name until it is complete, so that a killed process leaves
    nothing behind. A symbolic link is kept, and its target is replaced. An OSError about the
    file names `path`, not a hidden name.
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
            link_to(handle, path)
    except OSError as error:
        if error.filename is not None and error.errno != errno.ENOSPC and not is_hidden_name(error.filename, path):
            raise
        reason = error.strerror or f"{error} (is the disk full?)"
        raise OSError(error.errno or errno.EIO, reason, os.fspath(path)) from error


def open_unnamed(folder: Path) -> int | None:
    """Return the descriptor of a new file without a name, or None where the system has no such files."""
    if not hasattr(os, "O_TMPFILE") or not OPEN_FILES.is_dir():
        return None
    try:
        return os.open(folder, os.O_TMPFILE | os.O_RDWR, 0o666)
    except OSError:  # not every file system supports O_TMPFILE
        return None


def link_to(handle: int, path: Path) -> None:
    """Link an open file to `path`.

    A link cannot replace an existing file. In that case the file is linked to a hidden name, which is then renamed. A
    kill between these two steps leaves the hidden name behind. The writer holds a lock on it, so the next write can
    tell whether the link is stale.
    """
    folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
    source = OPEN_FILES / str(handle)
    try:
        # Python follows the symbolic link in /proc only if directory descriptors are passed.
        with suppress(FileExistsError):
            os.link(source, path.name, src_dir_fd=folder, dst_dir_fd=folder)
            return
        remove_stale_links(path)
        hidden = hidden_name(path)
        if fcntl is not None:
            fcntl.flock(handle, fcntl.LOCK_EX)
        os.link(source, hidden, src_dir_fd=folder, dst_dir_fd=folder)
        try:
            os.replace(hidden, path.name, src_dir_fd=folder, dst_dir_fd=folder)
        except BaseException:
            os.unlink(hidden, dir_fd=folder)
            raise
    finally:
        os.close(folder)


def remove_stale_links(path: Path) -> None:
    """Remove the hidden links that killed writers of `path` left behind: those that no process has locked."""
    for link in hidden_paths(path):
        if fcntl is None or not link.is_file() or link.is_symlink():
            continue
        with suppress(OSError):  # locked, or gone already
            handle = os.open(link, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                link.unlink()
            finally:
                os.close(handle)


@contextmanager
def atomic_write_by_name(path: Path) -> Iterator[IO[bytes]]:
    """Write atomically with a named temporary file, for systems without unnamed files."""
    handle, name = tempfile.mkstemp(prefix=hidden_prefix(path), dir=path.parent)
    try:
        with os.fdopen(handle, "w+b") as file:
            yield file
            flush(file)
        os.chmod(name, 0o666 & ~current_umask())  # noqa: PTH101 - mkstemp makes files private
        os.replace(name, path)  # noqa: PTH105
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


@contextmanager
def atomic_directory(folder: Path) -> Iterator[Path]:
    """Create a hidden folder that is renamed to `folder` when the block ends, and removed if the block raises.

    Only a killed process leaves the hidden folder behind; `incomplete_folders` finds it.
    """
    hidden, complete = folder.with_name(hidden_name(folder)), False
    hidden.mkdir()
    try:
        yield hidden
        complete = True
        hidden.rename(folder)
    except BaseException as error:
        if complete and isinstance(error, OSError):  # keep complete results when only the name is taken
            raise FileError(folder, f"cannot be created: {error.strerror}; its files are in {hidden}") from None
        remove_folder(hidden)
        raise


def remove_folder(folder: Path) -> None:
    """Remove a folder. Retry, because another process may add a file during the removal."""
    for _ in range(REMOVAL_ATTEMPTS):
        shutil.rmtree(folder, ignore_errors=True)


def hidden_prefix(path: Path) -> str:
    name = os.fsencode(path.name)
    short = path.name if len(name) <= MAX_STEM_BYTES else hashlib.blake2b(name, digest_size=16).hexdigest()
    return f".{short}."


def is_hidden_name(name: str | bytes, path: Path) -> bool:
    """Return whether this is the name of a hidden file that belongs to `path`."""
    return Path(os.fsdecode(name)).name.startswith(hidden_prefix(path))


def hidden_name(path: Path) -> str:
    return hidden_prefix(path) + secrets.token_hex(8)


def hidden_paths(path: Path) -> list[Path]:
    """Return all hidden paths that belong to `path`, in the same folder."""
    prefix, siblings = hidden_prefix(path), path.parent.iterdir() if path.parent.is_dir() else ()
    return sorted(
        sibling
        for sibling in siblings
        if sibling.name.startswith(prefix) and TOKEN.fullmatch(sibling.name[len(prefix) :])
    )


def incomplete_folders(folder: Path) -> list[Path]:
    """Return the hidden folders of killed processes, and of processes that are writing `folder` now."""
    return [path for path in hidden_paths(folder) if path.is_dir()]


def flush(file: IO[bytes]) -> None:
    file.flush()
    os.fsync(file.fileno())


def current_umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
