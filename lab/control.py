"""The lab's own line to a running QEMU: its control socket (QMP)."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

from qemu.qmp import QMPClient, QMPError

from lab.errors import LabError

CONTROL_TIMEOUT_S = 15.0

Result = TypeVar("Result")


def run_state(socket: Path) -> str:
    """QEMU's run state: ``running``, ``paused``, ``shutdown``, …"""

    async def query(client: QMPClient) -> str:
        answer = await client.execute("query-status")
        assert isinstance(answer, dict)
        return str(answer["status"])

    return _with_client(socket, query)


def quit_machine(socket: Path) -> None:
    """End the QEMU process."""

    async def leave(client: QMPClient) -> None:
        await client.execute("quit")

    _with_client(socket, leave)


def _with_client(socket: Path, work: Callable[[QMPClient], Awaitable[Result]]) -> Result:
    async def session() -> Result:
        client = QMPClient("mitigauge-lab")
        await client.connect(str(socket))
        try:
            return await work(client)
        finally:
            # One that was told to quit may be gone before it hears goodbye.
            with suppress(EOFError):
                await client.disconnect()

    try:
        return asyncio.run(asyncio.wait_for(session(), CONTROL_TIMEOUT_S))
    except (QMPError, OSError, TimeoutError) as error:
        raise LabError(f"QEMU does not answer on {socket}: {error!r}") from error
