"""Jobs as they are asked for, taken, gone on with and ended. Nothing here commits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from sqlalchemy.orm import Session

from mitigauge.access.audit import service as audit
from mitigauge.access.audit.actions import Action, Subject, SubjectKind
from mitigauge.core.errors import Conflict, NotFound, StaleEpoch
from mitigauge.core.hostile_text import clean_text
from mitigauge.jobs import repository
from mitigauge.jobs.blame import pause_s
from mitigauge.jobs.lease import JobLease
from mitigauge.jobs.states import NEEDS, STANDING, JobKind, JobState
from mitigauge.jobs.tables import Job, JobAttempt, JobEvent
from mitigauge.storage.database.engine import database_now
from mitigauge.storage.database.waits import LONGEST_LEASE, has_come

# Who asks for what the service does unasked.
SERVICE = "mitigauge"
LONGEST_TEXT = 4000
# What is written of an attempt by somebody else than who made it.
LOST = "lost"
LONGEST_TITLE = 300


@dataclass(frozen=True, slots=True)
class JobRequest:
    """A job to be done.

    *arguments*: what its kind reads, as JSON. *content_sha256*: what it reads besides, in the blob
    store.
    """

    kind: JobKind
    subject: str
    title: str
    asked_by: str
    arguments: Mapping[str, Any] = field(default_factory=dict)
    content_sha256: str | None = None


def ask(session: Session, wanted: JobRequest) -> Job:
    """Store the job; one that is open already is asked for again, and goes on at once."""
    values = {
        "kind": wanted.kind,
        "subject": wanted.subject,
        "title": clean_text(wanted.title)[:LONGEST_TITLE],
        "need": NEEDS[wanted.kind],
        "arguments": dict(wanted.arguments),
        "content_sha256": wanted.content_sha256,
        "asked_by": wanted.asked_by,
    }
    made = repository.insert_job(session, values)
    job = repository.open_job(session, wanted.kind, wanted.subject, lock=True)
    if job is None:
        raise Conflict(
            f"the {wanted.kind} job of {wanted.title} just ended", hint="Ask for it once more."
        )
    if made is not None:
        after = {"kind": job.kind, "title": job.title, "asked_by": job.asked_by}
        audit.record(session, Action.JOB_ASK, _subject(job), after=after)
    elif job.wake_at > database_now(session):
        job.wake_at = database_now(session)
    return job


def find(session: Session, job_id: int) -> Job:
    """One job. Raises NotFound."""
    job = session.get(Job, job_id)
    if job is None:
        raise NotFound(f"there is no job {job_id}", hint="`mitigauge job list` shows all.")
    return job


def cancel(session: Session, job_id: int, by: str) -> Job:
    """Ask that the job ends; whoever acts on it hears of it, else the next worker ends it.

    Raises NotFound; and Conflict for one that is over, or the service's own.
    """
    find(session, job_id)
    job = repository.locked_job(session, job_id)
    assert job is not None
    if repository.is_over(job.state):
        raise Conflict(f"job {job_id} is {job.state} already")
    if job.kind in STANDING:
        raise Conflict(
            f"job {job_id} is the service's own",
            hint="Its setting turns it off; see docs/operating.md.",
        )
    if not job.cancelled_by:
        _ask_to_end(session, job, by)
        say(session, job_id, f"{by} cancels it")
    return job


def cancel_open(session: Session, kind: JobKind, subject: str, by: str) -> None:
    """End the open job of that kind and subject, whose subject has ended already.

    Where a worker acts on it, the worker hears of it and ends it.
    """
    job = repository.open_job(session, kind, subject, lock=True)
    if job is None or job.cancelled_by:
        return
    _ask_to_end(session, job, by)
    if job.holder is None:
        end(session, job, JobState.CANCELLED, f"cancelled by {by}")


def _ask_to_end(session: Session, job: Job, by: str) -> None:
    job.cancelled_by = by
    job.wake_at = database_now(session)
    before = {"kind": job.kind, "title": job.title, "state": job.state}
    audit.record(
        session, Action.JOB_CANCEL, _subject(job), before=before, after={"cancelled_by": by}
    )


def take(session: Session, job_id: int, *, holder: UUID, seconds: float) -> JobLease | None:
    """Take or take over the job; None while somebody else acts on it, or it is over.

    A *holder* that asks again, because the answer to its commit was lost, gets the lease that it
    has.
    """
    job = repository.locked_job(session, job_id)
    if job is None or repository.is_over(job.state):
        return None
    now = database_now(session)
    ours = job.holder == holder
    lasts = job.expires_at is not None and not has_come(job.expires_at, now, LONGEST_LEASE)
    if job.holder is not None and not ours and lasts:
        return None
    if not ours:
        job.epoch += 1
        job.holder = holder
    job.expires_at = now + timedelta(seconds=seconds)
    if job.state == JobState.QUEUED:
        job.state = JobState.RUNNING
        job.started_at = now
        after = {"kind": job.kind, "title": job.title, "state": job.state}
        audit.record(session, Action.JOB_BEGIN, _subject(job), after=after)
    session.flush()
    return JobLease(job_id, job.epoch, holder)


def require(session: Session, lease: JobLease) -> None:
    """Lock the job for this transaction; raise :class:`StaleEpoch` if it is another's now."""
    if not repository.holds(session, lease):
        raise StaleEpoch(
            f"job {lease.job_id}: epoch {lease.epoch} was taken over; this commit does not count",
            hint="Another worker went on with the job; nothing needs to be done.",
        )


def count_lost(session: Session, job: Job) -> None:
    """Write down for workers that could not that they began a step and did not come back."""
    for attempt in repository.unfinished_attempts(session, job.id, job.epoch):
        job.lost_workers += 1
        close(session, attempt, LOST, "the worker did not come back")
        say(session, job.id, f"worker {attempt.worker} did not come back; the step is taken again")


def begin_attempt(session: Session, lease: JobLease, worker: str) -> None:
    """Note that a step is begun under this epoch."""
    if repository.attempt_under(session, lease.job_id, lease.epoch) is None:
        session.add(JobAttempt(job_id=lease.job_id, epoch=lease.epoch, worker=worker))


def close(session: Session, attempt: JobAttempt | None, outcome: str, detail: str) -> None:
    """Note what came of an attempt."""
    if attempt is not None:
        attempt.outcome, attempt.detail = outcome, clean_text(detail)[:LONGEST_TEXT]
        attempt.finished_at = database_now(session)


def set_down(session: Session, job: Job, again_in_s: float) -> None:
    """Stop acting; any worker may go on after so long."""
    job.holder, job.expires_at = None, None
    job.wake_at = database_now(session) + timedelta(seconds=again_in_s)


def went_on(job: Job) -> None:
    """A step was done: what failed before it is past."""
    job.failures = job.lost_workers = 0
    job.error = ""


def put_off(session: Session, job: Job, why: str) -> float:
    """Our side failed: it is tried again, later and later. Seconds until then."""
    job.failures += 1
    job.error = clean_text(why)[:LONGEST_TEXT]
    pause = pause_s(job.failures)
    say(session, job.id, f"{why}; it is tried again in {pause:.0f} s")
    return pause


def end(session: Session, job: Job, state: JobState, why: str = "") -> None:
    """The job is over."""
    before = {"kind": job.kind, "title": job.title, "state": job.state}
    after = {"state": state, "why": why or None}
    audit.record(session, Action.JOB_END, _subject(job), before=before, after=after)
    job.state, job.error = state, clean_text(why)[:LONGEST_TEXT]
    job.holder, job.expires_at = None, None
    job.finished_at = database_now(session)
    job.progress = ""
    say(session, job.id, str(state))


def _subject(job: Job) -> Subject:
    return Subject(SubjectKind.JOB, job.id)


def say(session: Session, job_id: int, text: str) -> None:
    """Append a line to the job's log."""
    session.add(JobEvent(job_id=job_id, text=clean_text(text)[:LONGEST_TEXT]))


def seconds_until(session: Session, at: datetime) -> float:
    """Seconds until that moment, by the database's clock; 0 where it is past."""
    return max((at - database_now(session)).total_seconds(), 0.0)
