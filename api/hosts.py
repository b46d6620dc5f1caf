"""Hosts: what they are and were."""

from __future__ import annotations

from fastapi import APIRouter

from api.database import Database
from api.parameters import NameInPath
from mitigauge.experiments import host_views
from mitigauge.experiments.host_schemas import HostSummary, HostView

router = APIRouter(prefix="/api/hosts", tags=["hosts"])


@router.get("")
def list_hosts(session: Database) -> list[HostSummary]:
    """All hosts."""
    return host_views.list_hosts(session)


@router.get("/{name}")
def show_host(name: NameInPath, session: Database) -> HostView:
    """One host with its fingerprints and experiments."""
    return host_views.show_host(session, name)
