"""Live progress by server-sent events."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

from fastapi import Request
from fastapi.responses import StreamingResponse
from sqlalchemy import Engine

from mitigauge.database import transaction
from mitigauge.experiments import views
from mitigauge.experiments.schemas import EventView, ProgressView

POLL_S = 1.0
# A comment now and then keeps proxies from closing a quiet connection.
KEEPALIVE_POLLS = 15
FINAL = ("finished", "failed", "cancelled")


def follow(request: Request, experiment_id: int) -> StreamingResponse:
    """Stream the experiment's progress and log from ``Last-Event-ID`` on, until it ends."""
    last = request.headers.get("last-event-id", "")
    after = int(last) if last.isdecimal() else None
    engine: Engine = request.app.state.engine
    with transaction(engine) as session:
        # Raises here, so that an unknown experiment is a 404 and not an empty stream.
        progress = views.show_progress(session, experiment_id)
    start = progress.last_event_id if after is None else after
    return StreamingResponse(
        _stream(request, engine, experiment_id, start),
        media_type="text/event-stream",
        headers={"Cache-Control": "no-store", "X-Accel-Buffering": "no"},
    )


async def _stream(
    request: Request, engine: Engine, experiment_id: int, after: int
) -> AsyncIterator[str]:
    shown: str | None = None
    quiet = 0
    while not await request.is_disconnected():
        progress, events = await asyncio.to_thread(_load, engine, experiment_id, after)
        for event in events:
            after = event.id
            yield f"id: {event.id}\nevent: log\ndata: {event.model_dump_json()}\n\n"
        body = progress.model_dump_json()
        if body != shown:
            shown = body
            quiet = 0
            yield f"event: progress\ndata: {body}\n\n"
        if progress.state in FINAL and not events:
            return
        quiet += 1
        if quiet % KEEPALIVE_POLLS == 0:
            yield ": still here\n\n"
        await asyncio.sleep(POLL_S)


def _load(engine: Engine, experiment_id: int, after: int) -> tuple[ProgressView, list[EventView]]:
    with transaction(engine) as session:
        return (
            views.show_progress(session, experiment_id),
            views.list_events(session, experiment_id, after),
        )
