"""A console's log: a file that something appends what the serial line says to."""

from __future__ import annotations

import re
from pathlib import Path

from mitigauge.core.errors import MitigaugeError

# Colours and cursor movements of the machine's boot messages; a log is text.
_TERMINAL_CONTROL = re.compile(r"\x1b\[[0-9;?!]*[A-Za-z]")


class ConsoleError(MitigaugeError):
    """What a host's serial line says cannot be read."""

    status = 502


def read_tail(log: Path, max_bytes: int) -> str:
    """The last *max_bytes* of *log* as plain text. Raises :class:`ConsoleError`."""
    try:
        with log.open("rb") as opened:
            opened.seek(max(0, log_end(log) - max_bytes))
            said = opened.read(max_bytes)
    except OSError as error:
        raise _unreadable(log, error) from error
    # NUL is what a hole in a log reads as, and says nothing.
    text = said.replace(b"\0", b"").decode(errors="replace")
    return _TERMINAL_CONTROL.sub("", text).replace("\r", "")


def log_end(log: Path) -> int:
    """Bytes that *log* has had so far. Raises :class:`ConsoleError`."""
    try:
        return log.stat().st_size
    except OSError as error:
        raise _unreadable(log, error) from error


def _unreadable(log: Path, error: OSError) -> ConsoleError:
    return ConsoleError(
        f"The serial log {log} cannot be read: {error.strerror}.",
        hint="It is on the machine of the worker that booted the host, if anywhere.",
    )
