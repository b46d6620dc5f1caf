"""The audit log: who changed what, when and from where."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Query

from api.database import Database
from api.gate import needs
from api.parameters import Moment, Word
from mitigauge.access.roles import Right
from mitigauge.audit import views
from mitigauge.audit.actions import Action, SubjectKind
from mitigauge.audit.repository import AuditFilter
from mitigauge.audit.schemas import AuditPage

router = APIRouter(prefix="/api/audit", tags=["audit"])

Since = Annotated[Moment | None, Query(description="from then on")]
Until = Annotated[Moment | None, Query(description="before then")]
Refused = Annotated[
    bool | None, Query(description="true: only refused ones; false: only done ones")
]


@router.get("", dependencies=[Depends(needs(Right.READ_AUDIT))])
def list_audit_entries(
    session: Database,
    actor: Annotated[Word | None, Query(description="the actor's whole name")] = None,
    action: Annotated[Action | None, Query(description="what was done")] = None,
    subject_kind: Annotated[SubjectKind | None, Query(description="of what kind it is")] = None,
    subject: Annotated[Word | None, Query(description="its whole name or number")] = None,
    since: Since = None,
    until: Until = None,
    refused: Refused = None,
    before: Annotated[
        int | None, Query(ge=1, lt=2**63, description="only entries with smaller numbers")
    ] = None,
    limit: Annotated[int, Query(ge=1, le=views.LARGEST_PAGE)] = views.PAGE_SIZE,
) -> AuditPage:
    """Entries of the audit log, the newest first, a page at a time."""
    wanted = AuditFilter(
        actor or "", action or "", subject_kind or "", subject or "", since, until, refused
    )
    return views.list_entries(session, wanted, before=before, limit=limit)
