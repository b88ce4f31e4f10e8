"""Ctrl-C and SIGTERM: at once where nothing is lost, or after the iteration at hand where work can be kept."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager

SIGNALS = (signal.SIGINT, signal.SIGTERM)


class Stopped(BaseException):
    """Somebody asked the process to end. No Exception, so that nobody takes it for an error of theirs."""

    def __init__(self, number: int, *, hurried: bool = False) -> None:
        super().__init__(number)
        self.exit_code = 128 + number  # 130 and 143, as shells count
        self.hurried = hurried  # in the middle of an iteration: what there is does not fit together


class Signals:
    def __init__(self) -> None:
        self._caught: int | None = None
        self._patient = False

    def __call__(self, number: int, _frame: object) -> None:
        if self._patient and self._caught is None:
            self._caught = number
        else:
            raise Stopped(number, hurried=self._patient)

    @contextmanager
    def patiently(self) -> Iterator[None]:
        """Puts a first signal off until `check`, or the end of this; a second one does not wait."""
        self._patient = True
        try:
            yield
        finally:
            self._patient = False
        self.check()

    def check(self) -> None:
        if self._caught is not None:
            number, self._caught = self._caught, None
            raise Stopped(number)


@contextmanager
def listening() -> Iterator[Signals]:
    """Only the main thread may; elsewhere signals stay as they are."""
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
