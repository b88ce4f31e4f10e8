"""Submit the tasks of one run to Dask: their names, their workers, and tree reductions."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any
from uuid import uuid4

from pixelsne.distributed import waiting
from pixelsne.distributed.waiting import workers_of

# Results that are reduced by one task, so that no worker has to hold all.
FAN_IN = 8


def threads_here() -> int:
    """Return the threads of the worker that runs the calling task; they never change a result."""
    from distributed import get_worker  # noqa: PLC0415 - an extra

    try:
        return int(get_worker().state.nthreads)
    except ValueError:  # not on a worker: a test
        return 1


class TaskRunner:
    """Submit tasks with names that Dask's dashboard can group, on the worker that holds the shard's data."""

    def __init__(self, client: Any, shards: int) -> None:
        self.client = client
        self.shards = shards
        self._token = uuid4().hex[:12]
        self._submitted = 0
        self._workers: list[str] = []
        self._one_worker = False
        self.assign_workers()

    def limit_shards(self, shards: int) -> None:
        """Use at most this many shards."""
        self.shards = min(self.shards, shards)
        del self._workers[self.shards :]

    def assign_workers(self) -> None:
        """Assign a worker to each shard; again when workers came or went."""
        workers = workers_of(self.client)
        if not workers and self._workers:
            return  # `waiting` warns about it
        if not workers:
            raise RuntimeError(
                "the cluster has no workers: start some, as by `dask worker ADDRESS` with the scheduler's address, "
                "or wait until they have come, as client.wait_for_workers(1) does"
            )
        assigned = [worker if worker in workers else "" for worker in self._workers] or [""] * self.shards
        loads = Counter(worker for worker in assigned if worker)
        most = -(-self.shards // len(workers))
        for shard, worker in enumerate(assigned):
            if not worker or loads[worker] > most:
                loads[worker] -= 1
                assigned[shard] = min(workers, key=lambda worker: loads[worker])
                loads[assigned[shard]] += 1
        self._workers, self._one_worker = assigned, len(workers) == 1

    def task(self, name: str, function: Callable[..., Any], *arguments: Any, shard: int | None = None) -> Any:
        """Submit one call and return its future. Futures among the arguments become their results, also in lists."""
        self._submitted += 1
        # A preference for the only worker would keep a task waiting for it after that worker died.
        preferred = shard is not None and not self._one_worker
        where = {"workers": [self._workers[shard or 0]], "allow_other_workers": True} if preferred else {}
        key = f"{name}-{self._token}-{self._submitted}"
        return self.client.submit(function, *arguments, key=key, **where)

    def each(self, name: str, function: Callable[..., Any], *lists: Sequence[Any]) -> list[Any]:
        """Submit one call per shard; each list has one argument per shard."""
        return [
            self.task(name, function, *arguments, shard=shard)
            for shard, arguments in enumerate(zip(*lists, strict=True))
        ]

    def join(self, name: str, function: Callable[[list[Any]], Any], parts: Sequence[Any]) -> Any:
        """Reduce all parts by an associative function, FAN_IN at a time."""
        parts = list(parts)
        while len(parts) > 1:
            parts = [self.task(name, function, parts[at : at + FAN_IN]) for at in range(0, len(parts), FAN_IN)]
        return parts[0]

    def gather(self, futures: Sequence[Any]) -> list[Any]:
        """Return the results. While the cluster has no workers, warn, and finally raise (see `waiting`)."""
        return waiting.gather(self.client, futures)

    def wait(self, futures: Sequence[Any]) -> None:
        """Wait for all, without fetching them."""
        waiting.wait(self.client, futures)

    def completed(self, futures: Sequence[Any]) -> Iterator[Any]:
        """Yield futures as they are done."""
        return waiting.completed(self.client, futures)

    @property
    def tasks(self) -> int:
        """The number of tasks submitted so far."""
        return self._submitted
