"""The service behind a real HTTP server on loopback, in a thread of the test."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from fastapi import FastAPI

from api.server import make_server


@contextmanager
def serving(app: FastAPI) -> Iterator[int]:
    """Serve for as long as the block lasts; gives the port."""
    listener = socket.create_server(("127.0.0.1", 0))
    server = make_server(app)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
    thread.start()
    deadline = time.monotonic() + 30
    while not server.started and time.monotonic() < deadline:
        time.sleep(0.01)
    try:
        yield listener.getsockname()[1]
    finally:
        server.should_exit = True
        thread.join(30)
        listener.close()
        assert not thread.is_alive()


def spoken(port: int, words: bytes, *, wait_s: float = 10.0) -> bytes:
    """What the server answers to those bytes, until it hangs up or is silent for *wait_s*."""
    with socket.create_connection(("127.0.0.1", port), timeout=wait_s) as connection:
        connection.sendall(words)
        return heard(connection)


def heard(connection: socket.socket) -> bytes:
    """Everything the other side says, until it hangs up or is silent."""
    said = b""
    try:
        while piece := connection.recv(65536):
            said += piece
    except (TimeoutError, ConnectionResetError):
        pass
    return said
