"""Compile literal_tree.cpp when it is needed, and call its trees."""

import ctypes
import hashlib
import math
import os
import shutil
import subprocess
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from experiments.paths import CACHE
from pixelsne.arrays import Positions
from pixelsne.screen import Screen

SOURCE = Path(__file__).with_name("literal_tree.cpp")
FLAGS = ("-std=c++17", "-O2", "-shared", "-fPIC")  # the optimization level of the published programs


@dataclass(frozen=True)
class Variant:
    """The paper's changes to BH-SNE's tree, one by one."""

    bounded: bool  # leaves are pixels
    one_time: bool  # cells are created once and kept
    arrays: bool  # as arrays of counts instead of nodes with pointers; our own addition
    integers: bool  # Sec. 4.4

    def __str__(self) -> str:
        depth = "pixel leaves" if self.bounded else "point leaves"
        construction = ("one-time arrays" if self.arrays else "one-time") if self.one_time else "rebuilt"
        return f"{depth}, {construction}, {'integers' if self.integers else 'divisions'}"


# One-time construction needs cells that do not depend on the data, so only bounded trees have it.
VARIANTS = tuple(
    Variant(bounded, one_time, arrays, integers)
    for bounded, one_time, arrays in (
        (False, False, False),
        (True, False, False),
        (True, True, False),
        (True, True, True),
    )
    for integers in (False, True)
)


@cache
def library() -> ctypes.CDLL:
    """Return the library, which is compiled once for each version of the source."""
    name = hashlib.sha256(SOURCE.read_bytes() + " ".join(FLAGS).encode()).hexdigest()[:16]
    path = CACHE / f"literal_tree_{name}.so"
    if not path.exists():
        compile_to(path)
    loaded = ctypes.CDLL(os.fspath(path))
    loaded.make_tree.restype = ctypes.c_void_p
    loaded.free_tree.argtypes = [ctypes.c_void_p]
    loaded.repel.restype = ctypes.c_double
    numbers, double = ctypes.POINTER(ctypes.c_double), ctypes.c_double
    floats = np.ctypeslib.ndpointer(np.float32, 2, flags="C")
    loaded.repel.argtypes = [ctypes.c_void_p, floats, ctypes.c_int64, numbers, numbers, double, double, floats]
    return loaded


def find_compiler() -> str | None:
    return os.environ.get("CXX") or shutil.which("c++") or shutil.which("g++") or shutil.which("clang++")


def compile_to(path: Path) -> None:
    compiler = find_compiler()
    if compiler is None:
        raise RuntimeError("a C++ compiler is needed for the paper's own trees; install one or set CXX")
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_suffix(f".{os.getpid()}")
    subprocess.run([compiler, *FLAGS, os.fspath(SOURCE), "-o", os.fspath(unfinished)], check=True)
    unfinished.replace(path)


class LiteralTree:
    """One of the trees, as a function with the signature of pixelsne.repulsion.Repulsion."""

    def __init__(self, variant: Variant, resolution: tuple[int, int], theta: float) -> None:
        self.variant, self.theta = variant, theta
        self._levels = math.ceil(math.log2(max(*resolution, 2)))
        self._library: Any = library()
        self._tree = self._library.make_tree(
            self._levels, variant.bounded, variant.one_time, variant.arrays, variant.integers
        )

    def __call__(self, positions: Positions, screen: Screen, push: Positions, _spacing: float) -> float:
        """Write the push (n, 2) and return the normalizer."""
        pair = ctypes.c_double * 2
        origin, unit, side = pair(*screen.origin), pair(*screen.unit_per_pixel), float(2**self._levels)
        return float(self._library.repel(self._tree, positions, len(positions), origin, unit, side, self.theta, push))

    def __del__(self) -> None:
        self._library.free_tree(self._tree)
