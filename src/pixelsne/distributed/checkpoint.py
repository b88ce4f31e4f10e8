"""Runs that survive: what every shard needs to go on, in a folder that all workers and the client see.

`share-S` holds what never changes and is written once, `stand-I-S` where the points were after I iterations, and
`run.pixelsne`, written last, says which of these belong together. Futures made from these files remember nothing
else, so a lost worker costs no more than the iterations since.
"""

import os
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from pixelsne import __version__
from pixelsne.arrays import Placed
from pixelsne.distributed.affinities import Rows
from pixelsne.distributed.crew import Crew
from pixelsne.distributed.descent import Shards, Share, Stand
from pixelsne.distributed.halo import Given
from pixelsne.files.archive import read_archive, write_archive
from pixelsne.files.errors import FileError
from pixelsne.files.model import as_plain
from pixelsne.settings import Settings

KIND = "pixelsne distributed run"
VERSION = 1
RUN = "run.pixelsne"
ROW_PARTS = ("rows", "offsets", "columns", "values", "halo_rows", "halo_owners")
STAND_PARTS = ("positions", "velocity", "gains")

Identity = dict[str, Any]


@dataclass(frozen=True)
class Progress:
    """How far a run was."""

    iteration: int
    next_pace: int
    stopped_by: str
    looks: list[tuple[int, float, float]]
    timings: dict[str, float]
    last_look: Placed  # of the sampled points


def identity_of(rows: int, columns: int, fingerprint: str, shards: int, settings: Settings) -> Identity:
    """What must be the same for the same bits."""
    described = asdict(replace(settings, threads=1))
    described.pop("threads")
    described["step_limit"] = None if settings.step_limit == float("inf") else settings.step_limit
    about = {"version of pixelsne": __version__, "rows": rows, "columns": columns, "values": fingerprint}
    return about | {"workers": shards} | {name: as_plain(value) for name, value in described.items()}


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
    _, arrays = read_archive(share_file(folder, shard))
    rows = Rows(shard, *(arrays[name] for name in ROW_PARTS))
    ends = np.cumsum(arrays["source_lengths"])[:-1]
    return Share(rows, Given(arrays["given_rows"], arrays["given_places"]), np.split(arrays["sources"], ends))


def save_stand(stand: Stand, folder: str, iteration: int, shard: int) -> int:
    arrays = {name: getattr(stand, name) for name in STAND_PARTS}
    write_archive(stand_file(folder, iteration, shard), {"shard": shard, "iteration": iteration}, arrays)
    return shard


def load_stand(folder: str, iteration: int, shard: int) -> Stand:
    _, arrays = read_archive(stand_file(folder, iteration, shard))
    return Stand(*(arrays[name] for name in STAND_PARTS))


def sees(folder: str, name: str) -> bool:
    return (Path(folder) / name).exists()


def shards_of(folder: str | os.PathLike[str]) -> int | None:
    """Of the run whose files are there."""
    file = Path(folder) / RUN
    return int(read_archive(file)[0]["run"]["workers"]) if file.exists() else None


class SharedFolder:
    """One run's files."""

    def __init__(self, path: str | Path, crew: Crew, identity: Identity) -> None:
        self.path, self._crew, self._identity = Path(path).resolve(), crew, identity
        self._saved: int | None = None  # the iteration that RUN tells of
        self.path.mkdir(parents=True, exist_ok=True)
        self._check_shared()

    def _check_shared(self) -> None:
        """A folder of the client's alone would be noticed only when it is needed."""
        witness = self.path / f"seen-{self._identity['values'][:12]}"
        witness.touch()
        try:
            seen = self._crew.client.run(sees, str(self.path), witness.name)
        finally:
            witness.unlink(missing_ok=True)
        blind = [worker for worker, found in seen.items() if not found]
        if blind:
            raise FileError(
                self.path, f"is not seen by the worker at {blind[0]}; choose a folder that all machines share"
            )

    def progress(self) -> Progress | None:
        """Of an earlier run of the same data and settings; None where there is none."""
        file = self.path / RUN
        if not file.exists():
            return None
        told, arrays = read_archive(file)
        if told.get("kind") != KIND or told.get("version") != VERSION:
            raise FileError(file, f"is no {KIND} of version {VERSION}")
        for name, now in self._identity.items():
            if told["run"].get(name) != now:
                raise FileError(file, f"is of another run: its {name} is {told['run'].get(name)!r}, now it is {now!r}")
        self._saved = told["iteration"]
        looks = [(int(at), float(kl), float(moved)) for at, kl, moved in told["looks"]]
        return Progress(
            told["iteration"], told["next_pace"], told["stopped_by"], looks, told["timings"], arrays["last_look"]
        )

    def save_shares(self, shares: list[Any]) -> None:
        crew = self._crew
        crew.client.gather(
            [crew.task("save", save_share, one, str(self.path), shard=s) for s, one in enumerate(shares)]
        )

    def load_shares(self) -> list[Any]:
        crew = self._crew
        return [crew.task("load", load_share, str(self.path), shard, shard=shard) for shard in range(crew.shards)]

    def load_stands(self, iteration: int) -> list[Any]:
        crew, folder = self._crew, str(self.path)
        return [crew.task("load", load_stand, folder, iteration, s, shard=s) for s in range(crew.shards)]

    def save(self, moving: Shards, progress: Progress) -> None:
        """Waits until all is written, and lets the shards forget how they came there."""
        crew, folder = self._crew, str(self.path)
        crew.client.gather(
            [
                crew.task("save", save_stand, stand, folder, progress.iteration, shard, shard=shard)
                for shard, stand in enumerate(moving.stands)
            ]
        )
        document = {"kind": KIND, "version": VERSION, "run": self._identity} | vars(progress)
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
