"""Bisections: which patch, commit or setting made a figure worse."""

from __future__ import annotations

from fastapi import APIRouter, Depends

from api.database import Database
from api.gate import Known, needs
from api.parameters import Id
from mitigauge.access.roles import Right, roles_with
from mitigauge.bisect import bisection_view, repository, service
from mitigauge.bisect.schemas import BisectionHead, BisectionView
from mitigauge.errors import Forbidden

router = APIRouter(prefix="/api/bisections", tags=["bisections"])


@router.get("")
def list_bisections(session: Database) -> list[BisectionHead]:
    """The newest bisections, and what each one answered."""
    return bisection_view.heads(session)


@router.get("/{bisection_id}")
def show_bisection(bisection_id: Id, session: Database) -> BisectionView:
    """One bisection: candidates with their probability, steps, what was skipped, the answer."""
    return bisection_view.show(session, bisection_id)


@router.post(
    "/{bisection_id}/cancel",
    dependencies=[Depends(needs(Right.CANCEL_OWN))],
    openapi_extra={
        "requestBody": {"required": True, "content": {"application/json": {"schema": {}}}}
    },
)
def cancel_bisection(bisection_id: Id, session: Database, caller: Known) -> BisectionView:
    """Stop a bisection and the experiment that it waits for. A body is not read."""
    owner = repository.whole(session, bisection_id).submitted_by
    if not caller.may_cancel(owner):
        raise Forbidden(
            f"bisection {bisection_id} was started by {owner}, not by {caller.subject}",
            hint=f"Roles that may cancel it: {', '.join(roles_with(Right.CANCEL_ANY))}.",
        )
    service.cancel(session, bisection_id)
    return bisection_view.show(session, bisection_id)
