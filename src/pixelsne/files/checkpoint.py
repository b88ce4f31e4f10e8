"""Checkpoints: everything that an interrupted run needs to continue, in two files.

FILE holds the state of the descent, 32 bytes per point. FILE.prepared holds the results of the stages before the
descent, which are large and do not change, so it is written once. Both files are written atomically and both store the
identity of their run.
"""

import os
import time
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast, get_args

import numpy as np

from pixelsne.affinities import Affinities
from pixelsne.descent import State
from pixelsne.descent_loop import LoopState, StoppedBy
from pixelsne.duplicates import Duplicates
from pixelsne.files.archive import DamagedFileError, damage, read_kind, write_archive
from pixelsne.files.atomic_write import remove_stale_links
from pixelsne.files.errors import FileError
from pixelsne.files.identity import Identity, check_identity, describe_run, fingerprint
from pixelsne.files.model import READING_ERRORS, array_of, describe_space, finite, read_space
from pixelsne.files.paths import target_of
from pixelsne.pipeline import Prepared, Run
from pixelsne.settings import Settings, check_choice, check_count, check_number
from pixelsne.weights import PointWeights, are_relative

if TYPE_CHECKING:
    from pixelsne.arrays import AnyArray

KIND = "pixelsne checkpoint"
KIND_PREPARED = "pixelsne prepared"
VERSION = 1
LAST_SAMPLE = "last_look"  # name of the array in the file
STATE_ARRAYS = ("positions", "velocity", "gains")


def identity_of(
    values: Any, settings: Settings, *, weights: "AnyArray | None" = None, fixed: "AnyArray | None" = None
) -> Identity:
    """Return the identity of a run on these values with these settings. weights, fixed: as in `Run`."""
    rows, columns = values.shape
    weighed, held = (None if of_rows is None else fingerprint(of_rows) for of_rows in (weights, fixed))
    identity = describe_run(int(rows), int(columns), fingerprint(values), settings, weights=weighed)
    return identity | {"fixed": held}


def prepared_path(path: Path) -> Path:
    return path.with_name(f"{path.name}.prepared")


class Checkpoint:
    """Writes the state of a run to disk at a fixed interval, and on request."""

    def __init__(self, path: Path, run: Run, identity: Identity, interval: float, *, prepared_exists: bool) -> None:
        self.path = path
        self._interval = interval
        self._run = run
        self._identity = identity
        self._prepared_exists = prepared_exists
        self._last_written = time.monotonic()

    def write_if_due(self, _snapshot: object) -> None:
        """Write a checkpoint if the interval has passed. Warn if that fails: there may be disk space the next time."""
        if self._run.descent is not None and time.monotonic() - self._last_written >= self._interval:
            try:
                self.write()
            except OSError as error:
                self._last_written = time.monotonic()
                retry = f"the run continues and tries again in {self._interval:g} s"
                warnings.warn(f"{self.path}: no checkpoint written: {error.strerror or error}; {retry}", stacklevel=1)

    def write(self) -> bool:
        """Write a checkpoint. Return False before the first iteration, when there is no state to write."""
        run = self._run
        if run.descent is None or run.prepared is None or run.descent.iteration == 0:
            return False
        if not self._prepared_exists:
            write_prepared(prepared_path(self.path), run.prepared, self._identity)
            self._prepared_exists = True
        write_state(self.path, run, run.descent.state(), self._identity)
        self._last_written = time.monotonic()
        return True

    def remove(self) -> None:
        """Remove both files, once the map is written."""
        for path in (self.path, prepared_path(self.path)):
            remove_stale_links(target_of(path))
            for name in (target_of(path), path):
                name.unlink(missing_ok=True)


def write_state(path: Path, run: Run, state: State, identity: Identity) -> None:
    document = {
        "kind": KIND,
        "version": VERSION,
        "run": identity,
        "timings": run.seconds(),
        **describe_loop_state(state),
    }
    arrays = {name: getattr(state, name) for name in STATE_ARRAYS} | {LAST_SAMPLE: state.last_sample}
    write_archive(path, document, arrays)


def describe_loop_state(state: LoopState) -> dict[str, Any]:
    """Return the state as JSON values, without its array."""
    return {
        "iteration": state.iteration,
        "next_pace": state.next_step,
        "stopped_by": state.stopped_by,
        "looks": state.measurements,
    }


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
        arrays["duplicate_group"] = prepared.duplicates.group
    if prepared.weights is not None:
        arrays |= {"weights": prepared.weights.values, "step_factors": prepared.weights.step_factors}
    document = {
        "kind": KIND_PREPARED,
        "version": VERSION,
        "run": identity,
        "space": describe_space(prepared.space.for_transform(), arrays),
        "inner_pairs": None if prepared.weights is None else prepared.weights.inner_pairs,
    }
    write_archive(path, document, arrays)


def resume(path: str | os.PathLike[str], run: Run, identity: Identity) -> None:
    """Set the run to the state of a checkpoint. Raise FileError if that is damaged or belongs to another run."""
    path = Path(path)
    document, arrays = read_checked(path, KIND, identity)
    prepared = prepared_path(path)
    if not prepared.exists():
        raise FileError(path, f"cannot be resumed without {prepared.name}; put that file back into the same folder")
    prepared_document, prepared_arrays = read_checked(prepared, KIND_PREPARED, identity)
    try:
        run.resume(read_prepared(prepared_document, prepared_arrays), read_state(document, arrays))
        run.timings.update(read_timings(document))
    except READING_ERRORS as error:
        raise FileError(path, f"is damaged, or {prepared.name} is: {damage(error)}") from None


def read_checked(path: Path, kind: str, identity: Identity) -> tuple[dict[str, Any], dict[str, Any]]:
    document, arrays = read_kind(path, kind, VERSION)
    check_identity(path, document, identity)
    return document, arrays


def read_state(document: dict[str, Any], arrays: dict[str, Any]) -> State:
    state_arrays: dict[str, Any] = {name: array_of(arrays, name, np.float32, (None, 2)) for name in STATE_ARRAYS}
    return State(**vars(read_loop_state(document, arrays, 1)), **state_arrays)


def read_loop_state(document: dict[str, Any], arrays: dict[str, Any], first: int, last: int | None = None) -> LoopState:
    """Return the state, after checking it. first, last: the iterations that it may be at."""
    iteration = check_count("iteration", document["iteration"], first, last)
    return LoopState(
        iteration=iteration,
        next_step=check_count("next_pace", document["next_pace"], iteration, last),
        stopped_by=cast("StoppedBy", check_choice("stopped_by", document["stopped_by"], get_args(StoppedBy))),
        measurements=[(int(iteration), finite(kl), finite(moved)) for iteration, kl, moved in document["looks"]],
        last_sample=array_of(arrays, LAST_SAMPLE, np.float32, (None, 2)),
    )


def read_timings(document: dict[str, Any]) -> dict[str, float]:
    return {str(stage): finite(seconds) for stage, seconds in document["timings"].items()}


def read_prepared(document: dict[str, Any], arrays: dict[str, Any]) -> Prepared:
    affinities = Affinities(
        array_of(arrays, "p_offsets", np.int64, (None,)),
        array_of(arrays, "p_columns", np.int32, (None,)),
        array_of(arrays, "p_values", np.float32, (None,)),
    )
    order = array_of(arrays, "order", np.int32, (len(affinities),)) if "order" in arrays else None
    if order is not None and not np.array_equal(np.sort(order), np.arange(len(order))):
        raise DamagedFileError("its order of rows is not a permutation")
    space = read_space(document["space"], arrays)
    duplicates = read_duplicates(arrays, len(affinities)) if "duplicate_group" in arrays else None
    if space.size() != (len(affinities) if duplicates is None else len(duplicates.group)):
        raise DamagedFileError("the numbers of its points and affinities do not match")
    weights = read_weights(document, arrays, len(affinities)) if "weights" in arrays else None
    return Prepared(space, affinities, order, duplicates, weights)


def read_duplicates(arrays: dict[str, Any], distinct: int) -> Duplicates:
    group = array_of(arrays, "duplicate_group", np.int32, (None,))
    if not np.array_equal(np.unique(group), np.arange(distinct)):
        raise DamagedFileError("its groups of duplicates do not match its distinct rows")
    return Duplicates(group)


def read_weights(document: dict[str, Any], arrays: dict[str, Any], n: int) -> PointWeights:
    values = array_of(arrays, "weights", np.float32, (n,))
    shares = array_of(arrays, "step_factors", np.float32, (n,))
    if not are_relative(values) or not ((shares > 0) & (shares <= 1)).all():
        raise DamagedFileError("its weights are not relative to their mean, or its step shares not between 0 and 1")
    return PointWeights(values, check_number("inner_pairs", document["inner_pairs"], 0.0), shares)
