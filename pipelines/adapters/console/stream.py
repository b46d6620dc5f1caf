"""Consoles that tell only who listens: a process of ours does, and keeps what they say.

It outlives the step that started it, and the worker too: a boot goes on meanwhile. It is found
again by the lock that it holds on its lock file, which the kernel releases with it, however it
ends. It ends at the host's restore, and by itself when for long no boot was armed.
"""

from __future__ import annotations

import fcntl
import os
import signal
import struct
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

from mitigauge.core.settings import CODE, get_settings
from mitigauge.measurement.fleet.power_values import IpmiConsoleValues
from pipelines.adapters.console.line import StreamValues
from pipelines.adapters.console.log import ConsoleError, log_end, read_tail
from pipelines.adapters.console.probe import Probed, opened_for_a_moment
from pipelines.adapters.power.ipmi import ipmitool_environment
from pipelines.adapters.power.password import read_password
from pipelines.adapters.power.program import bare_environment

# What a reader says once it listens.
STARTED = "started"
# How a reader notes in the log that it lost the line; why follows.
LOST = "(console lost"
LOST_LINE_BYTES = 4096
START_S = 20.0
END_S = 5.0
_LOOK_EVERY_S = 0.05
# struct flock of Linux, 64 bits.
_FLOCK = "hhqqi"


class StreamConsole:
    """A line that is read over the network, by a process of its own."""

    def __init__(self, name: str, values: StreamValues) -> None:
        """*name* is the host's, ``environment/host``."""
        self._values = values
        self._log = get_settings().home.absolute() / "consoles" / f"{name}.log"
        self._lock_file = self._log.with_suffix(".lock")

    def listen(self) -> None:
        """Start the reader where none is; tell one that is that it is still wanted."""
        if isinstance(self._values, IpmiConsoleValues):
            # A bad file is told now, not in a log.
            read_password(self._values.password_file)
            ipmitool_environment(self._values)
        self._make_place()
        wanted = self._values.model_dump_json()
        if holder_of(self._lock_file) is not None and self._values_of_reader() == wanted:
            os.utime(self._lock_file)
            return
        self.end()
        self._start(wanted)

    def end(self) -> None:
        """Stop the reader, if one is there. Raises ConsoleError for one that stays."""
        # The handle is of the very process that holds the lock, whoever gets its number later.
        handle = self._running()
        if handle is None:
            return
        try:
            _signal(handle, signal.SIGTERM)
            if not self._gone_within(END_S):
                _signal(handle, signal.SIGKILL)
        finally:
            os.close(handle)
        if not self._gone_within(END_S):
            raise ConsoleError(
                f"The reader of {self._log} does not end.",
                hint=f"Its process is the one in {self._lock_file}.",
            )

    def tail(self, max_bytes: int = 16384) -> str:
        """See Console."""
        return read_tail(self._log, max_bytes)

    def offset(self) -> int:
        """See Console."""
        return log_end(self._log)

    def probe(self) -> Probed:
        """See Console. A line that a reader of ours listens to is not opened twice."""
        if (
            holder_of(self._lock_file) is None
            or self._values_of_reader() != self._values.model_dump_json()
        ):
            return opened_for_a_moment(self._values)
        last = self.tail(LOST_LINE_BYTES).rstrip().rpartition("\n")[2]
        if last.startswith(LOST):
            raise ConsoleError(
                f"{self._values.kind}: {last}",
                hint=f"Its reader tries again; {self._log} has all that it met.",
            )
        return Probed("a reader of ours listens")

    def _make_place(self) -> None:
        """The log and its folder, for our own eyes: a console shows what a host's root types."""
        try:
            self._log.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            os.close(os.open(self._log, os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW, 0o600))
        except OSError as error:
            raise ConsoleError(
                f"The console's log {self._log} cannot be made: {error.strerror}.",
                hint="Is there room, and may the worker's user write there?",
            ) from error

    def _start(self, wanted: str) -> None:
        command = [sys.executable, "-m", "pipelines.adapters.console.reader"]
        try:
            # It ends as soon as its child listens, or cannot: that is nobody's child then.
            done = subprocess.run(
                [*command, str(self._log), str(self._lock_file), wanted],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                timeout=START_S,
                check=False,
                # Not the worker's group: what ends a worker leaves the line listened to.
                start_new_session=True,
                env=bare_environment() | {"PYTHONPATH": str(CODE)},
                cwd="/",
            )
            said = done.stdout.strip()
        except (OSError, subprocess.TimeoutExpired) as error:
            said = str(error)
        if said != STARTED:
            raise ConsoleError(
                f"The reader of the console {self._log} did not start: {said[-300:]}",
                hint="See to the worker's machine; the host itself is not concerned.",
            )

    def _values_of_reader(self) -> str:
        """What the running reader was started with."""
        try:
            return self._lock_file.read_text()
        except OSError:
            return ""

    def _gone_within(self, seconds: float) -> bool:
        deadline = time.monotonic() + seconds
        while holder_of(self._lock_file) is not None:
            if time.monotonic() > deadline:
                return False
            time.sleep(_LOOK_EVERY_S)
        return True

    def _running(self) -> int | None:
        """A handle of the reader's process; None where no reader is."""
        pid = holder_of(self._lock_file)
        if pid is None:
            return None
        try:
            handle = os.pidfd_open(pid)
        except OSError:
            return None
        # Still held by that number, so the handle is the reader's and nobody else's.
        if holder_of(self._lock_file) == pid:
            return handle
        os.close(handle)
        return None


def _signal(handle: int, number: signal.Signals) -> None:
    with suppress(ProcessLookupError):
        signal.pidfd_send_signal(handle, number)


def holder_of(path: Path) -> int | None:
    """The process that holds the lock on *path*, as the kernel says; None where none does."""
    asked = struct.pack(_FLOCK, fcntl.F_WRLCK, os.SEEK_SET, 0, 0, 0)
    try:
        with path.open("rb") as opened:
            said = fcntl.fcntl(opened, fcntl.F_GETLK, asked)
    except OSError:
        return None
    kind, _, _, _, pid = struct.unpack(_FLOCK, said)
    return pid if kind != fcntl.F_UNLCK else None
