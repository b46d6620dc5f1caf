"""A real mail server on a loopback port, which keeps what it is sent."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import contextmanager

from aiosmtpd.controller import Controller
from aiosmtpd.handlers import Message


class Kept(Message):
    """A server's handler that keeps what it was sent."""

    def __init__(self) -> None:
        super().__init__()
        self.mails: list[object] = []

    def handle_message(self, message: object) -> None:
        self.mails.append(message)


@contextmanager
def mail_server() -> Iterator[Controller]:
    """The server, for as long as the block lasts; its handler has what came."""
    with socket.create_server(("127.0.0.1", 0)) as once_taken:
        port = once_taken.getsockname()[1]
    controller = Controller(Kept(), hostname="127.0.0.1", port=port)
    controller.start()
    try:
        yield controller
    finally:
        controller.stop()
