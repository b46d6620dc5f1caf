"""Every request in the log: its id, who asked, and what came of it."""

from __future__ import annotations

import logging
import re
import secrets
import time
from dataclasses import dataclass

from starlette.datastructures import MutableHeaders
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from api.gate import Gate, client_ip
from mitigauge.access.roles import Caller
from mitigauge.core.actor import Actor, Way, acting
from mitigauge.core.logs.logger import get_logger

HEADER = "X-Request-Id"
# What a proxy may call a request: nothing that another log could take for a line's end.
_SAFE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:-]{0,63}")
# Asked for every few seconds by machines.
_REGULAR = ("/api/health/", "/metrics")

log = get_logger("api.access")


class RequestLog:
    """ASGI middleware around all others: a request's id and its line in the log."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        request = Request(scope)
        actor = Actor("", Way.API, client_ip(request), request_id_of(request))
        answer = _Answer(send, actor.request_id)
        began = time.perf_counter()
        with acting(actor):
            try:
                await self.app(scope, receive, answer)
            finally:
                _say(request, actor, answer, time.perf_counter() - began)


@dataclass(slots=True)
class _Answer:
    """``send`` that adds the request's id, and knows what was answered."""

    send: Send
    request_id: str
    status: int = 0
    """0: nobody was there to be answered."""
    bytes: int = 0

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            MutableHeaders(scope=message)[HEADER] = self.request_id
        elif message["type"] == "http.response.body":
            self.bytes += len(message.get("body", b""))
        await self.send(message)


def request_id_of(request: Request) -> str:
    """What the trusted proxy calls the request, if that is harmless; else one that is new."""
    gate: Gate = request.app.state.gate
    given = request.headers.getlist(HEADER)
    if len(given) == 1 and _SAFE.fullmatch(given[0]) and gate.is_proxy(request.headers):
        return given[0]
    return secrets.token_hex(8)


def _say(request: Request, actor: Actor, answer: _Answer, seconds: float) -> None:
    caller: Caller | None = request.scope.get("state", {}).get("caller")
    path = request.scope["path"]
    # Without the query: what somebody looks for is nobody's business.
    log.log(
        logging.DEBUG if path.startswith(_REGULAR) else logging.INFO,
        "request",
        method=request.method,
        path=path,
        status=answer.status,
        ms=round(1000 * seconds, 1),
        bytes=answer.bytes,
        actor=caller.subject if caller is not None else "",
        client=actor.address,
        request=actor.request_id,
    )
