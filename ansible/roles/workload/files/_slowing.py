"""A slow-down of known size beside a case: a program that takes a part of each processor's time.

`_slowing.py CPU PERCENT` takes it until SIGTERM, in steps of some milliseconds, before every other
program (SCHED_FIFO). It goes by its own processor time, so that starting and waking count as taken.
Work that keeps a processor busy is slower by that part; work that waits is slowed by less.
Standard library only; staged beside the runner.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import FrameType, TracebackType

from _cases import c_locale, write_json

FILE = "slowed.json"
# Between two steps: many in the shortest iteration.
STEP_S = 0.005
# An emulated host starts a program in seconds.
READY_S = 30.0
END_S = 30.0
# What the part taken may be off, of itself.
TOLERANCE = 0.1


class Slowdown:
    """Takes *percent* of each processor that this process may use, from `with` to its end."""

    was_kept = True
    """Whether the part taken was as asked on every processor; known after the end."""

    def __init__(self, percent: int, output: Path) -> None:
        self._percent, self._output = percent, output
        self._takers: dict[int, subprocess.Popen[bytes]] = {}

    def __enter__(self) -> Slowdown:
        cpus = sorted(os.sched_getaffinity(0)) if self._percent else []
        for cpu in cpus:
            self._takers[cpu] = subprocess.Popen(
                [sys.executable, "-B", __file__, str(cpu), str(self._percent)],
                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, start_new_session=True,
                env=c_locale(),
            )  # fmt: skip
        for taker in self._takers.values():
            assert taker.stdout is not None
            # Begun before the case: its start would be in the case's first figures.
            select.select([taker.stdout], [], [], READY_S)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: object, trace: TracebackType | None
    ) -> None:
        if not self._takers:
            return
        for taker in self._takers.values():
            taker.terminate()
        taken = {str(cpu): _end(taker) for cpu, taker in self._takers.items()}
        self.was_kept = all(
            share is not None and abs(share - self._percent) <= TOLERANCE * self._percent
            for share in taken.values()
        )
        write_json(self._output / FILE, {"asked_percent": self._percent, "taken_percent": taken})


def _end(taker: subprocess.Popen[bytes]) -> float | None:
    """The percent that it took; None where it did not say."""
    try:
        text, _ = taker.communicate(timeout=END_S)
        return float(text)
    except (subprocess.TimeoutExpired, ValueError):
        taker.kill()
        return None


def take(cpu: int, percent: float) -> None:
    """Take so much of a processor's time until SIGTERM; print how much it was."""
    os.sched_setaffinity(0, {cpu})
    os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
    signal.signal(signal.SIGTERM, _leave)
    began, used = time.monotonic(), time.process_time()
    with contextlib.suppress(KeyboardInterrupt):
        sys.stdout.write("\n")
        sys.stdout.flush()
        while True:
            while 100 * (time.process_time() - used) < percent * (time.monotonic() - began):
                pass
            time.sleep(STEP_S)
    taken = 100 * (time.process_time() - used) / (time.monotonic() - began)
    sys.stdout.write(f"{taken:.4f}\n")


def _leave(_number: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt


if __name__ == "__main__":
    take(int(sys.argv[1]), float(sys.argv[2]))
