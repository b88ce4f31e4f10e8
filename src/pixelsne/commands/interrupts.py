"""Handle Ctrl-C and SIGTERM: stop at once, or after the current iteration where a checkpoint can be written."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager

SIGNALS = (signal.SIGINT, signal.SIGTERM)


class Stopped(BaseException):
    """Raised when a signal ends the command. A BaseException, so that `except Exception` does not catch it."""

    def __init__(self, number: int, *, forced: bool = False) -> None:
        super().__init__(number)
        self.exit_code = 128 + number  # 130 and 143, as in shells
        self.forced = forced  # raised during an iteration, so the state is inconsistent


class Signals:
    """A signal handler that raises Stopped, at once or deferred."""

    def __init__(self) -> None:
        self._pending: int | None = None
        self._is_deferring = False

    def __call__(self, number: int, _frame: object) -> None:
        if self._is_deferring and self._pending is None:
            self._pending = number
        else:
            raise Stopped(number, forced=self._is_deferring)

    @contextmanager
    def deferred(self) -> Iterator[None]:
        """Defer a first signal until `check` or the end of the block. A second one raises at once."""
        self._is_deferring = True
        try:
            yield
        finally:
            self._is_deferring = False
        self.check()

    def check(self) -> None:
        """Raise Stopped if a signal was deferred."""
        if self._pending is not None:
            number, self._pending = self._pending, None
            raise Stopped(number)


@contextmanager
def handle_signals() -> Iterator[Signals]:
    """Install the signal handler. In threads other than the main one, which Python does not allow, do nothing."""
    signals = Signals()
    if threading.current_thread() is not threading.main_thread():
        yield signals
        return
    before = {number: signal.signal(number, signals) for number in SIGNALS}
    try:
        yield signals
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
