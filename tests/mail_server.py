"""A real mail server on a loopback port, which keeps what it is sent."""

from __future__ import annotations

import socket
import ssl
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from types import MappingProxyType
from typing import Any

from aiosmtpd.controller import Controller
from aiosmtpd.handlers import Message


class Kept(Message):
    """A server's handler that keeps what it was sent."""

    def __init__(self, refuses: Mapping[str, str]) -> None:
        super().__init__()
        self.mails: list[object] = []
        self.refuses = refuses

    async def handle_RCPT(  # noqa: N802 - the library's name
        self, _server: object, _session: object, envelope: Any, address: str, _options: object
    ) -> str:
        """Take a receiver, or say what is to be said of it."""
        if address in self.refuses:
            return self.refuses[address]
        envelope.rcpt_tos.append(address)
        return "250 OK"

    def handle_message(self, message: object) -> None:
        self.mails.append(message)


@contextmanager
def mail_server(
    refuses: Mapping[str, str] = MappingProxyType({}), *, tls: ssl.SSLContext | None = None
) -> Iterator[Controller]:
    """The server, for as long as the block lasts; its handler has what came.

    *refuses*: receiver → what is said of it. *tls*: what it shows after STARTTLS, which it then
    insists on.
    """
    with socket.create_server(("127.0.0.1", 0)) as once_taken:
        port = once_taken.getsockname()[1]
    insisting: dict[str, Any] = {"tls_context": tls, "require_starttls": True} if tls else {}
    controller = Controller(
        Kept(refuses),
        hostname="127.0.0.1",
        port=port,
        **insisting,
    )
    controller.start()
    try:
        yield controller
    finally:
        controller.stop()
