"""A proxy before PostgreSQL that knows enough of its protocol to lose the answer to a COMMIT.

A client asks for that itself: a statement with a mark in it, within the transaction. When the
server has said that it executed the COMMIT, the proxy hangs up, or falls silent, instead of
handing that on. The whole proxy can also partition, fall silent or delay every connection.
"""

from __future__ import annotations

import asyncio
import contextlib
import struct
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from sqlalchemy import URL, make_url

CUT = "mitigauge-rig-cut-after-commit"
SILENCE = "mitigauge-rig-silence-after-commit"
COMMITTED = b"C\x00\x00\x00\x0bCOMMIT\x00"
# Requests that stand for a start-up message and have no type byte.
SSL_REQUEST, GSS_REQUEST, CANCEL_REQUEST = 80877103, 80877104, 80877102
CHUNK = 1 << 16
LONGEST_MESSAGE = 1 << 28


class BrokenFrame(Exception):
    """Bytes that are no message of the protocol."""


@dataclass
class Frames:
    """Cuts a stream into messages: a type byte, a length that counts itself, a body."""

    waiting: bytes = b""

    def feed(self, data: bytes) -> Iterator[bytes]:
        """Whole messages, type and length included; a part is kept for the next time."""
        self.waiting += data
        while len(self.waiting) >= 5:
            (length,) = struct.unpack_from("!i", self.waiting, 1)
            if not 4 <= length <= LONGEST_MESSAGE:
                raise BrokenFrame(f"a message of type {self.waiting[:1]!r} says {length} bytes")
            if len(self.waiting) < 1 + length:
                return
            message, self.waiting = self.waiting[: 1 + length], self.waiting[1 + length :]
            yield message


@dataclass
class _Wire:
    """One connection: what its client asked for."""

    mark: str = ""
    silent: bool = False


@dataclass
class Proxy:
    """Listens in *directory* as a server would; *upstream* is the server's socket."""

    upstream: Path
    directory: Path
    port: int = 5432
    made: Counter[str] = field(default_factory=Counter)
    """How often each mark was obeyed, and connections hung up on by ``hang_up``."""
    delay_s: float = 0.0
    _loop: asyncio.AbstractEventLoop | None = None
    _tasks: set[asyncio.Task[None]] = field(default_factory=set)
    _open: asyncio.Event = field(default_factory=asyncio.Event)
    _done: asyncio.Event = field(default_factory=asyncio.Event)
    _refusing: bool = False

    @property
    def socket(self) -> Path:
        """The socket that clients connect to."""
        return self.directory / f".s.PGSQL.{self.port}"

    def url(self, url: str) -> str:
        """*url* of the server, through this proxy."""
        through: URL = make_url(url).update_query_dict(
            {"host": str(self.directory), "port": str(self.port)}
        )
        return through.render_as_string(hide_password=False)

    @contextlib.contextmanager
    def running(self) -> Iterator[Proxy]:
        """Serve from a thread of its own."""
        started = threading.Event()

        async def serve() -> None:
            self._loop = asyncio.get_running_loop()
            self._open, self._done = asyncio.Event(), asyncio.Event()
            self._open.set()
            server = await asyncio.start_unix_server(self._serve, str(self.socket))
            started.set()
            async with server:
                await self._done.wait()
            await self._drop_all()

        thread = threading.Thread(target=lambda: asyncio.run(serve()), daemon=True)
        thread.start()
        if not started.wait(10):
            raise RuntimeError(f"the proxy at {self.socket} did not start within 10 s")
        try:
            yield self
        finally:
            self._in_loop(self._done.set)
            thread.join(10)

    def silence(self) -> None:
        """Accept, and say nothing more on any connection, until healed."""
        self._in_loop(self._open.clear)

    def partition(self) -> None:
        """Hang up on everybody and accept nobody, until healed."""
        self._refusing = True
        self.hang_up()

    def hang_up(self) -> None:
        """Close every connection; new ones are served."""
        self._in_loop(self._cancel_all)

    def heal(self) -> None:
        """Serve as ever."""
        self._refusing = False
        self._in_loop(self._open.set)

    def _in_loop(self, call: Callable[[], object]) -> None:
        assert self._loop is not None
        self._loop.call_soon_threadsafe(call)

    def _cancel_all(self) -> None:
        self.made["hung up"] += len(self._tasks)
        for task in self._tasks:
            task.cancel()

    async def _drop_all(self) -> None:
        self._cancel_all()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _serve(self, client: asyncio.StreamReader, back: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        try:
            if not self._refusing:
                await self._relay(client, back)
        except (OSError, EOFError, BrokenFrame, asyncio.CancelledError):
            pass  # hung up, by one of the three
        finally:
            self._tasks.discard(task)
            back.transport.abort()

    async def _relay(self, client: asyncio.StreamReader, back: asyncio.StreamWriter) -> None:
        await self._open.wait()
        first = await _start_up(client, back)
        server, forth = await asyncio.open_unix_connection(str(self.upstream))
        wire = _Wire()
        try:
            forth.write(first)
            ways = {
                asyncio.create_task(self._forth(client, forth, wire)),
                asyncio.create_task(self._back(server, back, wire)),
            }
            try:
                await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
            finally:
                for way in ways:
                    way.cancel()
                await asyncio.gather(*ways, return_exceptions=True)
        finally:
            forth.transport.abort()

    async def _forth(
        self, client: asyncio.StreamReader, forth: asyncio.StreamWriter, wire: _Wire
    ) -> None:
        frames = Frames()
        while data := await client.read(CHUNK):
            await self._pace()
            for message in frames.feed(data):
                wire.mark = _mark_in(message) or wire.mark
                forth.write(message)
            if forth.is_closing():
                return
            await forth.drain()

    async def _back(
        self, server: asyncio.StreamReader, back: asyncio.StreamWriter, wire: _Wire
    ) -> None:
        frames = Frames()
        while data := await server.read(CHUNK):
            await self._pace()
            for message in frames.feed(data):
                if wire.mark and message == COMMITTED:
                    self.made[wire.mark] += 1
                    wire.silent = wire.mark == SILENCE
                    if not wire.silent:
                        return
                if not wire.silent:
                    back.write(message)
            if back.is_closing():
                return
            await back.drain()

    async def _pace(self) -> None:
        if self.delay_s:
            await asyncio.sleep(self.delay_s)
        await self._open.wait()


def _mark_in(message: bytes) -> str:
    """The mark within a query (``Q``) or a statement that is prepared (``P``)."""
    if message[:1] not in (b"Q", b"P"):
        return ""
    return next((mark for mark in (CUT, SILENCE) if mark.encode() in message), "")


async def _start_up(client: asyncio.StreamReader, back: asyncio.StreamWriter) -> bytes:
    """The start-up message; offers of encryption are declined."""
    while True:
        head = await client.readexactly(8)
        length, code = struct.unpack("!ii", head)
        if not 8 <= length <= LONGEST_MESSAGE:
            raise BrokenFrame(f"a start-up message says {length} bytes")
        if code not in (SSL_REQUEST, GSS_REQUEST):
            return head + await client.readexactly(length - 8)
        back.write(b"N")
