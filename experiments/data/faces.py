"""FacExp: faces of 48 x 48 pixels and their expressions, described by the last hidden layer of a small network."""

import csv
import io
from pathlib import Path
from typing import Any

import numpy as np

from experiments.data.loaded import Loaded, check_labels, first_file, opened, read_arrays
from pixelsne.files.errors import FileError

EXPRESSIONS = ("angry", "disgusted", "afraid", "happy", "sad", "surprised", "neutral")
PIXELS = 48 * 48
MAX_BRIGHTNESS = 255
USAGE = "Training"  # the 28,709 rows of the paper


def load(folder: Path) -> Loaded | None:
    found = load_images(folder)
    if found is None:
        return None
    images, labels, source = found
    from experiments.data.network import features  # noqa: PLC0415 - needs PyTorch

    return Loaded(features(images, labels), labels, EXPRESSIONS, f"{source}, described by a network trained on it")


def load_images(folder: Path) -> tuple[Any, Any, str] | None:
    """Return (n, 2304) bytes, (n) labels, and the name of their file."""
    table = first_file(folder, "fer2013.csv", "fer2013/fer2013.csv")
    if table is not None:
        return (*read_table(table), table.name)
    arrays = first_file(folder, "facexp.npz", "fer2013.npz")
    if arrays is None:
        return None
    images, labels = read_arrays(arrays, "X", "y")
    if images.ndim != 2 or images.shape[1] != PIXELS:
        raise FileError(arrays, f"must hold images of 48 x 48 pixels in rows of {PIXELS}, has shape {images.shape}")
    return images, check_labels(arrays, labels, len(images), len(EXPRESSIONS)), arrays.name


def read_table(path: Path) -> tuple[Any, Any]:
    """Read the columns emotion (a number), pixels (2,304 numbers separated by spaces) and Usage."""
    images, labels = [], []
    with opened(path) as file:
        rows = csv.DictReader(io.TextIOWrapper(file, encoding="utf-8", errors="replace", newline=""))
        if not {"emotion", "pixels", "Usage"} <= set(rows.fieldnames or ()):
            raise FileError(path, f"must have the columns emotion, pixels and Usage, has {rows.fieldnames}")
        for number, row in enumerate(rows, start=1):
            if row["Usage"] == USAGE:
                images.append(read_pixels(path, number, row["pixels"]))
                labels.append(read_label(path, number, row["emotion"]))
    if not images:
        raise FileError(path, f"has no rows whose Usage is {USAGE}")
    return np.stack(images), np.array(labels)


def read_pixels(path: Path, number: int, text: str | None) -> Any:
    try:
        pixels = np.array((text or "").split(), dtype=np.int64)
    except (ValueError, OverflowError):
        pixels = np.array([-1])
    if pixels.size and not 0 <= pixels.min() <= pixels.max() <= MAX_BRIGHTNESS:
        raise FileError(path, f"column pixels, row {number}: not all are numbers from 0 to {MAX_BRIGHTNESS}")
    if len(pixels) != PIXELS:
        raise FileError(path, f"column pixels, row {number}: {len(pixels)} numbers where {PIXELS} are expected")
    return pixels.astype(np.uint8)


def read_label(path: Path, number: int, text: str | None) -> int:
    if text is None or not text.isdecimal() or int(text) >= len(EXPRESSIONS):
        raise FileError(path, f"column emotion, row {number}: {text!r} where 0 to {len(EXPRESSIONS) - 1} are known")
    return int(text)
