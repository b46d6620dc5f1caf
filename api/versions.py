"""The addresses that stay: ``/api/v1/…`` is the API as it is described, for programs."""

from __future__ import annotations

from typing import Final

from starlette.types import ASGIApp, Receive, Scope, Send

# The version that is spoken. What breaks a program gets the next one, beside this.
VERSION: Final = "v1"
_PREFIX: Final = f"/api/{VERSION}/"


class Versions:
    """ASGI middleware: answers ``/api/v1/X`` as ``/api/X``."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["path"].startswith(_PREFIX):
            scope = {**scope, "path": _unversioned(scope["path"])}
            raw = scope.get("raw_path")
            if raw is not None:
                scope["raw_path"] = raw.replace(_PREFIX.encode(), b"/api/", 1)
        await self.app(scope, receive, send)


def _unversioned(path: str) -> str:
    return path.replace(_PREFIX, "/api/", 1)


def versioned(path: str) -> str:
    """The address that stays of a route."""
    return path.replace("/api/", _PREFIX, 1)
