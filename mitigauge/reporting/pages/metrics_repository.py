"""SQL of what a monitor asks: sums and counts, a few statements a scrape."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from sqlalchemy import func, select, text
from sqlalchemy.orm import Session

from mitigauge.jobs.states import OPEN_JOB_STATES, STANDING
from mitigauge.jobs.tables import Job, WorkerProcess
from mitigauge.measurement.fleet.tables import Host
from mitigauge.measurement.runs.states import UNCOUNTED_BOOT_STATES
from mitigauge.measurement.runs.tables import Boot, Run, StepAttempt
from mitigauge.reporting.deliveries.tables import MailDelivery

# Steps that ended within it are summed.
STEPS_WITHIN = timedelta(hours=1)
# Rows of columns that each function names.
Counts = Sequence[Any]


def runs_by_state(session: Session) -> Counts:
    """state, runs."""
    return session.execute(select(Run.state, func.count()).group_by(Run.state)).all()


def jobs_by_state(session: Session) -> Counts:
    """kind, state, jobs."""
    counted = select(Job.kind, Job.state, func.count())
    return session.execute(counted.group_by(Job.kind, Job.state)).all()


def failing_jobs(session: Session) -> Counts:
    """kind, open jobs whose last try our side failed."""
    failing = select(Job.kind, func.count()).where(Job.failures > 0, Job.state.in_(OPEN_JOB_STATES))
    return session.execute(failing.group_by(Job.kind)).all()


def waiting_jobs(session: Session) -> Counts:
    """what it needs, queued jobs, age of the oldest in seconds."""
    age = func.extract("epoch", func.now() - func.min(Job.created_at))
    waiting = select(Job.need, func.count(), age).where(
        Job.state == OPEN_JOB_STATES[0], Job.kind.not_in(STANDING)
    )
    return session.execute(waiting.group_by(Job.need)).all()


def boots_by_state(session: Session) -> Counts:
    """state, boots."""
    return session.execute(select(Boot.state, func.count()).group_by(Boot.state)).all()


def lost_seconds(session: Session) -> float:
    """Seconds of all boots that count for nothing."""
    seconds = func.extract("epoch", Boot.finished_at - Boot.started_at)
    lost = select(func.sum(seconds)).where(Boot.state.in_(UNCOUNTED_BOOT_STATES))
    return float(session.scalar(lost) or 0.0)


def hosts(session: Session) -> list[Host]:
    """All hosts."""
    return list(session.scalars(select(Host)))


def steps_of_late(session: Session) -> Counts:
    """step, outcome, attempts, seconds: of those that ended within the last hour."""
    seconds = func.sum(func.extract("epoch", StepAttempt.finished_at - StepAttempt.started_at))
    ended = select(StepAttempt.step, StepAttempt.outcome, func.count(), seconds).where(
        StepAttempt.finished_at > func.now() - STEPS_WITHIN
    )
    return session.execute(ended.group_by(StepAttempt.step, StepAttempt.outcome)).all()


def workers_seen(session: Session) -> Counts:
    """name, seconds since it was seen, of workers that did not end by themselves."""
    age = func.extract("epoch", func.now() - WorkerProcess.seen_at)
    running = select(WorkerProcess.name, age).where(WorkerProcess.stopped_at.is_(None))
    return session.execute(running).all()


def mails_by_state(session: Session) -> Counts:
    """state, mails to one receiver each."""
    counted = select(MailDelivery.state, func.count()).group_by(MailDelivery.state)
    return session.execute(counted).all()


def database_bytes(session: Session) -> int:
    """Size of the database on its disk."""
    return int(session.scalar(text("select pg_database_size(current_database())")) or 0)
