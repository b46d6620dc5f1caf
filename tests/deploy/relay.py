"""A port of another address that leads to one of this machine's loopback."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress


async def _pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(ConnectionError):
        while data := await reader.read(65536):
            writer.write(data)
            await writer.drain()
    writer.close()


async def _serve(address: str, port: int, ready: threading.Event, over: asyncio.Event) -> None:
    async def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        there, back = await asyncio.open_connection("127.0.0.1", port)
        await asyncio.gather(_pump(reader, back), _pump(there, writer))

    async with await asyncio.start_server(accept, address, port):
        ready.set()
        await over.wait()


@contextmanager
def relayed(address: str, port: int) -> Iterator[None]:
    """*port* of *address* leads to the same port of loopback for as long as the block lasts."""
    loop = asyncio.new_event_loop()
    ready, over = threading.Event(), asyncio.Event()
    thread = threading.Thread(
        target=lambda: loop.run_until_complete(_serve(address, port, ready, over)), daemon=True
    )
    thread.start()
    assert ready.wait(10), f"nothing listens on {address}:{port}"
    try:
        yield
    finally:
        loop.call_soon_threadsafe(over.set)
        thread.join(10)
