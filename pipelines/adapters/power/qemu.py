"""A QEMU process as its guest's baseboard controller."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TypeVar

from qemu.qmp import QMPClient, QMPError

from mitigauge.measurement.fleet.power_values import QemuPowerValues
from pipelines.adapters.power.in_time import in_time
from pipelines.adapters.power.protocol import PowerError

QMP_TIMEOUT_S = 20.0
_STATE_CHANGE_S = 10.0

Result = TypeVar("Result")


class QemuPower:
    """A QEMU process as its guest's baseboard controller, through its QMP socket.

    The process runs with ``-no-shutdown``, so it outlives a guest that powers
    off. *Off* is a stopped and reset machine; *on* lets it run from the firmware.
    QEMU serves one QMP client at a time, so a connection lasts one operation.
    """

    def __init__(self, values: QemuPowerValues) -> None:
        self._qmp = Path(values.qmp)

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

    def nmi(self) -> None:
        """See PowerControl."""

        async def inject(client: QMPClient) -> None:
            await client.execute("inject-nmi")

        self._session(inject)

    def progress(self) -> str:
        """See PowerControl."""
        return ""

    def _session(self, work: Callable[[QMPClient], Awaitable[Result]]) -> Result:
        async def talk() -> Result:
            client = QMPClient("mitigauge-power")
            await client.connect(str(self._qmp))
            try:
                return await work(client)
            finally:
                await client.disconnect()

        try:
            return in_time(talk, QMP_TIMEOUT_S)
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
