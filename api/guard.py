"""What stands before every request: the name asked for, its address, and an answer's headers."""

from __future__ import annotations

import logging
import re
from urllib.parse import unquote_to_bytes

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from api.addresses import Address, AllowedHosts, read_address
from api.problems import problem, unexpected

# The dashboard needs nothing from elsewhere; names from kernels and mails are hostile text.
SECURITY_HEADERS = {
    "Content-Security-Policy": (
        "default-src 'self'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
        "connect-src 'self'; object-src 'none'; base-uri 'none'; frame-ancestors 'none'; "
        "form-action 'self'"
    ),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}
LONGEST_PATH = 4_096
LONGEST_QUERY = 16_384
_CONTROL = re.compile(rb"[\x00-\x1f\x7f]")

log = logging.getLogger(__name__)


class Refused(Exception):
    """Why a request goes no further: status, message, hint."""

    def __init__(self, status: int, message: str, hint: str, *, is_last: bool = False) -> None:
        super().__init__(message)
        self.status, self.message, self.hint = status, message, hint
        # Whether the connection serves for nothing that comes after it.
        self.is_last = is_last


class Guard:
    """ASGI middleware: refuses by host and address, adds headers, answers for what failed."""

    def __init__(self, app: ASGIApp, *, hosts: AllowedHosts) -> None:
        self.app = app
        self.hosts = hosts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
        elif scope["type"] == "http":
            await self._answer(scope, receive, _with_headers(scope, send))
        else:
            await send({"type": "websocket.close", "code": 1008})

    async def _answer(self, scope: Scope, receive: Receive, send: _Answer) -> None:
        try:
            scope.setdefault("state", {})["host"] = asked_host(Headers(scope=scope), self.hosts)
            check_target(scope)
            check_length(scope)
            await self.app(scope, receive, send)
        except Refused as refused:
            answer = problem(refused.status, "Refused", refused.message, refused.hint)
            if refused.is_last:
                answer.headers["Connection"] = "close"
            await answer(scope, receive, send)
        except ClientDisconnect:
            return  # nobody is there to be answered
        except Exception:
            log.exception("%s failed", scope["method"])
            if send.begun:
                raise
            await unexpected()(scope, receive, send)


class _Answer:
    """``send`` that adds headers, and knows whether an answer has begun."""

    def __init__(self, send: Send, defaults: dict[str, str]) -> None:
        self.send = send
        self.defaults = defaults
        self.begun = False

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.begun = True
            headers = MutableHeaders(scope=message)
            for name, value in self.defaults.items():
                headers.setdefault(name, value)
        await self.send(message)


def _with_headers(scope: Scope, send: Send) -> _Answer:
    # What needs a session must not be shown by a cache to who comes next.
    private = {"Cache-Control": "no-store"} if scope["path"].startswith("/api") else {}
    return _Answer(send, SECURITY_HEADERS | private)


def asked_host(headers: Headers, hosts: AllowedHosts) -> Address:
    """The name that the request is addressed to. Raises :class:`Refused`."""
    given = headers.getlist("host")
    address = read_address(given[0]) if len(given) == 1 else None
    if address is None:
        raise Refused(
            400,
            f"the request has {len(given)} Host headers"
            if len(given) != 1
            else f"the Host header is {given[0][:100]!r}, which is no name",
            "Send exactly one, as browsers do.",
        )
    if address not in hosts:
        raise Refused(
            421,
            f"this service is not known as {given[0][:100]!r}",
            "If it is meant to be reached so, start it with MITIGAUGE_ALLOWED_HOSTS="
            f"{address.name[:100]}.",
        )
    return address


def check_length(scope: Scope) -> None:
    """Raise :class:`Refused` where a body has two lengths: a proxy may have taken the other one.

    RFC 9112, 6.1: such a request may be one that is smuggled behind another.
    """
    names = [name for name, _ in scope["headers"]]
    if b"transfer-encoding" in names and b"content-length" in names:
        raise Refused(
            400,
            "the request has both Content-Length and Transfer-Encoding",
            "Send one of them.",
            is_last=True,
        )


def check_target(scope: Scope) -> None:
    """Raise :class:`Refused` for a path or query that no address of ours can have."""
    path = scope.get("raw_path") or scope["path"].encode("utf-8", "surrogateescape")
    for what, target, longest in (
        ("path", path, LONGEST_PATH),
        ("query", scope["query_string"], LONGEST_QUERY),
    ):
        if len(target) > longest:
            raise Refused(
                414,
                f"the {what} has {len(target)} bytes, {longest} are the most",
                "See /api/openapi.json.",
            )
        plain = unquote_to_bytes(target)
        try:
            plain.decode()
        except UnicodeDecodeError as error:
            raise Refused(
                400, f"the {what} is not UTF-8 at byte {error.start}", "Encode it as UTF-8."
            ) from None
        if _CONTROL.search(plain):
            raise Refused(400, f"the {what} has a control character", "Leave it out.")
