"""Regressions: what became worse, whose it is, and what became of it."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Query, Request
from fastapi.responses import Response

from api.bodies import UNREAD_BODY
from api.database import Database
from api.gate import Known, needs
from api.parameters import PLAIN, Id, Moment, Word
from api.stored_pages import StoredPages
from mitigauge.access.roles import Right
from mitigauge.tracking.regressions import service
from mitigauge.tracking.regressions.confirmation_service import ask_again
from mitigauge.tracking.regressions.repository import RegressionFilter
from mitigauge.tracking.regressions.schemas import (
    LONGEST_OWNER,
    NewRegression,
    RegressionChange,
    RegressionPage,
    RegressionView,
)
from mitigauge.tracking.regressions.states import RegressionState

router = APIRouter(prefix="/api/regressions", tags=["regressions"])


def asked_filter(
    state: Annotated[list[RegressionState], Query(description="any of them; none: all")] = [],  # noqa: B006
    owner: Annotated[
        str | None,
        Query(max_length=LONGEST_OWNER, pattern=PLAIN, description="empty: those of nobody"),
    ] = None,
    environment: Word | None = None,
    host_class: Word | None = None,
    workload: Word | None = None,
    find: Annotated[Word, Query(description="words, each of which is there")] = "",
    since: Annotated[Moment | None, Query(description="found from then on")] = None,
) -> RegressionFilter:
    """Which regressions a request asks for."""
    return RegressionFilter(tuple(state), owner, environment, host_class, workload, find, since)


@router.get("", response_model=RegressionPage)
async def list_regressions(
    request: Request,
    wanted: Annotated[RegressionFilter, Depends(asked_filter)],
    offset: Annotated[int, Query(ge=0, le=10_000_000)] = 0,
    limit: Annotated[int, Query(ge=1, le=service.LARGEST_PAGE)] = service.PAGE_SIZE,
) -> Response:
    """Regressions: the open first, of these the newest."""
    pages: StoredPages = request.app.state.pages
    return await pages.answer(
        request,
        ("regressions", wanted, offset, limit),
        lambda session: service.list_regressions(session, wanted, offset=offset, limit=limit),
    )


@router.get("/{regression_id}")
def show_regression(regression_id: Id, session: Database) -> RegressionView:
    """One regression with its history."""
    return service.show_regression(session, regression_id)


@router.post("", status_code=201, dependencies=[Depends(needs(Right.TRIAGE))])
def file_regression(new: NewRegression, session: Database, caller: Known) -> RegressionView:
    """Take a cell of an experiment that is worse for a regression."""
    return service.file_regression(session, new, by=caller.subject)


@router.post(
    "/{regression_id}/fresh-boots",
    dependencies=[Depends(needs(Right.TRIAGE))],
    openapi_extra=UNREAD_BODY,
)
def confirm_regression(regression_id: Id, session: Database, caller: Known) -> RegressionView:
    """Have a trend's change measured once more; 409 while it is. A body is not read."""
    return ask_again(session, regression_id, by=caller.subject)


@router.post("/{regression_id}", dependencies=[Depends(needs(Right.TRIAGE))])
def change_regression(
    regression_id: Id, change: RegressionChange, session: Database, caller: Known
) -> RegressionView:
    """Change state, owner, bug, or say something; 409 where somebody was quicker."""
    return service.change_regression(session, regression_id, change, by=caller.subject)
