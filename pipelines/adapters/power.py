"""Power and serial console of a host, whatever controls them.

A driver is a baseboard controller in this sense: it works when the host's
kernel does not, and it stays reachable while the host is off.
"""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Awaitable, Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Protocol, TypeVar

from qemu.qmp import QMPClient, QMPError

from mitigauge.errors import InvalidInput, MitigaugeError

QMP_TIMEOUT_S = 20.0
_STATE_CHANGE_S = 10.0

# Colours and cursor movements of the guest's boot messages; a log is text.
_TERMINAL_CONTROL = re.compile(r"\x1b\[[0-9;?!]*[A-Za-z]")

Result = TypeVar("Result")


class PowerError(MitigaugeError):
    """The power of a host cannot be read or switched."""

    status = 502


class PowerControl(Protocol):
    """What Mitigauge needs of a baseboard controller. All methods may raise PowerError."""

    def is_on(self) -> bool:
        """True while the host is powered, booted or not."""

    def on(self) -> None:
        """Power up from cold; nothing happens if the host is on."""

    def off(self) -> None:
        """Cut the power at once, without asking the host."""

    def cycle(self) -> None:
        """Start the host anew through its firmware, whatever state it is in."""

    def serial_tail(self, max_bytes: int = 16384) -> str:
        """The last bytes of what the serial line said."""

    def serial_offset(self) -> int:
        """Bytes the serial line has said so far, to cut out a later part by."""


def open_power(host_vars: Mapping[str, Any]) -> PowerControl:
    """The power control that ``mitigauge_power`` of an inventory host describes."""
    power = host_vars.get("mitigauge_power")
    if not isinstance(power, Mapping):
        raise InvalidInput(
            "The host has no mitigauge_power in its inventory.",
            hint=f"Give it a driver: {', '.join(sorted(_DRIVERS))}.",
        )
    driver = str(power.get("driver"))
    if driver not in _DRIVERS:
        raise InvalidInput(
            f"mitigauge_power names an unknown driver {driver!r}.",
            hint=f"Known drivers: {', '.join(sorted(_DRIVERS))}.",
        )
    return _DRIVERS[driver](power)


class QemuPower:
    """A QEMU process as its guest's baseboard controller, through its QMP socket.

    The process runs with ``-no-shutdown``, so it outlives a guest that powers
    off. *Off* is a stopped and reset machine; *on* lets it run from the firmware.
    QEMU serves one QMP client at a time, so a connection lasts one operation.
    """

    def __init__(self, qmp: Path, serial_log: Path) -> None:
        self._qmp = qmp
        self._serial_log = serial_log

    @classmethod
    def from_vars(cls, power: Mapping[str, Any]) -> QemuPower:
        """From ``{driver: qemu, qmp: …, serial_log: …}``."""
        missing = [name for name in ("qmp", "serial_log") if not power.get(name)]
        if missing:
            raise InvalidInput(
                f"mitigauge_power with driver qemu lacks {', '.join(missing)}.",
                hint="`mitigauge lab up` writes them into the lab's inventory.",
            )
        return cls(Path(power["qmp"]), Path(power["serial_log"]))

    def is_on(self) -> bool:
        """See PowerControl."""
        return self._session(_run_state) == "running"

    def on(self) -> None:
        """See PowerControl."""

        async def power_up(client: QMPClient) -> None:
            if await _run_state(client) != "running":
                await _restart(client)

        self._session(power_up)

    def off(self) -> None:
        """See PowerControl."""

        async def cut(client: QMPClient) -> None:
            await client.execute("stop")
            # Forget the memory too: a machine without power cannot be resumed.
            await client.execute("system_reset")

        self._session(cut)

    def cycle(self) -> None:
        """See PowerControl."""
        self._session(_restart)

    def serial_tail(self, max_bytes: int = 16384) -> str:
        """See PowerControl."""
        try:
            with self._serial_log.open("rb") as log:
                log.seek(max(0, self.serial_offset() - max_bytes))
                said = log.read(max_bytes)
        except OSError as error:
            raise PowerError(
                f"The serial log {self._serial_log} cannot be read: {error}"
            ) from error
        return _TERMINAL_CONTROL.sub("", said.decode(errors="replace")).replace("\r", "")

    def serial_offset(self) -> int:
        """See PowerControl."""
        try:
            return self._serial_log.stat().st_size
        except OSError as error:
            raise PowerError(
                f"The serial log {self._serial_log} cannot be read: {error}"
            ) from error

    def _session(self, work: Callable[[QMPClient], Awaitable[Result]]) -> Result:
        async def talk() -> Result:
            client = QMPClient("mitigauge-power")
            await client.connect(str(self._qmp))
            try:
                return await work(client)
            finally:
                await client.disconnect()

        async def in_time() -> Result:
            return await asyncio.wait_for(talk(), QMP_TIMEOUT_S)

        # A thread of its own: the caller may already be inside an event loop.
        with ThreadPoolExecutor(1) as thread:
            try:
                return thread.submit(asyncio.run, in_time()).result()
            except (QMPError, OSError, TimeoutError) as error:
                raise PowerError(
                    f"QEMU does not answer on its power socket {self._qmp}: {error!r}",
                    hint="`mitigauge lab status` tells whether the host's process runs.",
                ) from error


async def _run_state(client: QMPClient) -> str:
    answer = await client.execute("query-status")
    if not isinstance(answer, dict):
        raise PowerError(f"QEMU answered query-status with {answer!r}.")
    return str(answer["status"])


async def _restart(client: QMPClient) -> None:
    """Reset the machine and let it run from its firmware."""
    await client.execute("system_reset")
    # The reset happens a moment later; a machine that powered itself off refuses to run before.
    deadline = time.monotonic() + _STATE_CHANGE_S
    while await _run_state(client) in _NEEDS_RESET:
        if time.monotonic() > deadline:
            raise PowerError("QEMU did not reset the machine.")
        await asyncio.sleep(0.05)
    if await _run_state(client) != "running":
        await client.execute("cont")


_NEEDS_RESET = frozenset({"shutdown", "internal-error", "guest-panicked"})

_DRIVERS: Mapping[str, Callable[[Mapping[str, Any]], PowerControl]] = {
    "qemu": QemuPower.from_vars,
}
