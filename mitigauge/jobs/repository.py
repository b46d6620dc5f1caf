"""SQL of jobs. All times are the database's, so that workers' clocks need not agree."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import ColumnElement, delete, func, or_, select, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.orm import Session, aliased

from mitigauge.jobs.lease import JobLease
from mitigauge.jobs.states import OPEN_JOB_STATES, STANDING, Ability, JobKind, JobState
from mitigauge.jobs.tables import Job, JobAttempt, JobEvent
from mitigauge.storage.database.engine import database_now
from mitigauge.storage.database.found_words import with_words
from mitigauge.storage.database.locks import AGAINST_CHANGES
from mitigauge.storage.database.waits import LONGEST_LEASE, LONGEST_WAIT, column_has_come

MOST_LISTED = 500


def insert_job(session: Session, values: dict[str, Any]) -> int | None:
    """Store a job; None where an open one of its kind and subject is there already."""
    wanted = insert(Job).values(values).on_conflict_do_nothing().returning(Job.id)
    return session.execute(wanted).scalar_one_or_none()


def open_job(session: Session, kind: JobKind, subject: str, *, lock: bool = False) -> Job | None:
    """The open job of that kind and subject."""
    wanted = select(Job).where(
        Job.kind == kind, Job.subject == subject, Job.state.in_(OPEN_JOB_STATES)
    )
    return session.scalars(wanted.with_for_update() if lock else wanted).one_or_none()


def newest_job(session: Session, kind: JobKind, subject: str) -> Job | None:
    """The newest job of that kind and subject, open or over."""
    wanted = select(Job).where(Job.kind == kind, Job.subject == subject)
    return session.scalars(wanted.order_by(Job.id.desc()).limit(1)).one_or_none()


def locked_job(session: Session, job_id: int) -> Job | None:
    """The job as it is stored now, locked until the transaction ends."""
    return session.get(Job, job_id, with_for_update=AGAINST_CHANGES, populate_existing=True)


def listed(
    session: Session,
    *,
    standing: bool,
    find: str = "",
    states: Collection[JobState] = (),
    limit: int = MOST_LISTED,
) -> list[Job]:
    """The newest jobs that have the words; *standing*: with the service's own."""
    wanted = with_words(select(Job), find, (Job.title, Job.subject, Job.asked_by))
    if not standing:
        wanted = wanted.where(Job.kind.not_in(STANDING))
    if states:
        wanted = wanted.where(Job.state.in_(states))
    return list(session.scalars(wanted.order_by(Job.id.desc()).limit(limit)))


def failed_since(session: Session, since: datetime, limit: int) -> list[Job]:
    """Jobs that failed since then and were not begun anew, the newest first."""
    again = aliased(Job)
    newer = select(again.id).where(
        again.kind == Job.kind, again.subject == Job.subject, again.id > Job.id
    )
    asked = (
        select(Job)
        .where(
            Job.state == JobState.FAILED,
            Job.finished_at >= since,
            (Job.subject == "") | ~newer.exists(),
        )
        .order_by(Job.id.desc())
        .limit(limit)
    )
    return list(session.scalars(asked))


def jobs_to_wake(
    session: Session, abilities: Collection[Ability], *, grace_s: float
) -> list[tuple[int, Ability]]:
    """Open jobs that a worker of those abilities may take now: due, and nobody acts on them."""
    wanted = (
        select(Job.id, Job.need)
        .where(
            Job.state.in_(OPEN_JOB_STATES),
            Job.need.in_(abilities),
            column_has_come(Job.wake_at, LONGEST_WAIT, grace=timedelta(seconds=grace_s)),
            or_(Job.holder.is_(None), column_has_come(Job.expires_at, LONGEST_LEASE)),
        )
        .order_by(Job.wake_at, Job.id)
    )
    return [(job_id, need) for job_id, need in session.execute(wanted)]


def any_open(session: Session, abilities: Collection[Ability]) -> bool:
    """Whether somebody asked for something that is not over and that needs one of these."""
    wanted = select(Job.id).where(
        Job.state.in_(OPEN_JOB_STATES), Job.need.in_(abilities), Job.kind.not_in(STANDING)
    )
    return session.scalar(wanted.limit(1)) is not None


def wake(session: Session, kind: JobKind, subject: str) -> None:
    """Let the open job go on at once."""
    session.execute(
        update(Job)
        .where(Job.kind == kind, Job.subject == subject, Job.state.in_(OPEN_JOB_STATES))
        .values(wake_at=func.clock_timestamp())
    )


def renew(session: Session, lease: JobLease, seconds: float) -> bool:
    """Prolong the lease; False when it was taken over or set down."""
    renewed = session.scalars(
        update(Job)
        .where(*_mine(lease))
        .values(expires_at=database_now(session) + timedelta(seconds=seconds))
        .returning(Job.id)
    )
    return renewed.one_or_none() is not None


def holds(session: Session, lease: JobLease) -> bool:
    """Whether the lease is still ours; the job is locked until the transaction ends."""
    # Lines of its log, which point at it, may be written meanwhile.
    locked = select(Job.id).where(*_mine(lease)).with_for_update(key_share=True)
    return session.scalars(locked).one_or_none() is not None


def is_cancelled(session: Session, job_id: int) -> bool:
    """Whether somebody asked that the job ends."""
    return bool(session.scalar(select(Job.cancelled_by).where(Job.id == job_id)))


def note_progress(session: Session, lease: JobLease, words: str) -> None:
    """Say what the job does now."""
    # A step that says so within a transaction of its own holds the row already.
    free = select(Job.id).where(*_mine(lease)).with_for_update(key_share=True, skip_locked=True)
    session.execute(update(Job).where(Job.id.in_(free.scalar_subquery())).values(progress=words))


def attempt_under(session: Session, job_id: int, epoch: int) -> JobAttempt | None:
    """The attempt that was begun under an epoch."""
    wanted = select(JobAttempt).where(JobAttempt.job_id == job_id, JobAttempt.epoch == epoch)
    return session.scalars(wanted).one_or_none()


def unfinished_attempts(session: Session, job_id: int, before: int) -> Sequence[JobAttempt]:
    """Attempts under earlier epochs that nobody ended."""
    wanted = select(JobAttempt).where(
        JobAttempt.job_id == job_id, JobAttempt.epoch < before, JobAttempt.finished_at.is_(None)
    )
    return session.scalars(wanted.order_by(JobAttempt.epoch)).all()


def forget_attempt(session: Session, job_id: int, epoch: int) -> None:
    """Remove an attempt that found nothing to do."""
    session.execute(
        delete(JobAttempt).where(JobAttempt.job_id == job_id, JobAttempt.epoch == epoch)
    )


def attempts_of(session: Session, job_id: int, *, limit: int = 200) -> list[JobAttempt]:
    """The job's latest attempts, the newest first."""
    wanted = select(JobAttempt).where(JobAttempt.job_id == job_id)
    return list(session.scalars(wanted.order_by(JobAttempt.epoch.desc()).limit(limit)))


def events_after(session: Session, job_id: int, after: int, *, limit: int = 1000) -> list[JobEvent]:
    """The job's lines after that id, in their order."""
    wanted = select(JobEvent).where(JobEvent.job_id == job_id, JobEvent.id > after)
    return list(session.scalars(wanted.order_by(JobEvent.id).limit(limit)))


def last_event_id(session: Session, job_id: int) -> int:
    """Id of the job's newest line; 0 where it has none."""
    return session.scalar(select(func.max(JobEvent.id)).where(JobEvent.job_id == job_id)) or 0


def is_over(state: JobState) -> bool:
    """Whether nothing more is done about a job."""
    return state not in OPEN_JOB_STATES


def _mine(lease: JobLease) -> tuple[ColumnElement[bool], ...]:
    return (Job.id == lease.job_id, Job.epoch == lease.epoch, Job.holder == lease.holder)
