"""The queue: what waits for which host."""

from __future__ import annotations

from fastapi import APIRouter

from api.database import Database
from mitigauge.reporting.pages.host_schemas import HostQueue
from mitigauge.reporting.pages.queue import host_queues

router = APIRouter(prefix="/api/queue", tags=["hosts"])


@router.get("")
def show_queue(session: Database) -> list[HostQueue]:
    """Hosts that run something, for which something waits, or that somebody keeps."""
    return host_queues(session)
