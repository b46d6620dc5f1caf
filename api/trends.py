"""Trends: values over time, their changes, and what people say of them."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Query
from pydantic import BaseModel, ConfigDict, Field

from api.database import Database
from api.gate import Known, needs
from api.parameters import Id, Word
from mitigauge.access.roles import Right
from mitigauge.tracking.trends import service
from mitigauge.tracking.trends.page_repository import TrendFilter
from mitigauge.tracking.trends.schemas import (
    Annotation,
    ClassPage,
    TrendChange,
    TrendPage,
    TrendView,
)

router = APIRouter(prefix="/api/trends", tags=["trends"])

Said = Annotated[str, Field(min_length=1, max_length=service.LONGEST_TEXT)]


class NewAnnotation(BaseModel):
    """What somebody says of a trend, or of one of its changes."""

    model_config = ConfigDict(extra="forbid")

    text: Said
    change_id: Annotated[int, Field(ge=1, le=2**63 - 1)] | None = None


class Acceptance(BaseModel):
    """Why a change is taken as it is."""

    model_config = ConfigDict(extra="forbid")

    text: Said
    expected: bool = Field(False, description="it was known to come")


@router.get("")
def list_trends(
    session: Database,
    environment: Word | None = None,
    host_class: Word | None = None,
    workload: Word | None = None,
    mode: Word | None = None,
    find: Word | None = None,
    changed: bool = False,
    still_open: bool = False,
    offset: Annotated[int, Query(ge=0, le=10_000_000)] = 0,
    limit: Annotated[int, Query(ge=1, le=service.LARGEST_PAGE)] = service.PAGE_SIZE,
) -> TrendPage:
    """Trends, the newest change first, those without one last."""
    wanted = TrendFilter(
        environment, host_class, workload, mode, find, only_changed=changed, only_open=still_open
    )
    return service.list_trends(session, wanted, offset=offset, limit=limit)


@router.get("/classes")
def list_classes(session: Database) -> list[ClassPage]:
    """Host classes that have trends."""
    return service.host_classes(session)


@router.get("/{trend_id}")
def show_trend(trend_id: Id, session: Database) -> TrendView:
    """One trend with its values, changes and annotations."""
    return service.show_trend(session, trend_id)


@router.post("/{trend_id}/annotations", dependencies=[Depends(needs(Right.TRIAGE))])
def annotate(trend_id: Id, said: NewAnnotation, session: Database, caller: Known) -> Annotation:
    """Say something of a trend, or of one of its changes."""
    return service.annotate(
        session, trend_id, by=caller.subject, text=said.text, change_id=said.change_id
    )


@router.post("/changes/{change_id}/accept", dependencies=[Depends(needs(Right.APPROVE))])
def accept_change(change_id: Id, said: Acceptance, session: Database, caller: Known) -> TrendChange:
    """Take a change as it is. Later values that say otherwise make its next version."""
    return service.accept(
        session, change_id, by=caller.subject, text=said.text, expected=said.expected
    )
