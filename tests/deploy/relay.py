"""A port of another address that leads to one of this machine's loopback."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress


class _Relay(threading.Thread):
    """Serves in a thread of its own until it is told to end."""

    def __init__(self, address: str, port: int) -> None:
        super().__init__(daemon=True)
        self._address, self._port = address, port
        self.ready = threading.Event()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._over: asyncio.Event | None = None

    def run(self) -> None:
        with suppress(asyncio.CancelledError):
            asyncio.run(self._serve())

    def end(self) -> None:
        if self._loop and self._over:
            self._loop.call_soon_threadsafe(self._over.set)
        self.join(10)

    async def _serve(self) -> None:
        self._loop, self._over = asyncio.get_running_loop(), asyncio.Event()
        server = await asyncio.start_server(self._accept, self._address, self._port)
        self.ready.set()
        await self._over.wait()
        server.close()

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        there, back = await asyncio.open_connection("127.0.0.1", self._port)
        await asyncio.gather(_pump(reader, back), _pump(there, writer))


async def _pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        with suppress(ConnectionError, asyncio.CancelledError):
            while data := await reader.read(65536):
                writer.write(data)
                await writer.drain()
    finally:
        writer.close()


@contextmanager
def relayed(address: str, port: int) -> Iterator[None]:
    """*port* of *address* leads to the same port of loopback for as long as the block lasts."""
    relay = _Relay(address, port)
    relay.start()
    assert relay.ready.wait(10), f"nothing listens on {address}:{port}"
    try:
        yield
    finally:
        relay.end()
