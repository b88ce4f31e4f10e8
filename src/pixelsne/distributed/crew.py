"""The workers of one run: how tasks are named, where they go, and how many results become one."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any
from uuid import uuid4

from pixelsne.distributed import waiting
from pixelsne.distributed.waiting import workers_of

# Results are brought together so many at a time, so that no worker has to hold all.
FAN_IN = 8


def threads_here() -> int:
    """Of the worker that runs the calling task; they never change a result."""
    from distributed import get_worker  # noqa: PLC0415 - an extra

    try:
        return int(get_worker().state.nthreads)
    except ValueError:  # no worker: a test
        return 1


class Crew:
    """Submits tasks under names that the dashboard can group, each shard's near the shard's data."""

    def __init__(self, client: Any, shards: int) -> None:
        self.client = client
        self.shards = shards
        self._token = uuid4().hex[:12]
        self._submitted = 0
        self._homes: list[str] = []
        self._one_worker = False
        self.find_homes()

    def take_fewer(self, shards: int) -> None:
        """Not more shards than that; the workers of those left out are free again."""
        self.shards = min(self.shards, shards)
        del self._homes[self.shards :]

    def find_homes(self) -> None:
        """Which worker each shard should be at; anew when workers came or went."""
        workers = workers_of(self.client)
        if not workers and self._homes:
            return  # whoever waits for results says so, and for how long
        if not workers:
            raise RuntimeError(
                "the cluster has no workers: start some, as by `dask worker ADDRESS` with the scheduler's address, "
                "or wait until they have come, as client.wait_for_workers(1) does"
            )
        homes = [home if home in workers else "" for home in self._homes] or [""] * self.shards
        loads = Counter(home for home in homes if home)
        most = -(-self.shards // len(workers))
        for shard, home in enumerate(homes):
            if not home or loads[home] > most:
                loads[home] -= 1
                homes[shard] = min(workers, key=lambda worker: loads[worker])
                loads[homes[shard]] += 1
        self._homes, self._one_worker = homes, len(workers) == 1

    def task(self, name: str, function: Callable[..., Any], *arguments: Any, shard: int | None = None) -> Any:
        """The future of one call. Futures among the arguments, or in lists of them, become their results."""
        self._submitted += 1
        # A wish that names the only worker would keep the task waiting for it after its death.
        wished = shard is not None and not self._one_worker
        where = {"workers": [self._homes[shard or 0]], "allow_other_workers": True} if wished else {}
        key = f"{name}-{self._token}-{self._submitted}"
        return self.client.submit(function, *arguments, key=key, **where)

    def each(self, name: str, function: Callable[..., Any], *lists: Sequence[Any]) -> list[Any]:
        """One call for each shard; the lists have an argument for each."""
        return [
            self.task(name, function, *arguments, shard=shard)
            for shard, arguments in enumerate(zip(*lists, strict=True))
        ]

    def join(self, name: str, function: Callable[[list[Any]], Any], parts: Sequence[Any]) -> Any:
        """function(all parts), taken step by step; it must not matter how they are grouped."""
        parts = list(parts)
        while len(parts) > 1:
            parts = [self.task(name, function, parts[at : at + FAN_IN]) for at in range(0, len(parts), FAN_IN)]
        return parts[0]

    def gather(self, futures: Sequence[Any]) -> list[Any]:
        """Their results. While the cluster has no workers this warns, and in the end raises (see `waiting`)."""
        return waiting.gather(self.client, futures)

    def wait(self, futures: Sequence[Any]) -> None:
        """The same without fetching them."""
        waiting.wait(self.client, futures)

    def completed(self, futures: Sequence[Any]) -> Iterator[Any]:
        """The same one by one, as they are done."""
        return waiting.completed(self.client, futures)

    @property
    def tasks(self) -> int:
        """Submitted so far."""
        return self._submitted
