"""Jobs that workers do, and the workers."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Query

from api.bodies import UNREAD_BODY
from api.database import Database
from api.gate import Known, needs
from api.parameters import Id, Word
from mitigauge.access.roles import Right, roles_with
from mitigauge.core.errors import Forbidden
from mitigauge.jobs import service, views
from mitigauge.jobs.schemas import JobView, JobWhole, WorkerView
from mitigauge.jobs.states import JobState

router = APIRouter(prefix="/api", tags=["jobs"])

OWN = Query(description="Whether the service's own are listed too, which never end.")


@router.get("/jobs")
def list_jobs(
    session: Database,
    own: Annotated[bool, OWN] = False,
    find: Annotated[Word, Query(description="words, each in title, subject or who")] = "",
    state: Annotated[list[JobState], Query(description="any of them; none: all")] = [],  # noqa: B006
) -> list[JobView]:
    """The newest jobs."""
    return views.list_jobs(session, standing=own, find=find, states=state)


@router.get("/jobs/{job_id}")
def show_job(job_id: Id, session: Database) -> JobWhole:
    """One job with the latest lines of its log and its latest attempts."""
    return views.show_job(session, job_id)


@router.post(
    "/jobs/{job_id}/cancel",
    dependencies=[Depends(needs(Right.CANCEL_OWN))],
    openapi_extra=UNREAD_BODY,
)
def cancel_job(job_id: Id, session: Database, caller: Known) -> JobView:
    """End a job: what it builds is stopped within seconds. A body is not read."""
    owner = service.find(session, job_id).asked_by
    if not caller.may_cancel(owner):
        raise Forbidden(
            f"job {job_id} was asked for by {owner}, not by {caller.subject}",
            hint=f"Roles that may cancel it: {', '.join(roles_with(Right.CANCEL_ANY))}.",
        )
    service.cancel(session, job_id, caller.subject)
    return views.view_job(session, job_id)


@router.get("/workers")
def list_workers(session: Database) -> list[WorkerView]:
    """Workers of the last week: what each can do, what it lacks, when it was last seen."""
    return views.list_workers(session)
