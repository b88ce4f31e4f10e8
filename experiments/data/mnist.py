"""MNIST: the four idx files, or an npz."""

import math
from pathlib import Path
from typing import Any

import numpy as np

from experiments.data.loaded import Loaded, array_names, check_labels, first_file, opened, read_arrays
from pixelsne.files.errors import FileError

DIGITS = tuple("0123456789")
SIDE = 28
BYTES = 0x08  # the code of unsigned bytes in an idx header
PARTS = ("train", "t10k")


def load(folder: Path) -> Loaded | None:
    return load_idx(folder) or load_npz(folder)


def load_idx(folder: Path) -> Loaded | None:
    found = [(find(folder, part, "images", 3), find(folder, part, "labels", 1)) for part in PARTS]
    paths = [path for pair in found for path in pair]
    if all(path is None for path in paths):
        return None
    if any(path is None for path in paths):
        present = ", ".join(path.name for path in paths if path is not None)
        raise FileError(folder, f"has only a part of MNIST's four files: {present}")
    images, labels = zip(*(read_pair(*pair) for pair in found), strict=True)  # type: ignore[arg-type]
    return Loaded(np.concatenate(images), np.concatenate(labels), DIGITS, "the four idx files")


def find(folder: Path, part: str, kind: str, dimensions: int) -> Path | None:
    return first_file(folder, f"{part}-{kind}-idx{dimensions}-ubyte", f"{part}-{kind}.idx{dimensions}-ubyte")


def read_pair(images_path: Path, labels_path: Path) -> tuple[Any, Any]:
    images = read_idx(images_path)
    if images.shape[1:] != (SIDE, SIDE):
        raise FileError(images_path, f"must hold images of {SIDE} x {SIDE} pixels, has shape {images.shape}")
    labels = check_labels(labels_path, read_idx(labels_path), len(images), len(DIGITS))
    return images.reshape(len(images), -1), labels


def read_idx(path: Path) -> Any:
    """Read an array of bytes: two zeros, the type, the number of dimensions, their sizes, then all values."""
    with opened(path) as file:
        head = file.read(4)
        if len(head) < 4 or head[:3] != bytes((0, 0, BYTES)):
            raise FileError(path, f"is no idx file of bytes: it begins with {head!r}")
        sizes = file.read(4 * head[3])
        shape = tuple(int(size) for size in np.frombuffer(sizes, dtype=">u4", count=len(sizes) // 4))
        if len(shape) < head[3]:
            raise FileError(path, "is cut off in its header")
        values = np.frombuffer(file.read(), dtype=np.uint8)
    if values.size != math.prod(shape):
        raise FileError(path, f"is cut off or too long: {values.size:,} values where {math.prod(shape):,} are promised")
    return values.reshape(shape)


def load_npz(folder: Path) -> Loaded | None:
    """Read an npz with X and y, or Keras's."""
    path = first_file(folder, "mnist.npz")
    if path is None:
        return None
    if "x_train" in array_names(path):
        x_train, y_train, x_test, y_test = read_arrays(path, "x_train", "y_train", "x_test", "y_test")
        values, labels = np.concatenate([x_train, x_test]), np.concatenate([y_train, y_test])
    else:
        values, labels = read_arrays(path, "X", "y")
    values = values.reshape(len(values), -1)
    if values.shape[1] != SIDE * SIDE:
        raise FileError(path, f"must hold images of {SIDE} x {SIDE} pixels, has shape {values.shape}")
    return Loaded(values, check_labels(path, labels, len(values), len(DIGITS)), DIGITS, path.name)
