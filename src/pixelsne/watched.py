"""Run long calls into the core on a thread, so that Python stays responsive."""

import atexit
import threading
from collections.abc import Callable, Generator
from contextlib import closing
from typing import TypeVar

from pixelsne._core import ProgressToken

Result = TypeVar("Result")

SECONDS_BETWEEN_UPDATES = 0.05


def watched(call: Callable[[ProgressToken], Result]) -> Generator[float, None, Result]:
    """Run call(token) on a thread of its own; yield the fraction done, return the result.

    Python handles Ctrl-C only between its own instructions, so a call into the core would delay it. The call therefore
    runs on another thread. An interrupt, or closing the generator, cancels it.
    """
    token = ProgressToken()
    results: list[Result] = []
    errors: list[BaseException] = []
    done = threading.Event()

    def work() -> None:
        try:
            results.append(call(token))
        except BaseException as error:  # noqa: BLE001 - raised in the calling thread
            errors.append(error)
        finally:
            done.set()

    worker = threading.Thread(target=work, name="pixelsne", daemon=True)

    def stop() -> None:
        token.cancel()
        if worker.ident is not None:
            worker.join()

    # A thread that is still in the core when the interpreter shuts down would abort the process. If it is not joined
    # below (after a second Ctrl-C, or if the generator is never closed), it is joined at exit.
    atexit.register(stop)
    try:
        worker.start()
        while not done.wait(SECONDS_BETWEEN_UPDATES):
            yield token.fraction
    finally:
        stop()
        atexit.unregister(stop)
    if errors:
        raise errors[0]
    return results[0]


def run_to_completion(work: Generator[object, None, Result]) -> Result:
    """Return the result of a watched call, without reporting progress."""
    with closing(work):
        while True:
            try:
                next(work)
            except StopIteration as finished:
                return finished.value  # type: ignore[no-any-return]
