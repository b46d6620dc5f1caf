"""The largest body of a request, whoever reads it: the limit stands before the parsing."""

from __future__ import annotations

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from api.problems import problem


class BodyLimit:
    """ASGI middleware: answers 413 to a body over *limit* bytes, announced or not."""

    def __init__(self, app: ASGIApp, *, limit: int) -> None:
        self.app = app
        self.limit = limit

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        announced = Headers(scope=scope).get("content-length", "")
        if announced.isdecimal() and int(announced[:20]) > self.limit:
            await self._refuse(scope, receive, send)
            return
        counted = _Counted(receive, self.limit)
        answered = False

        async def answer(message: Message) -> None:
            nonlocal answered
            if not counted.over:
                await send(message)
            elif not answered:
                # Whatever the application makes of a body that was cut off.
                answered = True
                await self._refuse(scope, receive, send)

        await self.app(scope, counted, answer)

    async def _refuse(self, scope: Scope, receive: Receive, send: Send) -> None:
        answer = problem(
            413, "TooLarge", f"the body is over {self.limit} bytes", "Split it into several."
        )
        await answer(scope, receive, send)


class _Counted:
    """``receive`` that ends a body once it is over the limit."""

    def __init__(self, receive: Receive, limit: int) -> None:
        self.receive = receive
        self.left = limit
        self.over = False

    async def __call__(self) -> Message:
        message = await self.receive()
        self.left -= len(message.get("body", b""))
        if self.left >= 0:
            return message
        self.over = True
        return {"type": "http.request", "body": b"", "more_body": False}
