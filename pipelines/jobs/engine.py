"""One step of one job: take the lease, decide (pure), act, and commit under the lease's epoch.

Killed anywhere, a step can be done again: it first looks at what there is, and only what was
committed happened.
"""

from __future__ import annotations

import platform
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TypeVar
from uuid import UUID, uuid4

from sqlalchemy import Engine
from sqlalchemy.orm import Session

from mitigauge.core.actor import Actor, Way, acting
from mitigauge.core.errors import AuthorsFault, Interrupted, StaleEpoch
from mitigauge.core.logs.logger import get_logger
from mitigauge.core.settings import get_settings
from mitigauge.jobs import repository, service
from mitigauge.jobs.blame import words_of
from mitigauge.jobs.lease import JobLease
from mitigauge.jobs.states import STANDING, JobKind, JobState
from mitigauge.jobs.tables import Job
from mitigauge.storage.database.engine import database_now, is_away, transaction
from pipelines.insist import insist
from pipelines.jobs.context import JobContext, JobDone, JobRunner
from pipelines.jobs.decision import JobAction, JobSituation, JobStep, decide
from pipelines.lease import HeldLease, clock, renewal_engine

log = get_logger(__name__)
_T = TypeVar("_T")

BUSY_RETRY_S = 5.0


@dataclass(frozen=True, slots=True)
class _Taken:
    lease: JobLease
    job: Job
    action: JobAction
    since: float
    """A clock() from before the lease was taken."""


@dataclass(frozen=True)
class JobAdvancer:
    """All that going on with jobs needs. *worker*: by which name this one is known."""

    engine: Engine
    runners: Mapping[JobKind, JobRunner]
    worker: str
    lease_seconds: float = field(default_factory=lambda: get_settings().lease_seconds)

    @cached_property
    def _renewals(self) -> Engine:
        return renewal_engine(self.engine)

    def advance(self, job_id: int, *, stopping: Callable[[], bool] = lambda: False) -> float | None:
        """Take one step of the job; seconds until it wants the next, None when it is over.

        A step comes back early once *stopping* says so. Raises what
        :func:`mitigauge.storage.database.engine.is_away` knows, when the database stays away for
        long.
        """
        who = Actor(self.worker, Way.WORKER, platform.node(), job=f"job {job_id}")
        with acting(who):
            return self._advance(job_id, stopping)

    def _advance(self, job_id: int, stopping: Callable[[], bool]) -> float | None:
        holder = uuid4()
        since = clock()
        taken = self._insist(lambda: self._take(job_id, holder, since))
        if not isinstance(taken, _Taken):
            return taken
        with self._held(taken) as held:
            done = self._act(taken, JobContext(taken.job, taken.lease, held, self.engine, stopping))
            if done is None:
                return BUSY_RETRY_S
            try:
                return self._settle(taken, done)
            except StaleEpoch as refused:
                log.warning("commit refused", job=job_id, reason=refused.message)
                return BUSY_RETRY_S

    def _settle(self, taken: _Taken, done: JobDone) -> float | None:
        try:
            return self._insist(lambda: self._commit(taken, done))
        except StaleEpoch:
            raise
        except Exception as error:
            if is_away(error):
                raise
            log.exception("commit of a job failed", job=taken.job.id, kind=taken.job.kind)
            # Without what the kind would change, which is what failed.
            failed = JobDone(why=words_of(error), failed=True)
            return self._insist(lambda: self._commit(taken, failed))

    def _held(self, taken: _Taken) -> HeldLease:
        lease = taken.lease
        return HeldLease(
            f"job {lease.job_id}",
            self._renewals,
            lambda session, seconds: repository.renew(session, lease, seconds),
            self.lease_seconds,
            since=taken.since,
        )

    def _take(self, job_id: int, holder: UUID, since: float) -> _Taken | float | None:
        with transaction(self.engine) as session:
            lease = service.take(session, job_id, holder=holder, seconds=self.lease_seconds)
            job = session.get(Job, job_id)
            if job is None or repository.is_over(job.state):
                return None
            if lease is None:
                return BUSY_RETRY_S
            service.count_lost(session, job)
            action = decide(self._situation(session, job))
            service.begin_attempt(session, lease, self.worker)
            return _Taken(lease, job, action, since)

    def _situation(self, session: Session, job: Job) -> JobSituation:
        began = job.started_at or job.created_at
        return JobSituation(
            standing=job.kind in STANDING,
            cancelled_by=job.cancelled_by,
            failures=job.failures,
            error=job.error,
            lost_workers=job.lost_workers,
            age_s=(database_now(session) - began).total_seconds(),
            limit_s=self.runners[job.kind].limit_s,
        )

    def _act(self, taken: _Taken, context: JobContext) -> JobDone | None:
        """What came of the step; None where it was another worker's already."""
        if taken.action.step is not JobStep.GO_ON:
            cancelled = taken.action.step is JobStep.CANCEL
            return self._ended(
                JobState.CANCELLED if cancelled else JobState.FAILED, taken.action.reason
            )
        try:
            return self.runners[taken.job.kind].go_on(context)
        except StaleEpoch as refused:
            log.warning("step refused", job=taken.job.id, reason=refused.message)
            return None
        except Interrupted as interrupted:
            return JobDone(why=interrupted.message, interrupted=True)
        except AuthorsFault as fault:
            return self._ended(JobState.FAILED, words_of(fault))
        except Exception as error:
            log.exception("step of a job failed", job=taken.job.id, kind=taken.job.kind)
            return self._put_off(taken.job, error)

    def _put_off(self, job: Job, error: Exception) -> JobDone:
        """Our side failed, or the database was away: tried again."""
        if is_away(error):
            return JobDone(why="the database was away", again_in_s=BUSY_RETRY_S)
        why = words_of(error)

        def put_off(session: Session, current: Job) -> None:
            self.runners[job.kind].put_off(session, current, why)

        return JobDone(put_off, why=why, failed=True)

    def _ended(self, state: JobState, why: str) -> JobDone:
        def end(session: Session, current: Job) -> None:
            self.runners[current.kind].end(session, current, state, why)

        return JobDone(end, state=state, why=why)

    def _commit(self, taken: _Taken, done: JobDone) -> float | None:
        with transaction(self.engine) as session:
            attempt = repository.attempt_under(session, taken.job.id, taken.lease.epoch)
            if attempt and attempt.finished_at and attempt.outcome != service.LOST:
                # Nobody else writes under our epoch: this was done, and the answer was lost.
                return _pause_of(session, taken.job.id)
            service.require(session, taken.lease)
            job = repository.locked_job(session, taken.job.id)
            assert job is not None
            done.apply(session, job)
            if done.state is not None:
                service.close(session, attempt, str(done.state), done.why)
                service.end(session, job, done.state, done.why)
                return None
            again_in_s = done.again_in_s
            if done.failed:
                again_in_s = service.put_off(session, job, done.why)
            else:
                service.went_on(job)
            if done.idle:
                repository.forget_attempt(session, job.id, taken.lease.epoch)
            else:
                service.close(session, attempt, done.outcome, done.why)
            service.set_down(session, job, again_in_s)
            return again_in_s

    def _insist(self, commit: Callable[[], _T]) -> _T:
        return insist(commit, 10 * self.lease_seconds)


def _pause_of(session: Session, job_id: int) -> float | None:
    job = service.find(session, job_id)
    return None if repository.is_over(job.state) else service.seconds_until(session, job.wake_at)
