"""What a host's serial line says, wherever it is to be had."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

from mitigauge.measurement.fleet.power_values import (
    FileConsoleValues,
    NoConsoleValues,
    console_values,
)
from mitigauge.measurement.fleet.service import HostVars
from pipelines.adapters.console.log import ConsoleError, log_end, read_tail
from pipelines.adapters.console.probe import Probed
from pipelines.adapters.console.stream import StreamConsole

__all__ = ["Console", "ConsoleError", "FileConsole", "Probed", "StreamConsole", "open_console"]


class Console(Protocol):
    """A serial line and its log. All methods may raise ConsoleError."""

    def listen(self) -> None:
        """See to it that what the line says from now on is kept; costs nothing where it is."""

    def probe(self) -> Probed:
        """What a look at the line for a moment finds; nothing is sent, nobody's line is taken."""

    def end(self) -> None:
        """Stop keeping it. The log stays."""

    def tail(self, max_bytes: int = 16384) -> str:
        """The last bytes of what the line said."""

    def offset(self) -> int:
        """Bytes that the line has said so far, to cut out a later part by."""


class FileConsole:
    """A line that something else writes to a file, such as an emulator or a log service."""

    def __init__(self, log: Path) -> None:
        self._log = log

    def listen(self) -> None:
        """Whoever writes the file listens."""

    def probe(self) -> Probed:
        """See Console."""
        if not read_tail(self._log, 1) and not log_end(self._log):
            return Probed(
                f"{self._log} is empty",
                "Does what writes it run, and does the kernel have console=ttyS0 or its like?",
            )
        return Probed(f"{self._log}, {log_end(self._log)} bytes")

    def end(self) -> None:
        """Whoever writes the file goes on."""

    def tail(self, max_bytes: int = 16384) -> str:
        """See Console."""
        return read_tail(self._log, max_bytes)

    def offset(self) -> int:
        """See Console."""
        return log_end(self._log)


def open_console(host: HostVars) -> Console | None:
    """The console of an inventory host; None where it has none. Nothing is spoken to yet."""
    if not host.console:
        # An emulated host's machine writes its own.
        log = host.power.get("serial_log")
        return FileConsole(Path(log)) if log else None
    values = console_values(host.console)
    if isinstance(values, NoConsoleValues):
        return None
    if isinstance(values, FileConsoleValues):
        return FileConsole(Path(values.path))
    return StreamConsole(f"{host.environment}/{host.name}", values)
