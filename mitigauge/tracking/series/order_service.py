"""Revisions that somebody wants built and measured: one job each."""

from __future__ import annotations

from sqlalchemy.orm import Session

from mitigauge.access.roles import OPERATOR
from mitigauge.jobs import service as jobs
from mitigauge.jobs.repository import open_job
from mitigauge.jobs.service import SERVICE, JobRequest
from mitigauge.jobs.states import JobKind
from mitigauge.jobs.tables import Job
from mitigauge.tracking.series import repository, service
from mitigauge.tracking.series.tables import SeriesRevision


def ask_revision(
    session: Session,
    revision: SeriesRevision,
    *,
    asked_by: str = OPERATOR,
    all_cases: bool = False,
) -> Job:
    """Have a revision built and measured. Raises InvalidInput for one that may not run.

    *all_cases*: also those that run nothing of what it changes. Once asked for, that stays,
    whoever takes the job on or asks for it again.
    """
    service.require_startable(revision)
    revision.all_cases = revision.all_cases or all_cases
    title = f"{revision.series.name} {revision.label}"
    return jobs.ask(session, JobRequest(JobKind.REVISION, str(revision.id), title, asked_by))


def ask_startable(session: Session) -> list[int]:
    """Have every revision built that may run and is not; numbers of those that are new."""
    asked = []
    for number in repository.to_start(session):
        revision = repository.revision(session, number)
        if revision is not None and open_job(session, JobKind.REVISION, str(number)) is None:
            ask_revision(session, revision, asked_by=SERVICE)
            asked.append(number)
    return asked
