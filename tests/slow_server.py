"""Mail servers that no library makes: those that stall, drip, or end in the middle."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

DRIP_S, LONGEST_S = 0.05, 6.0


class BadServer:
    """Speaks SMTP until *until* (``greeting``, ``mail``, ``data``, ``end``), then does *then*.

    ``drips``: says a byte at a time, for longer than a test waits; ``ends``: hangs up.
    """

    def __init__(self, until: str, then: str) -> None:
        self.until, self.then = until, then
        self.mails = 0
        self.stopped = threading.Event()
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.address = f"127.0.0.1:{self.listener.getsockname()[1]}"

    def serve(self) -> None:
        """Until it is stopped."""
        while not self.stopped.is_set():
            with suppress(OSError):
                connection, _ = self.listener.accept()
                with connection, suppress(OSError):
                    self._talk(connection)

    def _talk(self, connection: socket.socket) -> None:
        lines = connection.makefile("rb")
        if self._goes_wrong(connection, "greeting"):
            return
        connection.sendall(b"220 here\r\n")
        while line := lines.readline():
            verb = line.split()[0].upper()
            if verb == b"MAIL" and self._goes_wrong(connection, "mail"):
                return
            if verb != b"DATA":
                connection.sendall(b"221 bye\r\n" if verb == b"QUIT" else b"250 ok\r\n")
                continue
            if self._goes_wrong(connection, "data"):
                return
            connection.sendall(b"354 go on\r\n")
            while lines.readline() not in (b".\r\n", b""):
                pass
            self.mails += 1
            if self._goes_wrong(connection, "end"):
                return
            connection.sendall(b"250 taken\r\n")

    def _goes_wrong(self, connection: socket.socket, place: str) -> bool:
        if place != self.until:
            return False
        until = time.monotonic() + LONGEST_S
        while self.then == "drips" and not self.stopped.is_set() and time.monotonic() < until:
            connection.sendall(b"2")
            time.sleep(DRIP_S)
        return True


@contextmanager
def bad_server(until: str, then: str) -> Iterator[BadServer]:
    """One, for as long as the block lasts."""
    server = BadServer(until, then)
    thread = threading.Thread(target=server.serve, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.stopped.set()
        server.listener.close()
