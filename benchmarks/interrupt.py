"""Measure the time from Ctrl-C to the end of a run: `interrupt.py [points]`, in every stage, on synthetic clusters.

Every run is a separate process, which receives the signal shortly after its stage has begun.
"""

import os
import signal
import subprocess
import sys
import time

from measure import Rows, clusters, save

CHILD = "--child"
# The stage and its progress.
MOMENTS = [
    ("reduce", 0.0),
    ("neighbors", 0.0),
    ("neighbors", 0.4),
    ("neighbors", 0.9),
    ("affinities", 0.0),
    ("affinities", 0.6),
    ("early", 0.0),
    ("late", 0.5),
]
SECONDS_INTO_STAGE = 0.1


def child(n: int, phase: str, fraction: float) -> None:
    from pixelsne import PixelSNE  # noqa: PLC0415 - the parent does not need it

    signaled = []

    def signal_once(snapshot: object) -> None:
        if not signaled and snapshot.phase == phase and snapshot.fraction >= fraction:  # type: ignore[attr-defined]
            signaled.append(True)
            print("now", flush=True)

    model = PixelSNE(callback=signal_once, random_state=0, tol=0.0)
    values = clusters(n)[0]
    try:
        model.fit(values)
    except KeyboardInterrupt:
        print("raised", flush=True)
    else:
        print(model.stopped_by_, flush=True)
    os._exit(0)


def interrupt(n: int, phase: str, fraction: float) -> dict[str, object]:
    command = [sys.executable, __file__, CHILD, str(n), phase, str(fraction)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None  # noqa: S101 - it is a pipe
        process.stdout.readline()
        time.sleep(SECONDS_INTO_STAGE)
        start = time.perf_counter()
        process.send_signal(signal.SIGINT)
        outcome = process.stdout.readline().strip()
        seconds = time.perf_counter() - start
    return {"n": n, "stage": phase, "from fraction": fraction, "outcome": outcome, "seconds": seconds}


def main(n: int) -> None:
    rows: Rows = []
    for phase, fraction in MOMENTS:
        rows.append(interrupt(n, phase, fraction))
        print(rows[-1], flush=True)
    save("interrupt", "Seconds from Ctrl-C to the end of `fit`", rows)


if __name__ == "__main__":
    if sys.argv[1:2] == [CHILD]:
        child(int(sys.argv[2]), sys.argv[3], float(sys.argv[4]))
    else:
        main(int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000)
