"""The process that listens to one console and appends what it says to a log.

Started as ``python -m pipelines.adapters.console.reader LOG LOCK_FILE VALUES``. It comes back to a
line that breaks off, after a pause that grows; it says in the log when it lost the line and why.
The log's disk is bounded: old parts become holes, and every byte keeps its place, since runs
know their lines by place.
"""

from __future__ import annotations

import fcntl
import os
import signal
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from pydantic import TypeAdapter

from mitigauge.core.errors import MitigaugeError
from mitigauge.storage.files.log_files import cut_log, hollow_log
from pipelines.adapters.console.line import StreamValues, line
from pipelines.adapters.console.stream import LOST, STARTED

LOG_LIMIT_BYTES = 32 << 20
# Longer than the longest boot: nobody arms one within it, so no run is there.
IDLE_S = 12 * 3600
FIRST_PAUSE_S, LONGEST_PAUSE_S = 1.0, 60.0
# A line that held for so long was a good one.
STEADY_S = 60.0
_BOUND_EVERY_BYTES = 1 << 20

_VALUES: TypeAdapter[StreamValues] = TypeAdapter(StreamValues)


class _Unwanted(Exception):
    """Nobody wants the line any more."""


def main() -> int:
    """Listen in a child process until told to end, or idle for long; say when that began."""
    log, lock_file, wanted = Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3]
    values = _VALUES.validate_json(wanted)
    # Nobody's child: who started it may end, or live for weeks without asking for its status.
    if os.fork():
        return 0
    # What it holds locked is let go with it, however it ends.
    lock = os.open(lock_file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    fcntl.lockf(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    signal.signal(signal.SIGTERM, _end)
    os.ftruncate(lock, 0)
    os.write(lock, wanted.encode())
    print(STARTED, flush=True)
    with suppress(_Unwanted), log.open("ab", buffering=0) as kept:
        _let_go_of_output()
        _Listener(log, kept.fileno(), lock_file).listen(values)
    return 0


def _let_go_of_output() -> None:
    """Whoever started it reads its output until nobody holds that any more."""
    with open(os.devnull, "r+b", buffering=0) as nothing:
        for stream in (0, 1, 2):
            os.dup2(nothing.fileno(), stream)


def _end(_signal: int, _frame: object) -> None:
    raise _Unwanted


class _Listener:
    """One line, its log, and who wants it."""

    def __init__(self, log: Path, kept: int, lock_file: Path) -> None:
        self._log, self._kept, self._lock_file = log, kept, lock_file
        self._unbounded = 0

    def listen(self, values: StreamValues) -> None:
        """Connect, copy, and come back; ends by ``_Unwanted`` alone."""
        pause = FIRST_PAUSE_S
        while True:
            begun = time.monotonic()
            try:
                with line(values) as read:
                    self._copy(read)
                why = "it ended"
            except (OSError, MitigaugeError) as error:
                why = " ".join(str(error).split())
            if time.monotonic() - begun > STEADY_S:
                pause = FIRST_PAUSE_S
            self._keep(f"\n{LOST}, tried again in {pause:g} s: {why})\n".encode())
            self._pause(pause)
            pause = min(2 * pause, LONGEST_PAUSE_S)

    def _copy(self, read: Callable[[], bytes | None]) -> None:
        while (piece := read()) != b"":
            self._require_wanted()
            if piece:
                self._keep(piece)

    def _pause(self, seconds: float) -> None:
        self._require_wanted()
        time.sleep(seconds)

    def _keep(self, piece: bytes) -> None:
        try:
            os.write(self._kept, piece)
        except OSError:
            return  # a full disk loses what was said meanwhile, and nothing else
        self._unbounded += len(piece)
        if self._unbounded >= _BOUND_EVERY_BYTES:
            self._unbounded = 0
            _bound(self._log)

    def _require_wanted(self) -> None:
        """Raise ``_Unwanted`` once no boot was armed for long, or the lock file is gone."""
        try:
            armed = self._lock_file.stat().st_mtime
        except OSError:
            raise _Unwanted from None
        if time.time() - armed > IDLE_S:
            raise _Unwanted


def _bound(log: Path) -> None:
    with suppress(OSError):
        try:
            hollow_log(log, LOG_LIMIT_BYTES)
        except OSError:
            # A file system without holes: places change, the disk's limit stays.
            cut_log(log, LOG_LIMIT_BYTES)


if __name__ == "__main__":
    sys.exit(main())
