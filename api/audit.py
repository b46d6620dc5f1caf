"""The audit log: who changed what, when and from where."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

from fastapi import APIRouter, Depends, Query, Request
from fastapi.responses import StreamingResponse

from api.database import Database, begin
from api.downloads import LINES
from api.gate import needs
from api.parameters import Moment, Word
from api.problems import AS_JSON
from mitigauge.access.audit import views
from mitigauge.access.audit.actions import Action, SubjectKind
from mitigauge.access.audit.repository import AuditFilter
from mitigauge.access.audit.schemas import AuditPage
from mitigauge.access.roles import Right

router = APIRouter(prefix="/api/audit", tags=["audit"])

Since = Annotated[Moment | None, Query(description="from then on")]
Until = Annotated[Moment | None, Query(description="before then")]
Refused = Annotated[
    bool | None, Query(description="true: only refused ones; false: only done ones")
]


def _filter(
    actor: Annotated[Word | None, Query(description="the actor's whole name")] = None,
    action: Annotated[Action | None, Query(description="what was done")] = None,
    subject_kind: Annotated[SubjectKind | None, Query(description="of what kind it is")] = None,
    subject: Annotated[Word | None, Query(description="its whole name or number")] = None,
    since: Since = None,
    until: Until = None,
    refused: Refused = None,
) -> AuditFilter:
    """Which entries are wanted."""
    return AuditFilter(
        actor or "", action or "", subject_kind or "", subject or "", since, until, refused
    )


Wanted = Annotated[AuditFilter, Depends(_filter)]


@router.get("", dependencies=[Depends(needs(Right.READ_AUDIT))])
def list_audit_entries(
    session: Database,
    wanted: Wanted,
    before: Annotated[
        int | None, Query(ge=1, lt=2**63, description="only entries with smaller numbers")
    ] = None,
    limit: Annotated[int, Query(ge=1, le=views.LARGEST_PAGE)] = views.PAGE_SIZE,
) -> AuditPage:
    """Entries of the audit log, the newest first, a page at a time."""
    return views.list_entries(session, wanted, before=before, limit=limit)


@router.get(
    "/export",
    dependencies=[Depends(needs(Right.READ_AUDIT))],
    response_class=StreamingResponse,
    responses={200: {"content": {LINES: {}}}, **AS_JSON},
)
def export_audit_entries(request: Request) -> StreamingResponse:
    """All entries, the oldest first, a line of JSON each."""
    headers = {"Content-Disposition": 'attachment; filename="audit.jsonl"'}
    return StreamingResponse(_lines(request), media_type=LINES, headers=headers)


def _lines(request: Request) -> Iterator[str]:
    """Entries in a transaction of their own, which lasts until the answer is sent."""
    with begin(request.app) as session:
        for entry in views.export_entries(session):
            yield f"{entry.model_dump_json()}\n"
