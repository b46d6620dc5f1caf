"""Revisions of series: kernels built, the experiment submitted."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from sqlalchemy.orm import Session

from mitigauge.access.roles import OPERATOR
from mitigauge.jobs import service as jobs
from mitigauge.jobs.repository import open_job
from mitigauge.jobs.service import JobRequest
from mitigauge.jobs.states import JobKind, JobState
from mitigauge.jobs.tables import Job
from mitigauge.series import repository, service
from mitigauge.series.states import STARTABLE
from mitigauge.series.tables import SeriesRevision
from pipelines.jobs.builders import builder_of
from pipelines.jobs.context import JobContext, JobDone
from pipelines.jobs.kernel import LIMIT_S
from pipelines.kernel_build import Builder
from pipelines.series_run import start

# Who asks for what the service does unasked.
SERVICE = "mitigauge"


def ask_revision(session: Session, revision: SeriesRevision, *, asked_by: str = OPERATOR) -> Job:
    """Have a revision built and measured. Raises InvalidInput for one that may not run."""
    service.require_startable(revision)
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


@dataclass(frozen=True)
class RevisionRunner:
    """Builds a revision's kernels and submits its experiment."""

    builder: Callable[[JobContext], Builder] = builder_of
    limit_s: float = 2 * LIMIT_S

    def go_on(self, context: JobContext) -> JobDone:
        """All of it: what was built already is found, and what was submitted too."""
        number = int(context.job.subject)
        with context.transaction() as session:
            revision = repository.revision(session, number)
            experiment = revision.experiment_id if revision else None
            if revision is None or (experiment is None and revision.state not in STARTABLE):
                why = f"it is {revision.state}: {revision.why}" if revision else "it is gone"
                return JobDone(state=JobState.FAILED, why=why)
        if experiment is None:
            experiment = start(number, self.builder(context))

        def apply(_session: Session, job: Job) -> None:
            job.result = {"experiment": experiment}

        return JobDone(apply, state=JobState.DONE, why=f"measured by experiment {experiment}")

    def put_off(self, session: Session, job: Job, why: str) -> None:
        """``start`` noted it."""

    def end(self, session: Session, job: Job, state: JobState, why: str) -> None:
        """The revision is not being built any more; one that failed itself says so already."""
        revision = repository.revision(session, int(job.subject))
        if revision is not None and state is not JobState.DONE:
            service.ended(session, revision, why)
