"""Hosts: what they are and were."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Query
from pydantic import AwareDatetime, BaseModel, ConfigDict, Field

from api.bodies import UNREAD_BODY
from api.database import Database
from api.gate import Known, needs
from api.parameters import NameInPath, Word
from mitigauge.access.roles import Right
from mitigauge.core.errors import Conflict
from mitigauge.measurement.fleet.absence_repository import LONGEST_REASON
from mitigauge.measurement.runs import service
from mitigauge.reporting.pages import hosts as host_views
from mitigauge.reporting.pages.host_list import HostFilter, HostState
from mitigauge.reporting.pages.host_schemas import HostSummary, HostView

router = APIRouter(prefix="/api/hosts", tags=["hosts"])


class Reason(BaseModel):
    """Why a host is taken from runs."""

    model_config = ConfigDict(extra="forbid")

    reason: str = Field(min_length=1, max_length=LONGEST_REASON)


class Reservation(Reason):
    """What a host is reserved for, and until when."""

    until: AwareDatetime


@router.get("")
def list_hosts(
    session: Database,
    find: Annotated[Word, Query(description="words, each in name, class or capabilities")] = "",
    state: Annotated[list[HostState], Query(description="any of them; none: all")] = [],  # noqa: B006
) -> list[HostSummary]:
    """Hosts by environment and name."""
    return host_views.list_hosts(session, HostFilter(find, state))


@router.get("/{name}")
def show_host(name: NameInPath, session: Database, environment: Word | None = None) -> HostView:
    """One host with its fingerprints and experiments; *environment* where several have the name."""
    return host_views.show_host(session, name, environment)


@router.post(
    "/{environment}/{name}/resume",
    dependencies=[Depends(needs(Right.RESUME_HOST))],
    openapi_extra=UNREAD_BODY,
)
def resume_host(
    environment: NameInPath, name: NameInPath, session: Database, caller: Known
) -> HostView:
    """Use a host again that was set aside. A body is not read."""
    if not service.bring_back(session, environment, name, by=caller.subject):
        raise Conflict(f"host {environment}/{name} is not set aside", hint="It is in use.")
    return host_views.show_host(session, name, environment)


@router.post("/{environment}/{name}/set-aside", dependencies=[Depends(needs(Right.SET_ASIDE))])
def set_host_aside(
    environment: NameInPath, name: NameInPath, wanted: Reason, session: Database, caller: Known
) -> HostView:
    """Let no run begin on a host until somebody resumes it; one that holds it goes on."""
    service.set_aside(session, environment, name, reason=wanted.reason, by=caller.subject)
    return host_views.show_host(session, name, environment)


@router.post("/{environment}/{name}/reserve", dependencies=[Depends(needs(Right.RESERVE_HOST))])
def reserve_host(
    environment: NameInPath, name: NameInPath, wanted: Reservation, session: Database, caller: Known
) -> HostView:
    """Keep a host for oneself: no run begins on it before then; one that holds it goes on."""
    service.reserve(
        session, environment, name, until=wanted.until, reason=wanted.reason, by=caller.subject
    )
    return host_views.show_host(session, name, environment)


@router.post(
    "/{environment}/{name}/release",
    dependencies=[Depends(needs(Right.RESERVE_HOST))],
    openapi_extra=UNREAD_BODY,
)
def release_host(
    environment: NameInPath, name: NameInPath, session: Database, caller: Known
) -> HostView:
    """Let runs begin on a reserved host again. A body is not read.

    To break what somebody else reserved needs the right to set hosts aside.
    """
    may_break = caller.may(Right.SET_ASIDE)
    owner = service.release(session, environment, name, by=caller.subject, may_break=may_break)
    if owner is None:
        raise Conflict(f"host {environment}/{name} is not reserved", hint="There is nothing to do.")
    return host_views.show_host(session, name, environment)
