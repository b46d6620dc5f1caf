"""Bisections: a kernel, a step's experiment, or an answer at a time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from sqlalchemy.orm import Session

from mitigauge.jobs.states import JobState
from mitigauge.jobs.tables import Job
from mitigauge.tracking.bisect import service
from mitigauge.tracking.bisect.states import BisectionState
from mitigauge.tracking.bisect.tables import Bisection
from pipelines.bisect_run import Driver, Ticked
from pipelines.jobs.builders import builder_of
from pipelines.jobs.context import JobContext, JobDone
from pipelines.kernel_build import Builder

# Its own budget of hours holds the building and measuring that it asks for; hosts may be busy
# with others for weeks.
LIMIT_S = 60 * 86_400.0
# How often it is looked whether the experiment that it waits for is over.
LOOK_S = 15.0


@dataclass(frozen=True)
class BisectionRunner:
    """Takes bisections on."""

    builder: Callable[[JobContext], Builder] = builder_of
    limit_s: float = LIMIT_S

    def go_on(self, context: JobContext) -> JobDone:
        """One thing of it."""
        did = Driver(self.builder(context), context.say).tick(int(context.job.subject))
        if did is Ticked.OVER:
            return JobDone(state=JobState.DONE)
        if did is Ticked.WAITING:
            return JobDone(again_in_s=LOOK_S, idle=True)
        return JobDone()

    def put_off(self, session: Session, job: Job, why: str) -> None:
        """The bisection says why it waits."""
        service.put_off(session, int(job.subject), why)

    def end(self, session: Session, job: Job, state: JobState, why: str) -> None:
        """The bisection, and the experiment that it waits for, end with it."""
        bisection = session.get(Bisection, int(job.subject))
        if bisection is None or bisection.state != BisectionState.RUNNING:
            return
        if state is JobState.CANCELLED:
            service.cancel(session, bisection.id, by=job.cancelled_by)
        else:
            service.fail(session, bisection.id, why)
