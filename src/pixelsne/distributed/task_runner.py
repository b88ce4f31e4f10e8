"""All calls to Dask: connecting, submitting tasks, waiting for results. Other modules only pass `client` on.

A cluster may lose all its workers for a moment (a nanny restarts them, an adaptive cluster adds some). Dask waits
silently for new workers. TaskRunner warns instead, and raises an error after a timeout.
"""

import asyncio
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from operator import getitem
from typing import Any
from uuid import uuid4

# The number of results that one task reduces, so that no worker has to hold all results.
FAN_IN = 8

SECONDS_TO_CONNECT = 30
IGNORE_INTERRUPTS = "pixelsne.distributed.ignore_interrupts"

SECONDS_BETWEEN_CHECKS = 1.0
SECONDS_BETWEEN_POLLS = 0.02  # of completed futures

# A nanny restarts a worker in less time.
SECONDS_UNTIL_WARNING = 5.0

# Key and default of the setting in Dask's configuration; None waits forever.
TIMEOUT_SETTING, DEFAULT_TIMEOUT = "pixelsne.no-workers-timeout", "5 minutes"


@contextmanager
def connect(address: str, workers: int) -> Iterator[Any]:
    """Yield a client of the scheduler at an address, or of a local cluster that ends with the block."""
    from distributed import Client, LocalCluster  # noqa: PLC0415 - an extra

    if address != "local":
        try:
            client = Client(address, timeout=SECONDS_TO_CONNECT)
        except (OSError, TimeoutError):
            raise RuntimeError(f"no scheduler answers at {address}; check the address of the scheduler") from None
        with client:
            yield client
        return
    local = LocalCluster(n_workers=workers, threads_per_worker=1, preload=[IGNORE_INTERRUPTS])
    with local as cluster, Client(cluster) as client:
        yield client


def current_client() -> Any:
    from distributed import get_client  # noqa: PLC0415 - an extra

    return get_client()


def workers_of(client: Any) -> list[str]:
    """Return the addresses of all workers. (The client's cached list may be incomplete.)"""
    return sorted(client.nthreads())


def run_on_workers(client: Any, function: Callable[..., Any], *arguments: Any) -> dict[str, Any]:
    """Call a function on every worker; return the results by address."""
    results: dict[str, Any] = client.run(function, *arguments)
    return results


def memory_limit(dask_worker: Any) -> int | None:
    """Return the limit of the worker that runs this; None if it has none. Dask passes the argument by its name."""
    limit: int | None = dask_worker.memory_manager.memory_limit
    return limit


def smallest_memory_limit(client: Any) -> int:
    """Return the smallest limit of all workers in bytes; 0 if none has a limit."""
    return min((limit for limit in run_on_workers(client, memory_limit).values() if limit), default=0)


def as_dask_array(parts: Sequence[Any], counts: Sequence[int], dtype: Any) -> Any:
    """Return a dask array (n, 2) from the futures of its parts."""
    import dask.array as da  # noqa: PLC0415 - an extra

    blocks = [da.from_delayed(part, shape=(count, 2), dtype=dtype) for part, count in zip(parts, counts, strict=True)]
    return da.concatenate(blocks, axis=0)


def threads_here() -> int:
    """Return the number of threads of the worker that runs the calling task. It never changes a result."""
    from distributed import get_worker  # noqa: PLC0415 - an extra

    try:
        return int(get_worker().state.nthreads)
    except ValueError:  # not on a worker: a test
        return 1


def workers_timeout() -> float | None:
    """Return how many seconds a run waits while the cluster has no workers; None: forever."""
    import dask  # noqa: PLC0415 - an extra
    from dask.utils import parse_timedelta  # noqa: PLC0415

    timeout = dask.config.get(TIMEOUT_SETTING, DEFAULT_TIMEOUT)
    return None if timeout is None else float(parse_timedelta(timeout))


class WorkerWatch:
    """Warns while a cluster has no workers, and raises RuntimeError after the timeout."""

    def __init__(self, client: Any) -> None:
        self._client = client
        self._checked = time.monotonic()
        self._gone_since: float | None = None
        self._warned = False

    def check(self) -> None:
        """Check for workers, at most once per SECONDS_BETWEEN_CHECKS."""
        now = time.monotonic()
        if now - self._checked < SECONDS_BETWEEN_CHECKS:
            return
        self._checked = now
        if workers_of(self._client):
            self._gone_since, self._warned = None, False
            return
        if self._gone_since is None:
            self._gone_since = now
        self._report(now - self._gone_since)

    def _report(self, seconds: float) -> None:
        timeout = workers_timeout()
        if timeout is not None and seconds >= timeout:
            raise RuntimeError(
                f"the cluster has had no workers for {seconds:.0f} s; start some and run this again (with a "
                f"checkpoint it continues from there), or raise {TIMEOUT_SETTING} in Dask's configuration"
            )
        if seconds < min(SECONDS_UNTIL_WARNING, timeout or SECONDS_UNTIL_WARNING) or self._warned:
            return
        self._warned = True
        end = "until there are some" if timeout is None else f"up to {timeout:.0f} s for new ones"
        warnings.warn(
            f"the cluster has no workers left; waiting {end} ({TIMEOUT_SETTING} in Dask's configuration)",
            RuntimeWarning,
            stacklevel=4,
        )


def raise_failure(future: Any) -> None:
    if future.status in {"error", "cancelled"}:
        future.result()


class TaskRunner:
    """Submits tasks, under names that Dask's dashboard groups, to the worker that holds the data of a shard."""

    def __init__(self, client: Any, shards: int) -> None:
        self.client = client
        self.shards = shards
        self._token = uuid4().hex[:12]
        self.tasks_submitted = 0
        self._workers: list[str] = []
        self._one_worker = False
        self.assign_workers()

    def limit_shards(self, shards: int) -> None:
        """Use at most this many shards."""
        self.shards = min(self.shards, shards)
        del self._workers[self.shards :]

    def assign_workers(self) -> None:
        """Assign a worker to each shard. Called again, it replaces lost workers and uses new ones."""
        workers = workers_of(self.client)
        if not workers and self._workers:
            return  # WorkerWatch warns about it
        if not workers:
            raise RuntimeError(
                "the cluster has no workers; start some with `dask worker SCHEDULER_ADDRESS`, or call "
                "client.wait_for_workers(1) first"
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

    def submit(self, name: str, function: Callable[..., Any], *arguments: Any, shard: int | None = None) -> Any:
        """Submit one call and return its future. Futures among the arguments become their results, also in lists."""
        self.tasks_submitted += 1
        # A task that prefers the only worker would wait for it even after that worker has died.
        preferred = shard is not None and not self._one_worker
        where = {"workers": [self._workers[shard or 0]], "allow_other_workers": True} if preferred else {}
        key = f"{name}-{self._token}-{self.tasks_submitted}"
        return self.client.submit(function, *arguments, key=key, **where)

    def map(
        self, name: str, function: Callable[..., Any], *lists: Sequence[Any], shared: Sequence[Any] = ()
    ) -> list[Any]:
        """Submit one call per partition. Its arguments are one element of each list, then those in `shared`."""
        return [self.submit(name, function, *arguments, *shared) for arguments in zip(*lists, strict=True)]

    def map_shards(
        self, name: str, function: Callable[..., Any], *lists: Sequence[Any], shared: Sequence[Any] = ()
    ) -> list[Any]:
        """Submit one call per shard, to the worker of the shard. Arguments are those of `map`."""
        return [
            self.submit(name, function, *arguments, *shared, shard=shard)
            for shard, arguments in enumerate(zip(*lists, strict=True))
        ]

    def transpose(self, name: str, lists: Sequence[Any], count: int) -> list[list[Any]]:
        """Return, for each index below `count`, the futures of the elements with this index of all lists.

        lists: futures of lists of `count` elements, such as messages to all shards.
        """
        return [[self.submit(name, getitem, items, index) for items in lists] for index in range(count)]

    def tree_reduce(self, name: str, function: Callable[[list[Any]], Any], parts: Sequence[Any]) -> Any:
        """Reduce all parts by an associative function, FAN_IN at a time."""
        parts = list(parts)
        while len(parts) > 1:
            groups = [parts[first : first + FAN_IN] for first in range(0, len(parts), FAN_IN)]
            parts = self.map(name, function, groups)
        return parts[0]

    def gather(self, futures: Sequence[Any]) -> list[Any]:
        """Return all results; raise the error of a task that failed."""
        watch = WorkerWatch(self.client)
        pending = asyncio.run_coroutine_threadsafe(
            self.client.gather(list(futures), asynchronous=True), self.client.loop.asyncio_loop
        )
        try:
            while not pending.done():
                try:
                    pending.exception(timeout=SECONDS_BETWEEN_CHECKS)
                except TimeoutError:
                    watch.check()
        except BaseException:
            pending.cancel()
            raise
        results: list[Any] = pending.result()
        return results

    def wait(self, futures: Sequence[Any]) -> None:
        """Wait for all futures, without fetching their results; raise the error of a task that failed."""
        from distributed import wait  # noqa: PLC0415 - an extra

        watch = WorkerWatch(self.client)
        while True:
            try:
                done = wait(list(futures), timeout=SECONDS_BETWEEN_CHECKS).done
            except TimeoutError:
                watch.check()
                continue
            for future in done:
                raise_failure(future)
            return

    def as_completed(self, futures: Sequence[Any]) -> Iterator[Any]:
        """Yield futures as they complete, without fetching their results; raise the error of a task that failed."""
        from distributed import as_completed  # noqa: PLC0415 - an extra

        watch, arriving = WorkerWatch(self.client), as_completed(list(futures))
        while not arriving.is_empty():
            if not arriving.has_ready():
                time.sleep(SECONDS_BETWEEN_POLLS)
                watch.check()
                continue
            for future in arriving.next_batch(block=False):
                raise_failure(future)
                yield future

    def cancel(self, futures: Sequence[Any]) -> None:
        """Cancel tasks that have not started."""
        self.client.cancel(futures)

    def compute(self, delayed: Sequence[Any]) -> list[Any]:
        """Return futures of delayed objects."""
        futures: list[Any] = self.client.compute(list(delayed))
        return futures
