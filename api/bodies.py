"""Reading bodies: no more than is allowed, no longer than is allowed."""

from __future__ import annotations

import asyncio
from typing import Any, Final

from fastapi import Request
from starlette.requests import ClientDisconnect

from mitigauge.core.errors import InvalidInput, MitigaugeError, TooLarge
from mitigauge.core.settings import get_settings

# What a web form can send to anywhere is not among these.
CONTENT_TYPES = ("application/json", "application/yaml")
UNSAFE = ("POST", "PUT", "PATCH", "DELETE")
# How the API's description names a spec, or a file of limits, as a body.
SPEC_BODY: Final[dict[str, Any]] = {
    "requestBody": {
        "required": True,
        "content": {"application/yaml": {"schema": {"type": "string"}}},
    }
}
# Of routes that need none: see proper_content_type.
UNREAD_BODY: Final[dict[str, Any]] = {
    "requestBody": {"required": True, "content": {"application/json": {"schema": {}}}}
}


class TooSlow(MitigaugeError):
    """A body did not come in time."""

    status = 408


class UnsupportedMediaType(MitigaugeError):
    """A request that changes something has a content type that web forms can send."""

    status = 415


async def proper_content_type(request: Request) -> None:
    """Raise :class:`UnsupportedMediaType` where a page from elsewhere could have sent this.

    Of every request with a body, and of every POST: a content type that is not a form's
    makes a browser ask us first, and we say no. Of other methods a browser asks anyway.
    """
    headers = request.headers
    body = headers.get("content-length", "0") != "0" or "transfer-encoding" in headers
    if request.method not in UNSAFE or not (body or request.method == "POST"):
        return
    given = headers.getlist("content-type")
    kind = given[0].partition(";")[0].strip().lower() if len(given) == 1 else ""
    if kind not in CONTENT_TYPES:
        raise UnsupportedMediaType(
            f"the content type is {', '.join(given)[:100] or 'missing'}",
            hint=f"Send Content-Type: {' or '.join(CONTENT_TYPES)}, also without a body.",
        )


async def text_of(request: Request, what: str, *, limit: int | None = None) -> str:
    """The body as text; *what* names it in errors. *limit* in bytes, else as set.

    Raises :class:`TooLarge`, :class:`TooSlow`, and :class:`InvalidInput` unless it is UTF-8.
    """
    settings = get_settings()
    limit = min(limit or settings.body_limit_bytes, settings.body_limit_bytes)
    announced = request.headers.get("content-length", "")
    if announced.isdecimal() and int(announced[:20]) > limit:
        raise _too_large(what, limit)
    try:
        async with asyncio.timeout(settings.body_timeout_s):
            body = await _read(request, what, limit)
    except TimeoutError as error:
        raise TooSlow(
            f"{what} did not come whole within {settings.body_timeout_s:g} s",
            hint="Send it again over a faster line.",
        ) from error
    except ClientDisconnect as error:
        raise InvalidInput(f"{what} was not sent whole", hint="Send it again.") from error
    try:
        return body.decode()
    except UnicodeDecodeError as error:
        raise InvalidInput(
            f"{what} is not UTF-8 at byte {error.start}", hint="Save it as UTF-8."
        ) from error


async def _read(request: Request, what: str, limit: int) -> bytes:
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > limit:
            raise _too_large(what, limit)
    return bytes(body)


def _too_large(what: str, limit: int) -> TooLarge:
    return TooLarge(f"{what} is over {limit} bytes", hint="Split it into several.")
