"""Runs that survive: what every shard needs to go on, in a folder that all workers and the client see.

`share-S` holds what never changes and is written once, `stand-I-S` where the points were after I iterations, and
`run.pixelsne`, written last, says which of these belong together. Futures made from these files remember nothing
else, so a lost worker costs no more than the iterations since.
"""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast, get_args

import numpy as np

from pixelsne.arrays import AnyArray, Placed
from pixelsne.descent import StoppedBy
from pixelsne.distributed.affinities import Rows
from pixelsne.distributed.crew import Crew
from pixelsne.distributed.descent import Shards, Share, Stand
from pixelsne.distributed.halo import Given
from pixelsne.distributed.shared import check_shared
from pixelsne.files.archive import damage, read_archive, read_kind, write_archive
from pixelsne.files.errors import FileError
from pixelsne.files.identity import Identity, check_identity, describe_run
from pixelsne.files.model import array_of, finite
from pixelsne.settings import Settings, check_choice, check_count

KIND = "pixelsne distributed run"
VERSION = 1
RUN = "run.pixelsne"
ROW_PARTS = ("rows", "offsets", "columns", "values", "halo_rows", "halo_owners")
SHARE_PARTS = (*ROW_PARTS, "given_rows", "given_places", "sources", "source_lengths")
STAND_PARTS = ("positions", "velocity", "gains")


@dataclass(frozen=True)
class Progress:
    """How far a run was."""

    iteration: int
    next_pace: int
    stopped_by: StoppedBy
    looks: list[tuple[int, float, float]]
    timings: dict[str, float]
    last_look: Placed  # of the sampled points
    components: int | None = None  # dimensions after reduction


def identity_of(rows: int, columns: int, fingerprint: str, shards: int, settings: Settings) -> Identity:
    """What must be the same for the same bits. Shards are fewer where settings ask for more, so they come last."""
    return describe_run(rows, columns, fingerprint, settings) | {"workers": shards}


def share_file(folder: str, shard: int) -> Path:
    return Path(folder) / f"share-{shard:05}.pixelsne"


def stand_file(folder: str, iteration: int, shard: int) -> Path:
    return Path(folder) / f"stand-{iteration:06}-{shard:05}.pixelsne"


def save_share(share: Share, folder: str) -> int:
    """On the worker that has it; returns the shard."""
    lengths = [len(places) for places in share.sources]
    arrays = {name: getattr(share.rows, name) for name in ROW_PARTS}
    arrays |= {"given_rows": share.given.rows, "given_places": share.given.places}
    arrays |= {"sources": np.concatenate(share.sources), "source_lengths": np.array(lengths, dtype=np.int64)}
    write_archive(share_file(folder, share.rows.shard), {"shard": share.rows.shard}, arrays)
    return share.rows.shard


def load_share(folder: str, shard: int) -> Share:
    *rows, given_rows, given_places, sources, lengths = read_arrays(share_file(folder, shard), SHARE_PARTS)
    return Share(Rows(shard, *rows), Given(given_rows, given_places), np.split(sources, np.cumsum(lengths)[:-1]))


def save_stand(stand: Stand, folder: str, iteration: int, shard: int) -> int:
    arrays = {name: getattr(stand, name) for name in STAND_PARTS}
    write_archive(stand_file(folder, iteration, shard), {"shard": shard, "iteration": iteration}, arrays)
    return shard


def load_stand(folder: str, iteration: int, shard: int) -> Stand:
    return Stand(*read_arrays(stand_file(folder, iteration, shard), STAND_PARTS))


def read_arrays(path: Path, names: tuple[str, ...]) -> list[AnyArray]:
    _, arrays = read_archive(path)
    missing = next((name for name in names if name not in arrays), None)
    if missing is not None:
        raise FileError(path, f"is damaged: it has no array {missing}")
    return [arrays[name] for name in names]


def has_run(folder: str | os.PathLike[str]) -> bool:
    """Whether there is something to go on from."""
    return (Path(folder) / RUN).exists()


def shards_of(folder: str | os.PathLike[str]) -> int | None:
    """Of the run whose files are there; None: there is none."""
    if not has_run(folder):
        return None
    file = Path(folder) / RUN
    document, _ = read_kind(file, KIND, VERSION)
    try:
        return check_count("workers", document["run"]["workers"], 1)
    except (LookupError, TypeError, ValueError):
        raise FileError(file, "is damaged: it does not tell how many workers its run had") from None


def read_progress(document: dict[str, Any], arrays: dict[str, AnyArray], max_iter: int) -> Progress:
    iteration = check_count("iteration", document["iteration"], 0, max_iter)
    return Progress(
        iteration=iteration,
        next_pace=check_count("next_pace", document["next_pace"], iteration, max_iter),
        stopped_by=cast("StoppedBy", check_choice("stopped_by", document["stopped_by"], get_args(StoppedBy))),
        looks=[(int(at), finite(kl), finite(moved)) for at, kl, moved in document["looks"]],
        timings={str(stage): finite(seconds) for stage, seconds in document["timings"].items()},
        last_look=array_of(arrays, "last_look", np.float32, (None, 2)),
        components=check_count("components", document["components"], 1),
    )


class SharedFolder:
    """One run's files."""

    def __init__(self, path: str | Path, crew: Crew, identity: Identity) -> None:
        self.path, self._crew, self._identity = Path(path).resolve(), crew, identity
        self._saved: int | None = None  # the iteration that RUN tells of
        self.path.mkdir(parents=True, exist_ok=True)
        check_shared(crew.client, self.path)

    def progress(self) -> Progress | None:
        """Of an earlier run of the same data and settings; None where there is none."""
        if not has_run(self.path):
            return None
        file = self.path / RUN
        document, arrays = read_kind(file, KIND, VERSION)
        check_identity(file, document, self._identity)
        try:
            progress = read_progress(document, arrays, self._identity["max_iter"])
        except (LookupError, TypeError, ValueError, AttributeError) as error:
            raise FileError(file, f"is damaged: {damage(error)}") from None
        self._saved = progress.iteration
        return progress

    def save_shares(self, shares: list[Any]) -> None:
        crew = self._crew
        crew.gather([crew.task("save", save_share, one, str(self.path), shard=s) for s, one in enumerate(shares)])

    def load_shares(self) -> list[Any]:
        crew = self._crew
        return [crew.task("load", load_share, str(self.path), shard, shard=shard) for shard in range(crew.shards)]

    def load_stands(self, iteration: int) -> list[Any]:
        crew, folder = self._crew, str(self.path)
        return [crew.task("load", load_stand, folder, iteration, s, shard=s) for s in range(crew.shards)]

    def save(self, moving: Shards, progress: Progress) -> None:
        """Waits until all is written, and lets the shards forget how they came there."""
        crew, folder = self._crew, str(self.path)
        crew.gather(
            [
                crew.task("save", save_stand, stand, folder, progress.iteration, shard, shard=shard)
                for shard, stand in enumerate(moving.stands)
            ]
        )
        document = {"kind": KIND, "version": VERSION, "run": self._identity | {"workers": crew.shards}} | vars(progress)
        del document["last_look"]
        write_archive(self.path / RUN, document, {"last_look": progress.last_look})
        moving.go_on_from(self.load_stands(progress.iteration))
        before, self._saved = self._saved, progress.iteration
        if before is not None and before != progress.iteration:
            for shard in range(crew.shards):
                stand_file(folder, before, shard).unlink(missing_ok=True)

    def remove(self) -> None:
        """Once the map itself is safe."""
        for pattern in ("share-*.pixelsne", "stand-*.pixelsne", RUN):
            for file in self.path.glob(pattern):
                file.unlink()
