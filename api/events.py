"""Live progress by server-sent events."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncIterator

from fastapi import Request
from fastapi.responses import StreamingResponse
from sqlalchemy.exc import SQLAlchemyError
from starlette.types import Message, Receive, Scope, Send

from api.followers import Follower, Followers, News
from api.gate import still_let_in

# A comment now and then keeps proxies from closing a quiet connection.
KEEPALIVE_S = 15.0
# So often it is looked whether the follower would still be let in.
RECHECK_S = 60.0
# Longer than any answer's way to somebody who reads.
SEND_TIMEOUT_S = 30.0
# More digits than an id of the database has are none of ours.
LONGEST_ID = 18
STILL_HERE = News(": still here\n\n")

log = logging.getLogger(__name__)


class EventStream(StreamingResponse):
    """A stream that is given up when the other side takes nothing off it."""

    def __init__(
        self, followers: Followers, experiment_id: int, follower: Follower, request: Request
    ) -> None:
        self.followers = followers
        self.experiment_id = experiment_id
        self.follower = follower
        super().__init__(
            _stream(followers, experiment_id, follower, request),
            media_type="text/event-stream",
            headers={"Cache-Control": "no-store", "X-Accel-Buffering": "no"},
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send until there is no more, the other side is gone, or it does not read."""

        async def send_soon(message: Message) -> None:
            try:
                async with asyncio.timeout(SEND_TIMEOUT_S):
                    await send(message)
            except TimeoutError:
                self.follower.dropped.set()

        sending = asyncio.ensure_future(super().__call__(scope, receive, send_soon))
        dropped = asyncio.ensure_future(self.follower.dropped.wait())
        try:
            await asyncio.wait((sending, dropped), return_when=asyncio.FIRST_COMPLETED)
            if sending.done():
                sending.result()
            else:
                log.warning("a page that followed experiment %s read nothing", self.experiment_id)
        finally:
            for task in (dropped, sending):
                task.cancel()
            await asyncio.gather(dropped, sending, return_exceptions=True)
            self.followers.leave(self.experiment_id, self.follower)


def last_event_id(text: str) -> int | None:
    """A ``Last-Event-ID`` as a number; None for what is none of ours."""
    return int(text) if text.isascii() and text.isdecimal() and len(text) <= LONGEST_ID else None


async def follow(request: Request, experiment_id: int) -> EventStream:
    """Stream the experiment's progress and log from ``Last-Event-ID`` on, until it ends.

    Raises :class:`NotFound`, and :class:`TooMany` at the limit of followers.
    """
    followers: Followers = request.app.state.followers
    after = last_event_id(request.headers.get("last-event-id", ""))
    follower = await followers.join(experiment_id, after)
    return EventStream(followers, experiment_id, follower, request)


async def _stream(
    followers: Followers, experiment_id: int, follower: Follower, request: Request
) -> AsyncIterator[str]:
    async for line in followers.missed(experiment_id, follower):
        yield line.text
    check_at = time.monotonic() + RECHECK_S
    while True:
        news = await _next(follower)
        if time.monotonic() >= check_at:
            if not await _still_let_in(request):
                return
            check_at = time.monotonic() + RECHECK_S
        if news is None:
            return
        if 0 < news.event_id <= follower.after:
            continue
        follower.after = max(follower.after, news.event_id)
        yield news.text


async def _next(follower: Follower) -> News | None:
    """What the follower is to be told next, None for the end, or a comment after a while."""
    wait_s = min(KEEPALIVE_S, RECHECK_S)
    try:
        return await asyncio.wait_for(follower.queue.get(), wait_s)
    except TimeoutError:
        return STILL_HERE


async def _still_let_in(request: Request) -> bool:
    try:
        return await asyncio.to_thread(still_let_in, request)
    except SQLAlchemyError:
        # Nobody is sent away because the database is.
        return True
