"""Receivers of webhooks that no library makes: those that hang, redirect, drown or end early."""

from __future__ import annotations

import socket
import ssl
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field

LONGEST_S = 20.0
PIECE = b"x" * 65536


@dataclass(frozen=True)
class Received:
    """One request. Names of heads in small letters."""

    line: str
    heads: dict[str, str]
    body: bytes


@dataclass
class HookServer:
    """Answers by what it *does*: a status, or ``hangs``, ``drips``, ``ends``, ``floods``."""

    does: str
    tls: ssl.SSLContext | None = None
    received: list[Received] = field(default_factory=list)
    sent: int = 0
    """Bytes that it could send."""

    def __post_init__(self) -> None:
        self.stopped = threading.Event()
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]

    @property
    def url(self) -> str:
        """Where it is, by address."""
        return f"http://127.0.0.1:{self.port}/hooks/abcdefgh1234"

    def serve(self) -> None:
        """Until it is stopped."""
        while not self.stopped.is_set():
            with suppress(OSError):
                connection, _ = self.listener.accept()
                threading.Thread(target=self._talk, args=(connection,), daemon=True).start()

    def _talk(self, plain: socket.socket) -> None:
        with suppress(OSError):
            connection = self.tls.wrap_socket(plain, server_side=True) if self.tls else plain
            with connection:
                self._answer(connection)

    def _answer(self, connection: socket.socket) -> None:
        lines = connection.makefile("rb")
        first = lines.readline().decode().strip()
        heads = {}
        while line := lines.readline().decode().strip():
            name, _, value = line.partition(":")
            heads[name.lower()] = value.strip()
        body = lines.read(int(heads.get("content-length", "0")))
        self.received.append(Received(first, heads, body))
        getattr(self, f"_{self.does}", self._says)(connection)

    def _says(self, connection: socket.socket) -> None:
        where = f"Location: {self.url}\r\n" if self.does.startswith("3") else ""
        connection.sendall(
            f"HTTP/1.1 {self.does} x\r\n{where}Content-Length: 2\r\n\r\nok".encode()
        )  # fmt: skip

    def _hangs(self, _connection: socket.socket) -> None:
        self.stopped.wait(LONGEST_S)

    def _ends(self, connection: socket.socket) -> None:
        connection.sendall(b"HTTP/1.1 20")

    def _drips(self, connection: socket.socket) -> None:
        until = time.monotonic() + LONGEST_S
        connection.sendall(b"HTTP/1.1 200 ok\r\nX-A: ")
        while not self.stopped.wait(0.05) and time.monotonic() < until:
            connection.sendall(b"a")

    def _floods(self, connection: socket.socket) -> None:
        connection.sendall(b"HTTP/1.1 200 ok\r\nContent-Length: 10000000000\r\n\r\n")
        while not self.stopped.is_set():
            connection.sendall(PIECE)
            self.sent += len(PIECE)


@contextmanager
def hook_server(does: str = "200", tls: ssl.SSLContext | None = None) -> Iterator[HookServer]:
    """One, for as long as the block lasts."""
    server = HookServer(does, tls)
    threading.Thread(target=server.serve, daemon=True).start()
    try:
        yield server
    finally:
        server.stopped.set()
        server.listener.close()
