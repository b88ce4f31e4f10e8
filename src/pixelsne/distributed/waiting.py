"""Waiting for results, without waiting in silence for workers that are gone.

A cluster may lose all its workers for a moment (a nanny starts them again, an adaptive cluster adds some). Then Dask
waits until there are workers again. Here, such a wait is announced, and it ends.
"""

import asyncio
import time
import warnings
from collections.abc import Iterator, Sequence
from typing import Any

SECONDS_BETWEEN_CHECKS = 1.0
SECONDS_BETWEEN_LOOKS = 0.02  # at what is completed

# Restarting a worker takes less.
SECONDS_UNTIL_WARNING = 5.0

# Dask's configuration may have another; None waits without an end.
TIMEOUT_SETTING, DEFAULT_TIMEOUT = "pixelsne.no-workers-timeout", "5 minutes"


def workers_of(client: Any) -> list[str]:
    """Their addresses. (What the client itself remembers of them is cut short now and then.)"""
    return sorted(client.nthreads())


def workers_timeout() -> float | None:
    """Return how many seconds a run waits while the cluster has no workers; None: as long as it takes."""
    import dask  # noqa: PLC0415 - an extra
    from dask.utils import parse_timedelta  # noqa: PLC0415

    given = dask.config.get(TIMEOUT_SETTING, DEFAULT_TIMEOUT)
    return None if given is None else float(parse_timedelta(given))


class WorkerWatch:
    """Warns while a cluster has no workers, and raises RuntimeError after the timeout."""

    def __init__(self, client: Any) -> None:
        self._client = client
        self._checked = time.monotonic()
        self._gone_since: float | None = None
        self._warned = False

    def check(self) -> None:
        """Look for workers, if the last look is long enough ago."""
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


def gather(client: Any, futures: Sequence[Any]) -> list[Any]:
    """Return all results; raise what went wrong on a worker."""
    watch = WorkerWatch(client)
    pending = asyncio.run_coroutine_threadsafe(
        client.gather(list(futures), asynchronous=True), client.loop.asyncio_loop
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


def completed(client: Any, futures: Sequence[Any]) -> Iterator[Any]:
    """Yield futures as they are done, without fetching them; raise what went wrong on a worker."""
    from distributed import as_completed  # noqa: PLC0415 - an extra

    watch, arriving = WorkerWatch(client), as_completed(list(futures))
    while not arriving.is_empty():
        if not arriving.has_ready():
            time.sleep(SECONDS_BETWEEN_LOOKS)
            watch.check()
            continue
        for future in arriving.next_batch(block=False):
            raise_failure(future)
            yield future


def wait(client: Any, futures: Sequence[Any]) -> None:
    """Wait for all, without fetching them; raise what went wrong on a worker."""
    from distributed import wait as wait_for_all  # noqa: PLC0415 - an extra

    watch = WorkerWatch(client)
    while True:
        try:
            done = wait_for_all(list(futures), timeout=SECONDS_BETWEEN_CHECKS).done
        except TimeoutError:
            watch.check()
            continue
        for future in done:
            raise_failure(future)
        return
