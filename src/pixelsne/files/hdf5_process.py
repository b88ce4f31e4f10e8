"""Run HDF5 in a child process that can be killed: Ctrl-C always works, and a crash becomes a one-line error."""

import json
import math
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np

from pixelsne.arrays import AnyArray
from pixelsne.files.errors import FileError
from pixelsne.memory import GIGABYTE, available

PROGRAM = (
    "import sys, json; sys.path[:] = json.loads(sys.argv[1]); "
    "from pixelsne.files.hdf5_child import main; main(sys.argv[2])"
)
LONGEST_LINE = 64_000_000  # bytes of JSON
SECONDS_TO_END = 10  # for a child that has closed its output
DTYPE = re.compile(r"[<>|][biuf][1248]")


class Hdf5Process:
    """The connection to a child. Raises FileError when the file is damaged, or the child crashes or runs too long."""

    def __init__(self, path: Path, process: "subprocess.Popen[bytes]") -> None:
        self._path, self._process = path, process

    def send(self, content: bytes) -> None:
        """Send all input of the child, and close its stdin."""
        if self._process.stdin is not None:
            with suppress(BrokenPipeError):  # the next answer says why it ended
                self._process.stdin.write(content)
                self._process.stdin.close()

    def line(self) -> dict[str, Any]:
        """Return the next line of JSON."""
        received = self._process.stdout.readline(LONGEST_LINE) if self._process.stdout else b""
        if not received.endswith(b"\n"):
            raise FileError(self._path, self._failure())
        answer: dict[str, Any] = json.loads(received)
        if "problem" in answer:
            raise FileError(self._path, str(answer["problem"]))
        return answer

    def arrays(self, described: list[Any]) -> list[AnyArray]:
        """Return the next arrays. described: [dtype, shape] of each."""
        types = [(np.dtype(kind), tuple(map(int, shape))) for kind, shape in described if DTYPE.fullmatch(kind)]
        size = sum(dtype.itemsize * math.prod(shape) for dtype, shape in types)
        if len(types) < len(described):
            raise FileError(self._path, f"is damaged: it holds {described} where numbers should be")
        self.check_memory(size)
        arrays = [np.empty(shape, dtype) for dtype, shape in types]
        for array in arrays:
            self._fill(array)
        return arrays

    def check_memory(self, size: int) -> None:
        memory = available()
        if size > memory:
            sizes = f"unpacks to {size / GIGABYTE:.1f} GB, {memory / GIGABYTE:.1f} GB are available"
            raise FileError(self._path, sizes)

    def _fill(self, array: AnyArray) -> None:
        flat: Any = array.reshape(-1).view(np.uint8)
        content, done = memoryview(flat), 0
        while done < len(content):
            count = int(self.line()["bytes"])
            part = content[done : done + count]
            if self._process.stdout is None or self._process.stdout.readinto(part) != count:  # type: ignore[attr-defined]
                raise FileError(self._path, self._failure())
            done += count

    def _failure(self) -> str:
        """Return why the child did not answer."""
        try:
            code = self._process.wait(SECONDS_TO_END)
        except subprocess.TimeoutExpired:
            return "is damaged: HDF5 sent an incomplete answer"
        name = signal.Signals(-code).name if code < 0 else f"exit code {code}"
        reasons = {
            "SIGXCPU": "is damaged: HDF5 exceeded its time limit",
            "SIGKILL": "was not read: its reader was killed (SIGKILL), usually because memory ran out",
        }
        return reasons.get(name, f"is damaged: HDF5 failed ({name})")


@contextmanager
def hdf5_process(path: Path, request: dict[str, Any], handles: tuple[int, ...] = ()) -> Iterator[Hdf5Process]:
    """Start a child that runs a task of hdf5_child, and kill it when the block ends."""
    command = [sys.executable, "-P", "-c", PROGRAM, json.dumps(sys.path), json.dumps(request)]
    pipe, nothing = subprocess.PIPE, subprocess.DEVNULL
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=nothing, pass_fds=handles) as process:  # noqa: S603
        try:
            yield Hdf5Process(path, process)
        finally:
            process.kill()
            for stream in (process.stdin, process.stdout):
                if stream is not None:
                    with suppress(OSError):
                        stream.close()
