"""The descent, shard by shard.

An iteration has four tasks. Each shard summarizes its positions (`summarize`) and deposits them on a lattice
(`deposit`), which follows from all summaries. One task adds up and convolves the lattices (`repulsion.repel`). Each
shard moves its points (`move_shard`). Small maps have no lattice: there `deposit` returns the positions. All tasks are
pure, so that the results of a lost worker can be computed again.
"""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, cast
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from pixelsne import _core
from pixelsne.arrays import Positions
from pixelsne.distributed.affinities import ShardAffinities, ShardKernels
from pixelsne.distributed.halo import HaloExport, decode, encode
from pixelsne.distributed.repulsion import (
    DescentSettings,
    Field,
    GatheredRepulsion,
    GlobalState,
    ShardSummary,
    bounds_of,
    center_of,
    merge,
    reduce_global,
    relay,
    repel,
)
from pixelsne.distributed.sized import Sized, aligned
from pixelsne.distributed.task_runner import FAN_IN, TaskRunner, threads_here
from pixelsne.schedule import ScheduleStep


@dataclass
class ShardGraph(Sized):
    """A shard's rows of P and its halo, which do not change during the descent."""

    affinities: ShardAffinities
    exported: HaloExport
    sources: list[NDArray[np.int32]]  # for each shard: which of its exported points are in this halo, by index
    _attraction: _core.Attraction | None = field(default=None, repr=False)

    def attraction(self) -> _core.Attraction:
        """Return the rows of P as an object of the core, which checks them once per process."""
        if self._attraction is None:
            rows = self.affinities
            points = len(rows.rows) + len(rows.halo_rows)
            self._attraction = _core.Attraction(
                aligned(rows.offsets), aligned(rows.columns), aligned(rows.values), points
            )
        return self._attraction

    def __getstate__(self) -> dict[str, Any]:
        return vars(self) | {"_attraction": None}


@dataclass(frozen=True, eq=False)
class ShardState(Sized):
    """Positions, velocities and gains of a shard's points. Positions are not centered. Compared by identity."""

    positions: Positions  # (own, 2)
    velocity: Positions
    gains: Positions


def initial_state(kernels: ShardKernels) -> ShardState:
    positions = kernels.positions
    return ShardState(positions, np.zeros_like(positions), np.ones_like(positions))


def summarize(graph: ShardGraph, state: ShardState) -> ShardSummary:
    positions, threads = aligned(state.positions), threads_here()
    return ShardSummary(
        len(positions),
        _core.sum_positions(positions, threads),
        _core.bounds(positions, threads),
        encode(positions, aligned(graph.exported.indices), threads),
    )


def centered(state: ShardState, summaries: Sequence[ShardSummary]) -> Positions:
    """Return the positions of a shard minus the mean position of all points."""
    positions = np.empty_like(state.positions)
    _core.center_positions(aligned(state.positions), center_of(summaries), positions, threads_here())
    return positions


class StepCache:
    """Intermediate results of a shard, kept on a worker between `deposit` and `move_shard`.

    Both run on the same worker, unless a worker was lost; then `move_shard` computes them again.
    """

    def __init__(
        self, graph: ShardGraph, state: ShardState, summaries: list[ShardSummary], settings: DescentSettings
    ) -> None:
        self.positions, self.threads = centered(state, summaries), threads_here()
        self.bounds = bounds_of(summaries)
        self.shard_field: _core.ShardField | None = None
        if not settings.gathers_positions:
            self.lattice = _core.choose_lattice(self.bounds, settings.n, settings.most_nodes)
            self.shard_field = _core.ShardField(self.positions, self.lattice, self.threads)
        self._attract: Callable[[], Positions] = lambda: self._pull(graph, summaries)

    def _pull(self, graph: ShardGraph, summaries: list[ShardSummary]) -> Positions:
        pull = np.empty_like(self.positions)
        graph.attraction().forces(with_halo(graph, self.positions, summaries, self.threads), pull, self.threads)
        return pull

    def start_attraction(self) -> None:
        """Start computing the attraction on a thread, while lattices are sent and convolved."""
        self._attract = _attraction_thread.submit(self._attract).result

    def attraction(self) -> Positions:
        return self._attract()

    def deposit(self) -> NDArray[np.float32]:
        """Return the lattice with this shard's points deposited, or the positions if there is no lattice."""
        if self.shard_field is None:
            return self.positions.copy()  # `move_shard` changes these in place
        nodes = np.empty((self.lattice[4], self.lattice[3]), dtype=np.float32)
        self.shard_field.deposit(nodes, self.threads)
        return nodes

    def push(self, repulsion: Field | GatheredRepulsion, shard: int, summaries: list[ShardSummary]) -> Positions:
        """Return the repulsion on the shard's points, (own, 2)."""
        if isinstance(repulsion, GatheredRepulsion) or self.shard_field is None:
            return cast("GatheredRepulsion", repulsion).of_shard(shard, summaries)
        push = np.empty_like(self.positions)
        self.shard_field.interpolate(repulsion.nodes, push, self.threads)
        return push


# The cache of each state; it is dropped together with the state.
_caches: WeakKeyDictionary[ShardState, StepCache] = WeakKeyDictionary()
_attraction_thread = ThreadPoolExecutor(1, thread_name_prefix="pixelsne-attraction")


def deposit(
    graph: ShardGraph, state: ShardState, summaries: list[ShardSummary], settings: DescentSettings
) -> NDArray[np.float32]:
    cache = StepCache(graph, state, summaries, settings)
    deposited = cache.deposit()
    _caches[state] = cache
    cache.start_attraction()
    return deposited


def with_halo(graph: ShardGraph, own: Positions, summaries: list[ShardSummary], threads: int) -> Positions:
    """Return the centered positions of the shard's points and its halo, (own + halo, 2)."""
    ends = np.cumsum([len(own), *(len(indices) for indices in graph.sources)])
    whole, center = np.empty((ends[-1], 2), dtype=np.float32), center_of(summaries)
    whole[: len(own)] = own
    for summary, indices, begin, end in zip(summaries, graph.sources, ends[:-1], ends[1:], strict=True):
        decode(summary.encoded, indices, center, whole[begin:end], threads)
    return whole


def move_shard(
    graph: ShardGraph,
    state: ShardState,
    repulsion: Field | GatheredRepulsion,
    summaries: list[ShardSummary],
    settings: DescentSettings,
    step: ScheduleStep,
) -> ShardState:
    """Move the shard's points by one schedule step."""
    cache = _caches.pop(state, None) or StepCache(graph, state, summaries, settings)
    own, threads, pull = cache.positions, cache.threads, cache.attraction()
    push = cache.push(repulsion, graph.affinities.shard, summaries)
    del cache  # it holds most of the memory of an iteration
    velocity, gains = state.velocity.copy(), state.gains.copy()
    _core.move(
        own,
        velocity,
        gains,
        pull,
        push,
        step.exaggeration,
        repulsion.normalizer,
        step.learning_rate,
        step.momentum,
        settings.step_limit,
        threads,
    )
    return ShardState(own, velocity, gains)


@dataclass(frozen=True)
class ShardMeasurement(Sized):
    """A shard's contribution to KL, and some of its positions, for the client."""

    logarithms: float  # sum of p log(p (1 + d2))
    mass: float  # sum of p
    sampled: Positions  # centered


def measure(graph: ShardGraph, state: ShardState, summaries: list[ShardSummary], every: int) -> ShardMeasurement:
    """Return the measurement of a shard, with every `every`-th of its positions."""
    own, threads = centered(state, summaries), threads_here()
    logarithms, mass = graph.attraction().divergence(with_halo(graph, own, summaries, threads), threads)
    return ShardMeasurement(logarithms, mass, own[::every])


class ShardTasks:
    """Submits iterations as tasks. Its attributes are futures of the latest iteration."""

    def __init__(self, runner: TaskRunner, graphs: list[Any], states: list[Any], settings: DescentSettings) -> None:
        self.runner, self.graphs, self.states, self.settings = runner, graphs, states, settings
        self.summaries = self._summarize(states)
        self._repulsion: Any = None  # of the current positions, once computed

    def _summarize(self, states: list[Any]) -> list[Any]:
        return self.runner.map_shards("summarize", summarize, self.graphs, states)

    def repulsion(self) -> Any:
        """Return the repulsion of the current positions, as a future."""
        if self._repulsion is None:
            self._repulsion = self._submit_repulsion()
        return self._repulsion

    def _submit_repulsion(self) -> Any:
        runner, summaries = self.runner, self.summaries
        parts = runner.map_shards("deposit", deposit, self.graphs, self.states, shared=(summaries, self.settings))
        while len(parts) > FAN_IN:
            groups = [parts[first : first + FAN_IN] for first in range(0, len(parts), FAN_IN)]
            parts = runner.map("add", merge, groups, shared=(self.settings,))
        # Always on the worker of shard 0, which keeps the spectrum of the kernel.
        return runner.submit("convolve", repel, parts, summaries, self.settings, shard=0)

    def _broadcast(self, repulsion: Any) -> list[Any]:
        """Return the repulsion for each shard. Many shards get copies from several workers: one cannot serve all."""
        counts = [self.runner.shards]
        while counts[-1] > FAN_IN:
            counts.append(-(-counts[-1] // FAN_IN))
        copies = [repulsion]
        for count in reversed(counts[1:]):
            copies = [
                self.runner.submit(
                    "relay", relay, copies[index * len(copies) // count], shard=index * counts[0] // count
                )
                for index in range(count)
            ]
        return [copies[shard * len(copies) // counts[0]] for shard in range(counts[0])]

    def step(self, step: ScheduleStep) -> None:
        """Submit one iteration, without waiting for it."""
        repulsions, shared = self._broadcast(self.repulsion()), (self.summaries, self.settings, step)
        self.set_states(self.runner.map_shards("move", move_shard, self.graphs, self.states, repulsions, shared=shared))

    def set_states(self, states: list[Any]) -> None:
        """Replace the states by others, from files or after a step."""
        summaries = self._summarize(states)
        # In one statement, so that an interrupt leaves a consistent state.
        self.states, self.summaries, self._repulsion = states, summaries, None

    def measure(self, every: int, *, exactly: bool = False) -> tuple[GlobalState, list[ShardMeasurement]]:
        """Wait for all submitted tasks and measure the map. exactly: use an exact normalizer for small maps."""
        runner, summaries = self.runner, self.summaries
        measured = runner.map_shards("measure", measure, self.graphs, self.states, shared=(summaries, every))
        parts = None
        if exactly and self.settings.gathers_positions:
            parts = runner.map("measure", centered, self.states, shared=(summaries,))
        whole = runner.submit("measure", reduce_global, self.repulsion(), summaries, parts)
        results = runner.gather([whole, *measured])
        return results[0], results[1:]
