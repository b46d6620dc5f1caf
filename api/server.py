"""The HTTP server: with time-outs on whoever is slow, and an end when it is asked to end."""

from __future__ import annotations

import asyncio
import errno
import gc
import socket
from typing import Any

import h11
import uvicorn
from fastapi import FastAPI
from uvicorn.protocols.http.h11_impl import H11Protocol

from api.app import Service
from mitigauge.core.errors import InvalidInput
from mitigauge.core.settings import get_settings

# Nobody who means it needs longer for some lines of headers.
HEADERS_TIMEOUT_S = 15.0
# Of sent bytes that the other side does not take off the line.
UNREAD_TIMEOUT_S = 30
HEADERS_LIMIT_BYTES = 32 << 10
# After this the answers in hand are given up.
GRACE_S = 5
CONNECTIONS = 500


class PatientProtocol(H11Protocol):
    """HTTP/1.1 of uvicorn, which itself waits for ever for headers and for readers."""

    _waiting: asyncio.TimerHandle | None = None
    _for_body = False

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to wait for the first request's headers."""
        super().connection_made(transport)
        raw: socket.socket | None = transport.get_extra_info("socket")
        if raw is not None and raw.family in (socket.AF_INET, socket.AF_INET6):
            raw.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, UNREAD_TIMEOUT_S * 1000)
            # asyncio does so only for sockets that it opened itself; else each answer may wait for
            # the other side's delayed acknowledgement, some 40 ms.
            raw.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._wait()

    def data_received(self, data: bytes) -> None:
        """Stop waiting once nothing more is owed; begin where headers have begun to come."""
        super().data_received(data)
        body = self._body_owed()
        if not (body or self._owed()):
            self._wait_no_more()
        elif self._waiting is None or body is not self._for_body:
            self._wait_no_more()
            self._wait(for_body=body)

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait for nothing any more."""
        self._wait_no_more()
        super().connection_lost(exc)

    def _unsupported_upgrade_warning(self) -> None:
        """Say it in one line; uvicorn says two, and how to install what is left out."""
        self.logger.warning("A request asks for another protocol, which is not spoken here.")

    def _wait(self, *, for_body: bool = False) -> None:
        # Whatever reads a body may answer in time; this is for what reads it without a limit.
        body_s = get_settings().body_timeout_s + GRACE_S
        seconds = body_s if for_body else HEADERS_TIMEOUT_S
        self._for_body = for_body
        self._waiting = self.loop.call_later(seconds, self._too_slow)

    def _wait_no_more(self) -> None:
        if self._waiting is not None:
            self._waiting.cancel()
            self._waiting = None

    def _owed(self) -> bool:
        """Whether the other side has still to send headers, or a body that is answered already.

        Such a body is thrown away for a while: hanging up on it would take back the answer.
        """
        if self.conn.their_state is h11.SEND_BODY:
            return self.cycle.response_complete
        return self.conn.their_state is h11.IDLE

    def _body_owed(self) -> bool:
        """Whether a request waits for the rest of its body."""
        return self.conn.their_state is h11.SEND_BODY and not self.cycle.response_complete

    def _too_slow(self) -> None:
        self._waiting = None
        if self._owed() or self._body_owed():
            self.transport.close()


class Server(uvicorn.Server):
    """uvicorn that describes the API while it answers already."""

    def __init__(self, app: FastAPI, config: uvicorn.Config) -> None:
        super().__init__(config)
        self._app = app
        self._describing: asyncio.Task[bytes] | None = None

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin to serve; what is loaded by then stays, and no collection looks through it again.

        A page of thousands of rows would otherwise wait for some such collections.
        """
        await super().startup(sockets)
        gc.collect()
        gc.freeze()
        if isinstance(self._app, Service):
            # Made while it answers already, and not by the first who asks for it.
            self._describing = asyncio.create_task(asyncio.to_thread(self._app.described))


def listen(host: str, port: int) -> socket.socket:
    """A socket that listens there; port 0 takes a free one. Raises :class:`InvalidInput`."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family)
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            raise InvalidInput(
                f"port {port} of {host} is in use",
                hint="Another `mitigauge serve` may run. `--port 0` takes a free one, "
                "MITIGAUGE_PORT sets another for good.",
            ) from error
        raise InvalidInput(
            f"nothing can listen on port {port} of {host}: {error.strerror or error}",
            hint="Give another --host or --port; ports below 1024 are root's.",
        ) from error


def make_server(app: FastAPI, host: str = "127.0.0.1", port: int = 0) -> Server:
    """A server of *app* with this project's limits; ``run()`` serves until a signal ends it."""
    how: dict[str, Any] = {"http": PatientProtocol, "ws": "none", "log_level": "warning"}
    # Its lines go where all others go: mitigauge/core/logs. Requests are noted by
    # api/request_log.py.
    how |= {"log_config": None, "access_log": False}
    config = uvicorn.Config(
        app,
        host=host,
        port=port,
        h11_max_incomplete_event_size=HEADERS_LIMIT_BYTES,
        timeout_graceful_shutdown=GRACE_S,
        limit_concurrency=CONNECTIONS,
        # What a proxy says of its clients counts beside its secret alone: api/gate.py.
        proxy_headers=False,
        server_header=False,
        **how,
    )
    return Server(app, config)
