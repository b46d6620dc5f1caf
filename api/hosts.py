"""Hosts: what they are and were."""

from __future__ import annotations

from fastapi import APIRouter, Depends

from api.database import Database
from api.gate import needs
from api.parameters import NameInPath, Word
from mitigauge.access.roles import Right
from mitigauge.errors import Conflict
from mitigauge.runs import service
from mitigauge.views import hosts as host_views
from mitigauge.views.host_schemas import HostSummary, HostView

router = APIRouter(prefix="/api/hosts", tags=["hosts"])


@router.get("")
def list_hosts(session: Database) -> list[HostSummary]:
    """All hosts."""
    return host_views.list_hosts(session)


@router.get("/{name}")
def show_host(name: NameInPath, session: Database, environment: Word | None = None) -> HostView:
    """One host with its fingerprints and experiments; *environment* where several have the name."""
    return host_views.show_host(session, name, environment)


@router.post(
    "/{environment}/{name}/resume",
    dependencies=[Depends(needs(Right.RESUME_HOST))],
    openapi_extra={
        "requestBody": {"required": True, "content": {"application/json": {"schema": {}}}}
    },
)
def resume_host(environment: NameInPath, name: NameInPath, session: Database) -> HostView:
    """Use a host again that was set aside. A body is not read."""
    if not service.bring_back(session, environment, name):
        raise Conflict(f"host {environment}/{name} is not set aside", hint="It is in use.")
    return host_views.show_host(session, name, environment)
