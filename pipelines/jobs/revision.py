"""Revisions of series: kernels built, the experiment submitted."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from sqlalchemy.orm import Session

from mitigauge.jobs.states import JobState
from mitigauge.jobs.tables import Job
from mitigauge.tracking.series import repository, service
from mitigauge.tracking.series.states import STARTABLE
from mitigauge.tracking.studies import service as studies
from mitigauge.tracking.studies.states import StudyKind
from pipelines.jobs.builders import builder_of
from pipelines.jobs.context import JobContext, JobDone
from pipelines.jobs.kernel import LIMIT_S
from pipelines.kernel_build import Builder
from pipelines.series_run import start

NOTHING = "nothing is measured: no case of ours runs what it changes"


@dataclass(frozen=True)
class RevisionRunner:
    """Builds a revision's kernels and submits its experiment."""

    builder: Callable[[JobContext], Builder] = builder_of
    studies: Sequence[StudyKind] = ()
    """What each revision is asked besides."""
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

        def apply(session: Session, job: Job) -> None:
            job.result = {"experiment": experiment}
            found = repository.revision(session, number)
            if experiment and found is not None:
                studies.ask_of_new(session, found, self.studies, asked_by=job.asked_by)

        why = f"measured by experiment {experiment}" if experiment else NOTHING
        return JobDone(apply, state=JobState.DONE, why=why)

    def put_off(self, session: Session, job: Job, why: str) -> None:
        """``start`` noted it."""

    def end(self, session: Session, job: Job, state: JobState, why: str) -> None:
        """The revision is not being built any more; one that failed itself says so already."""
        revision = repository.revision(session, int(job.subject))
        if revision is not None and state is not JobState.DONE:
            service.ended(session, revision, why)
