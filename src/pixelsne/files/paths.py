"""Check the files of a command before it starts: no output replaces an input, and all outputs can be written."""

import os
import shutil
import stat
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from pixelsne.files.errors import FileError

MAX_NAME_BYTES = 255  # where the system states no limit
PROBE = bytes(4096)
GIGABYTE = 1e9

# Types that are neither a file nor a folder.
SPECIAL = {
    stat.S_IFIFO: "a FIFO",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}

FileIdentity = tuple[object, ...]


def target_of(path: Path) -> Path:
    """Return the file that a write to `path` replaces: the target of a link, or the path itself."""
    return Path(os.path.realpath(path)) if path.is_symlink() else path


def file_identity(path: Path) -> FileIdentity:
    """Return a value that is equal for all paths of one file, through any links, even if it does not exist yet."""
    path = Path(os.path.realpath(path))
    try:
        status = path.stat()
    except OSError:
        return (*file_identity(path.parent), path.name) if path.parent != path else (str(path),)
    return status.st_dev, status.st_ino


def check_special(path: Path) -> None:
    """Raise FileError for FIFOs, sockets and devices: reading may block forever, and writing would replace them."""
    try:
        kind = SPECIAL.get(stat.S_IFMT(path.stat().st_mode))
    except OSError:
        return
    if kind is not None:
        raise FileError(path, f"is {kind}; give the name of a regular file")


def check_distinct(reads: Mapping[str, Path], writes: Mapping[str, Path]) -> None:
    """Raise FileError if a file would be both read and written, or written twice.

    The keys are the names of the arguments, for the message.
    """
    used: dict[FileIdentity, str] = {}
    for name, path in reads.items():
        check_special(path)
        used[file_identity(path)] = name
    for name, path in writes.items():
        check_special(path)
        other = used.get(identity := file_identity(path))
        if other in reads:
            raise FileError(path, f"is an input ({other}) that {name} would overwrite; choose another name")
        if other is not None:
            raise FileError(path, f"would be written by both {other} and {name}; give each a different name")
        used[identity] = name


def check_writable(path: Path) -> None:
    """Raise FileError if a file cannot be created there. Parent folders may be missing. Leaves nothing behind."""
    check_special(path)
    target = target_of(path)
    if target.is_symlink():
        raise FileError(path, "is a symbolic link to itself; give the name of a regular file")
    candidates = [target, *target.absolute().parents]
    nearest = next(parent for parent in target.absolute().parents if parent.exists())
    check_names(path, nearest, [part.name for part in candidates if not part.exists()] or [target.name])
    try:
        with tempfile.TemporaryFile(dir=nearest) as file:
            file.write(PROBE)
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        raise FileError(path, f"cannot be written: {nearest}: {error.strerror}") from None


def check_names(path: Path, folder: Path, names: list[str]) -> None:
    """Raise FileError for a name that is too long for the file system."""
    most = MAX_NAME_BYTES
    if hasattr(os, "pathconf"):
        with suppress(OSError, ValueError):
            most = os.pathconf(folder, "PC_NAME_MAX")
    for name in names:
        if len(os.fsencode(name)) > most:
            raise FileError(path, f"cannot be written: names in {folder} may have {most} bytes, {name!r:.60} has more")


def check_disk_space(sizes: Mapping[Path, int]) -> None:
    """Raise FileError if the disks lack space for files of at least these sizes."""
    needed: dict[int, int] = {}
    for path, size in sizes.items():
        nearest = next(parent for parent in target_of(path).absolute().parents if parent.exists())
        disk = nearest.stat().st_dev
        needed[disk] = needed.get(disk, 0) + size
        free = shutil.disk_usage(nearest).free
        if needed[disk] > free:
            raise FileError(
                path,
                f"cannot be written: results take at least {needed[disk] / GIGABYTE:.3f} GB, "
                f"{nearest} has {free / GIGABYTE:.3f} GB left",
            )
