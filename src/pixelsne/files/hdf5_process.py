"""HDF5 in a child process that can be killed: Ctrl-C always works, and a crash is one line."""

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
LONGEST_LINE = 64_000_000  # of JSON
SECONDS_TO_END = 10  # for a child that has nothing more to say
DTYPE = re.compile(r"[<>|][biuf][1248]")


class Hdf5Process:
    """The answers of one child. FileError when it finds the file damaged, crashes, or takes for ever."""

    def __init__(self, path: Path, process: "subprocess.Popen[bytes]") -> None:
        self._path, self._process = path, process

    def send(self, content: bytes) -> None:
        """All there is to send."""
        if self._process.stdin is not None:
            with suppress(BrokenPipeError):  # why it ended, it tells itself
                self._process.stdin.write(content)
                self._process.stdin.close()

    def line(self) -> dict[str, Any]:
        told = self._process.stdout.readline(LONGEST_LINE) if self._process.stdout else b""
        if not told.endswith(b"\n"):
            raise FileError(self._path, self._last_words())
        answer: dict[str, Any] = json.loads(told)
        if "problem" in answer:
            raise FileError(self._path, str(answer["problem"]))
        return answer

    def arrays(self, described: list[Any]) -> list[AnyArray]:
        """Those it described, as [dtype, shape] each."""
        made = [(np.dtype(kind), tuple(map(int, shape))) for kind, shape in described if DTYPE.fullmatch(kind)]
        size = sum(dtype.itemsize * math.prod(shape) for dtype, shape in made)
        if len(made) < len(described):
            raise FileError(self._path, f"is damaged: it holds {described} where numbers should be")
        self.check_room(size)
        arrays = [np.empty(shape, dtype) for dtype, shape in made]
        for array in arrays:
            self._fill(array)
        return arrays

    def check_room(self, size: int) -> None:
        there = available()
        if size > there:
            raise FileError(self._path, f"unpacks to {size / GIGABYTE:.1f} GB, {there / GIGABYTE:.1f} GB are available")

    def _fill(self, array: AnyArray) -> None:
        flat: Any = array.reshape(-1).view(np.uint8)
        content, done = memoryview(flat), 0
        while done < len(content):
            count = int(self.line()["bytes"])
            part = content[done : done + count]
            if self._process.stdout is None or self._process.stdout.readinto(part) != count:  # type: ignore[attr-defined]
                raise FileError(self._path, self._last_words())
            done += count

    def _last_words(self) -> str:
        """Why there is no answer."""
        try:
            code = self._process.wait(SECONDS_TO_END)
        except subprocess.TimeoutExpired:
            return "is damaged: HDF5 made nonsense of it"
        name = signal.Signals(-code).name if code < 0 else f"exit code {code}"
        reasons = {
            "SIGXCPU": "is damaged: HDF5 would not come to an end with it",
            "SIGKILL": "was not read: its reader was killed (SIGKILL), most often for want of memory",
        }
        return reasons.get(name, f"is damaged: HDF5 failed on it ({name})")


@contextmanager
def hdf5_process(path: Path, request: dict[str, Any], handles: tuple[int, ...] = ()) -> Iterator[Hdf5Process]:
    """A child at work on a task of hdf5_child; it is killed when this ends, however it ends."""
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
