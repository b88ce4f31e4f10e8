"""Runs that survive: all that a descent needs to go on, in two files.

FILE holds what changes, 32 bytes a point; FILE.prepared holds what the stages before the descent found, which is large
and stays as it is, so it is written once. Each is complete or absent, and each tells which run it belongs to.
"""

import os
import time
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast, get_args

import numpy as np

from pixelsne.affinities import Affinities
from pixelsne.descent import State
from pixelsne.descent_loop import StoppedBy
from pixelsne.duplicates import Duplicates
from pixelsne.files.archive import DamagedFileError, damage, read_kind, write_archive
from pixelsne.files.atomic_write import sweep
from pixelsne.files.errors import FileError
from pixelsne.files.identity import Identity, check_identity, describe_run, fingerprint
from pixelsne.files.model import READING_ERRORS, array_of, describe_space, finite, read_space
from pixelsne.files.paths import target_of
from pixelsne.pipeline import Prepared, Run
from pixelsne.settings import Settings, check_choice, check_count

if TYPE_CHECKING:
    from pixelsne.arrays import AnyArray

KIND = "pixelsne checkpoint"
KIND_PREPARED = "pixelsne prepared"
VERSION = 1
MOVING = ("positions", "velocity", "gains", "last_look")


def identity_of(values: Any, settings: Settings) -> Identity:
    rows, columns = values.shape
    return describe_run(int(rows), int(columns), fingerprint(values), settings)


def beside_checkpoint(path: Path) -> Path:
    return path.with_name(f"{path.name}.prepared")


class Checkpoint:
    """Writes a run down every so many seconds, and when asked to."""

    def __init__(self, path: Path, run: Run, identity: Identity, seconds: float, *, prepared_is_there: bool) -> None:
        self.path = path
        self._seconds = seconds
        self._run = run
        self._identity = identity
        self._prepared_is_there = prepared_is_there
        self._last = time.monotonic()

    def show(self, _snapshot: object) -> None:
        """A run goes on when its checkpoint cannot be written: the disk may have room again the next time."""
        if self._run.descent is not None and time.monotonic() - self._last >= self._seconds:
            try:
                self.write()
            except OSError as error:
                self._last = time.monotonic()
                again = f"the run goes on and tries again in {self._seconds:g} s"
                warnings.warn(f"{self.path}: no checkpoint: {error.strerror or error}; {again}", stacklevel=1)

    def write(self) -> bool:
        """Whether there was something to write: nothing before the first iteration."""
        run = self._run
        if run.descent is None or run.prepared is None or run.descent.iteration == 0:
            return False
        if not self._prepared_is_there:
            write_prepared(beside_checkpoint(self.path), run.prepared, self._identity)
            self._prepared_is_there = True
        write_state(self.path, run, run.descent.state(), self._identity)
        self._last = time.monotonic()
        return True

    def remove(self) -> None:
        """Once the map itself is safe."""
        for path in (self.path, beside_checkpoint(self.path)):
            sweep(target_of(path))
            for name in (target_of(path), path):
                name.unlink(missing_ok=True)


def write_state(path: Path, run: Run, state: State, identity: Identity) -> None:
    document = {
        "kind": KIND,
        "version": VERSION,
        "run": identity,
        "iteration": state.iteration,
        "next_pace": state.next_step,
        "stopped_by": state.stopped_by,
        "looks": state.looks,
        "timings": run.seconds(),
    }
    write_archive(path, document, {name: getattr(state, name) for name in MOVING})


def write_prepared(path: Path, prepared: Prepared, identity: Identity) -> None:
    affinities = prepared.affinities
    arrays: dict[str, AnyArray] = {
        "p_offsets": affinities.offsets,
        "p_columns": affinities.columns,
        "p_values": affinities.values,
    }
    if prepared.order is not None:
        arrays["order"] = prepared.order
    if prepared.duplicates is not None:
        arrays |= {"duplicate_group": prepared.duplicates.group, "duplicate_weights": prepared.duplicates.weights}
    space = describe_space(prepared.space.kept(), arrays)
    write_archive(path, {"kind": KIND_PREPARED, "version": VERSION, "run": identity, "space": space}, arrays)


def resume(path: str | os.PathLike[str], run: Run, identity: Identity) -> None:
    """Brings the run to where the checkpoint is; FileError if that is of another run, or damaged."""
    path = Path(path)
    document, arrays = read_part(path, KIND, identity)
    beside = beside_checkpoint(path)
    if not beside.exists():
        raise FileError(path, f"cannot go on without {beside.name}, which was written beside it")
    told, large = read_part(beside, KIND_PREPARED, identity)
    try:
        run.resume(read_prepared(told, large), read_state(document, arrays))
        run.timings.update({str(stage): finite(seconds) for stage, seconds in document["timings"].items()})
    except READING_ERRORS as error:
        raise FileError(path, f"is damaged, or {beside.name} is: {damage(error)}") from None


def read_part(path: Path, kind: str, identity: Identity) -> tuple[dict[str, Any], dict[str, Any]]:
    document, arrays = read_kind(path, kind, VERSION)
    check_identity(path, document, identity)
    return document, arrays


def read_state(document: dict[str, Any], arrays: dict[str, Any]) -> State:
    parts = {name: array_of(arrays, name, np.float32, (None, 2)) for name in MOVING}
    return State(
        iteration=check_count("iteration", document["iteration"], 1),
        next_step=check_count("next_pace", document["next_pace"], 1),
        stopped_by=cast("StoppedBy", check_choice("stopped_by", document["stopped_by"], get_args(StoppedBy))),
        looks=[(int(iteration), finite(kl), finite(moved)) for iteration, kl, moved in document["looks"]],
        **parts,
    )


def read_prepared(document: dict[str, Any], arrays: dict[str, Any]) -> Prepared:
    affinities = Affinities(
        array_of(arrays, "p_offsets", np.int64, (None,)),
        array_of(arrays, "p_columns", np.int32, (None,)),
        array_of(arrays, "p_values", np.float32, (None,)),
    )
    order = array_of(arrays, "order", np.int32, (len(affinities),)) if "order" in arrays else None
    if order is not None and not np.array_equal(np.sort(order), np.arange(len(order))):
        raise DamagedFileError("its order names rows twice")
    space = read_space(document["space"], arrays)
    duplicates = read_duplicates(arrays, len(affinities)) if "duplicate_group" in arrays else None
    if space.size() != (len(affinities) if duplicates is None else len(duplicates.group)):
        raise DamagedFileError("its points and affinities do not fit together")
    return Prepared(space, affinities, order, duplicates)


def read_duplicates(arrays: dict[str, Any], distinct: int) -> Duplicates:
    group = array_of(arrays, "duplicate_group", np.int32, (None,))
    weights = array_of(arrays, "duplicate_weights", np.int64, (distinct,))
    if not np.array_equal(np.unique(group), np.arange(distinct)):
        raise DamagedFileError("its duplicates name rows that are not there")
    if (weights < 1).any() or (weights > np.bincount(group)).any():
        raise DamagedFileError("its duplicates weigh more than their rows")
    return Duplicates(group, weights)
