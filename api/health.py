"""Whether the process lives, and whether it can work."""

from __future__ import annotations

from fastapi import APIRouter, Request
from pydantic import BaseModel, Field

from mitigauge.core.version import VERSION
from mitigauge.storage.database.engine import require_head

router = APIRouter(prefix="/api/health", tags=["health"])


class Health(BaseModel):
    """An answer at all is what counts."""

    status: str
    version: str = Field(VERSION, description="the service's own")


@router.get("/live")
def live() -> Health:
    """The process answers."""
    return Health(status="alive")


@router.get("/ready")
def ready(request: Request) -> Health:
    """The database answers and its schema is at head; 503 with the way out otherwise."""
    require_head(request.app.state.engine)
    return Health(status="ready")
