"""Damaged files: mutations of valid files, and the reader of each format. Used by tests, fuzzing and sanitizers."""

import gzip
import io
import shutil
import warnings
import zipfile
import zlib
from pathlib import Path

import numpy as np
from scipy import sparse

from pixelsne import PixelSNE
from pixelsne.files.checkpoint import resume
from pixelsne.files.errors import FileError
from pixelsne.files.read_points import read_points

SEEDS = Path(__file__).with_name("files")
READERS = ("csv", "tsv", "csv.gz", "parquet", "feather", "npy", "npz", "h5ad")
NUMBERS = (0, 1, 2**7, 2**15, 2**31 - 1, 2**32 - 1, 2**63 - 1, 2**64 - 1)
POINTS = np.random.default_rng(0).normal(size=(12, 3)).astype(np.float32)


def seeds(kind):
    """Return the valid files with this suffix, and the files that once caused a failure."""
    kinds = {path.name.split(".", 1)[1]: [] for path in SEEDS.rglob("*.*") if path.suffix != ".py"}
    for path in sorted(SEEDS.rglob("*.*")):
        if path.suffix != ".py" and path.is_file():
            kinds[path.name.split(".", 1)[1]].append(path)
    return kinds[kind]


def mutate(content, random):
    """Change, remove, duplicate or insert some bytes, or write an integer that readers might mishandle."""
    content = bytearray(content)
    for _ in range(int(random.integers(1, 4))):
        position = int(random.integers(len(content) + 1))
        length = int(random.integers(1, 9))
        match random.integers(6):
            case 0:
                content[position : position + 1] = random.bytes(1)
            case 1:
                del content[position:]
            case 2:
                content[position:position] = random.bytes(length)
            case 3:
                del content[position : position + length]
            case 4:
                content[position:position] = content[position : position + 8 * length]
            case _:
                size = int(random.choice((1, 2, 4, 8)))
                number = int(random.choice(np.array(NUMBERS, dtype=object))) % 256**size
                content[position : position + size] = number.to_bytes(size, "little")
    return bytes(content)


def mutate_inside(content, random):
    """Mutate a member of a zip or gzip file and restore the checksums. Return None for other files."""
    if content[:2] == b"\x1f\x8b":
        try:
            return gzip.compress(mutate(gzip.decompress(content), random), mtime=0)
        except (EOFError, OSError, zlib.error):
            return None
    if content[:2] != b"PK":
        return None
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            parts = {name: archive.read(name) for name in archive.namelist()[:40]}
    except Exception:  # noqa: BLE001 - a zip that was damaged before
        return None
    if not parts:
        return None
    member = list(parts)[int(random.integers(len(parts)))]
    parts[member] = mutate(parts[member], random)
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive, warnings.catch_warnings(action="ignore"):
        for name, part in parts.items():
            archive.writestr(name, part)
    return packed.getvalue()


def damaged(content, random):
    inside = mutate_inside(content, random) if random.integers(3) else None
    return mutate(content, random) if inside is None else inside


def read_table(path):
    """Read points, or fail with a FileError of one line that names the file."""
    try:
        source = read_points(path)
    except FileError as error:
        if not str(error).startswith(f"{path}: ") or len(str(error).splitlines()) != 1:
            raise AssertionError(f"an error must be one line that names the file, got {error}") from error
        return
    values = source.values if isinstance(source.values, np.ndarray) else source.values.data
    if (
        not np.isfinite(values).all()
        or len(source) < 1
        or (source.extra_columns is not None and len(source.extra_columns) != len(source))
    ):
        raise AssertionError("values are not finite, or numbers of rows do not agree")


def read_model(path):
    """Read a model and transform points, or fail with a ValueError."""
    try:
        model = PixelSNE.load(path)
        rows = np.resize(POINTS, (3, min(model.n_features_in_, 1000)))
        is_sparse = model._fitted_map is not None and sparse.issparse(getattr(model._fitted_map.space, "values", None))
        model.set_params(n_jobs=1).transform(sparse.csr_array(rows) if is_sparse else rows)
    except ValueError as error:
        if not str(error):
            raise AssertionError("an error without a message") from error


def read_checkpoint(path):
    """Resume a run, or fail with a ValueError. A missing half of the checkpoint is copied from the valid one."""
    valid = {name: SEEDS / name for name in ("run.ckpt", "run.ckpt.prepared")}
    for name, file in valid.items():
        if not (path.parent / name).exists():
            shutil.copy(file, path.parent / name)
    run = PixelSNE(perplexity=3, max_iter=20, random_state=0, n_jobs=1).make_run(POINTS)
    try:
        resume(path.parent / "run.ckpt", run, {})
        for _, _ in zip(range(3), run.snapshots(), strict=False):
            pass
    except (ValueError, FloatingPointError) as error:  # the second one: a map that diverges
        if not str(error):
            raise AssertionError("an error without a message") from error


TARGETS = dict.fromkeys(READERS, read_table) | {
    "model": read_model,
    "ckpt": read_checkpoint,
    "ckpt.prepared": read_checkpoint,
}


def name_of(kind):
    return f"run.{kind}" if kind.startswith("ckpt") else f"damaged.{kind}"


def try_content(kind, content, folder):
    """Read the content. Readers must return a result or raise an error with a message, and nothing else."""
    path = Path(folder) / name_of(kind)
    path.write_bytes(content)
    with warnings.catch_warnings(action="ignore"), np.errstate(all="ignore"):
        TARGETS[kind](path)
