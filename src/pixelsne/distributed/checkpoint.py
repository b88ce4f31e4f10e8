"""Checkpoints of a run on a cluster, in a folder that the client and all workers share.

`share-S` holds the ShardGraph of shard S and is written once. `stand-I-S` holds its ShardState after I iterations.
`run.pixelsne` is written last and names the iteration whose files are complete. Futures that read these files depend
on no earlier task. So if a worker is lost, only the iterations since the last checkpoint are computed again.
"""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from pixelsne.arrays import AnyArray
from pixelsne.descent_loop import LoopState
from pixelsne.distributed.affinities import ShardAffinities
from pixelsne.distributed.descent import ShardGraph, ShardState, ShardTasks
from pixelsne.distributed.halo import HaloExport
from pixelsne.distributed.shared_folder import check_shared_folder
from pixelsne.distributed.task_runner import TaskRunner
from pixelsne.files.archive import damage, read_archive, read_kind, write_archive
from pixelsne.files.checkpoint import LAST_SAMPLE, describe_loop_state, read_loop_state, read_timings
from pixelsne.files.errors import FileError
from pixelsne.files.identity import Identity, check_identity, describe_run
from pixelsne.settings import Settings, check_count

KIND = "pixelsne distributed run"
VERSION = 1
RUN = "run.pixelsne"
AFFINITY_PARTS = ("rows", "offsets", "columns", "values", "halo_rows", "halo_owners")
GRAPH_PARTS = (*AFFINITY_PARTS, "given_rows", "given_places", "sources", "source_lengths")
STATE_PARTS = ("positions", "velocity", "gains")


@dataclass(frozen=True)
class RunState(LoopState):
    """The state of a run that is not on the workers."""

    timings: dict[str, float]
    n_components: int | None  # dimensions after reduction


def identity_of(rows: int, columns: int, fingerprint: str, shards: int, settings: Settings) -> Identity:
    """Return the identity of a run: what must be equal to continue it.

    The number of shards is last, because it depends on the settings: a difference in those is reported first.
    """
    return describe_run(rows, columns, fingerprint, settings) | {"workers": shards}


def graph_file(folder: str, shard: int) -> Path:
    return Path(folder) / f"share-{shard:05}.pixelsne"


def state_file(folder: str, iteration: int, shard: int) -> Path:
    return Path(folder) / f"stand-{iteration:06}-{shard:05}.pixelsne"


def save_graph(graph: ShardGraph, folder: str) -> int:
    """Write a graph on the worker that holds it; return the shard."""
    lengths = [len(indices) for indices in graph.sources]
    arrays = {name: getattr(graph.affinities, name) for name in AFFINITY_PARTS}
    arrays |= {"given_rows": graph.exported.rows, "given_places": graph.exported.indices}
    arrays |= {"sources": np.concatenate(graph.sources), "source_lengths": np.array(lengths, dtype=np.int64)}
    shard = graph.affinities.shard
    write_archive(graph_file(folder, shard), {"shard": shard}, arrays)
    return shard


def load_graph(shard: int, folder: str) -> ShardGraph:
    *affinities, exported_rows, exported_indices, sources, lengths = read_arrays(graph_file(folder, shard), GRAPH_PARTS)
    exported = HaloExport(exported_rows, exported_indices)
    return ShardGraph(ShardAffinities(shard, *affinities), exported, np.split(sources, np.cumsum(lengths)[:-1]))


def save_state(state: ShardState, shard: int, folder: str, iteration: int) -> int:
    arrays = {name: getattr(state, name) for name in STATE_PARTS}
    write_archive(state_file(folder, iteration, shard), {"shard": shard, "iteration": iteration}, arrays)
    return shard


def load_state(shard: int, folder: str, iteration: int) -> ShardState:
    return ShardState(*read_arrays(state_file(folder, iteration, shard), STATE_PARTS))


def read_arrays(path: Path, names: tuple[str, ...]) -> list[AnyArray]:
    _, arrays = read_archive(path)
    missing = next((name for name in names if name not in arrays), None)
    if missing is not None:
        raise FileError(path, f"is damaged: it has no array {missing}")
    return [arrays[name] for name in names]


def has_run(folder: str | os.PathLike[str]) -> bool:
    """Return whether the folder holds a run to continue."""
    return (Path(folder) / RUN).exists()


def shards_of(folder: str | os.PathLike[str]) -> int | None:
    """Return the number of shards of the run in the folder; None if there is none."""
    if not has_run(folder):
        return None
    file = Path(folder) / RUN
    document, _ = read_kind(file, KIND, VERSION)
    try:
        return check_count("workers", document["run"]["workers"], 1)
    except (LookupError, TypeError, ValueError):
        raise FileError(file, "is damaged: the number of workers is missing") from None


class SharedFolder:
    """The folder with the checkpoint files of one run."""

    def __init__(self, path: str | Path, runner: TaskRunner, identity: Identity) -> None:
        self.path, self._runner, self._identity = Path(path).resolve(), runner, identity
        self._saved: list[int] = []  # the iterations of the last complete checkpoints, at most two
        self.path.mkdir(parents=True, exist_ok=True)
        check_shared_folder(runner.client, self.path)

    def run_state(self) -> RunState | None:
        """Return the state of an earlier run with the same data and settings; None if there is none."""
        if not has_run(self.path):
            return None
        file = self.path / RUN
        document, arrays = read_kind(file, KIND, VERSION)
        check_identity(file, document, self._identity)
        try:
            state = RunState(
                **vars(read_loop_state(document, arrays, 0, self._identity["max_iter"])),
                timings=read_timings(document),
                n_components=check_count("components", document["components"], 1),
            )
        except (LookupError, TypeError, ValueError, AttributeError) as error:
            raise FileError(file, f"is damaged: {damage(error)}") from None
        self._saved = [state.iteration]
        return state

    def save_graphs(self, graphs: list[Any]) -> None:
        self._runner.gather(self._runner.map_shards("save", save_graph, graphs, shared=(str(self.path),)))

    def load_graphs(self) -> list[Any]:
        return self._runner.map_shards("load", load_graph, range(self._runner.shards), shared=(str(self.path),))

    def load_states(self, iteration: int) -> list[Any]:
        shared = (str(self.path), iteration)
        return self._runner.map_shards("load", load_state, range(self._runner.shards), shared=shared)

    def save(self, tasks: ShardTasks, state: RunState) -> None:
        """Write a checkpoint and continue from its files, so that the scheduler can drop older tasks."""
        runner, folder = self._runner, str(self.path)
        shared = (folder, state.iteration)
        runner.gather(runner.map_shards("save", save_state, tasks.states, range(runner.shards), shared=shared))
        document = {
            "kind": KIND,
            "version": VERSION,
            "run": self._identity | {"workers": runner.shards},
            "timings": state.timings,
            "components": state.n_components,
            **describe_loop_state(state),
        }
        write_archive(self.path / RUN, document, {LAST_SAMPLE: state.last_sample})
        tasks.set_states(self.load_states(state.iteration))
        self._saved = [*(before for before in self._saved if before != state.iteration), state.iteration]
        # Tasks that still run depend on the checkpoint before, if a worker is lost.
        for before in self._saved[:-2]:
            for shard in range(runner.shards):
                state_file(folder, before, shard).unlink(missing_ok=True)
        self._saved = self._saved[-2:]

    def remove(self) -> None:
        """Delete the files, once the map is written."""
        for pattern in ("share-*.pixelsne", "stand-*.pixelsne", RUN):
            for file in self.path.glob(pattern):
                file.unlink()
