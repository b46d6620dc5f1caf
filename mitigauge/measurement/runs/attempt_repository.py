"""SQL of step attempts."""

from __future__ import annotations

from datetime import datetime
from itertools import takewhile
from uuid import UUID

from sqlalchemy import func, or_, select
from sqlalchemy.orm import Session

from mitigauge.measurement.runs.tables import StepAttempt

FAULTS = ("lab_fault", "failed")
# Ends of attempts that others wrote down for a worker that did not.
LOST_ENDS = ("lost", "refused")


def steps_of(session: Session, boot_id: int) -> list[StepAttempt]:
    """Every attempt at a step of the boot, in order."""
    return list(
        session.scalars(
            select(StepAttempt).where(StepAttempt.boot_id == boot_id).order_by(StepAttempt.id)
        )
    )


def attempt_under(session: Session, run_id: int, epoch: int) -> StepAttempt | None:
    """The attempt that was begun under the epoch, if one was."""
    return session.scalars(
        select(StepAttempt).where(StepAttempt.run_id == run_id, StepAttempt.epoch == epoch)
    ).one_or_none()


def lost_with(session: Session, worker: UUID | None) -> int:
    """How many attempts a worker left without an end when it was lost; at least 1."""
    if worker is None:
        return 1
    open_ends = or_(StepAttempt.finished_at.is_(None), StepAttempt.outcome.in_(LOST_ENDS))
    left = select(func.count()).where(StepAttempt.worker == worker, open_ends)
    return max(session.scalar(left) or 0, 1)


def has_begun(session: Session, run_id: int, step: str) -> bool:
    """Whether the run ever began the step, whatever came of it."""
    begun = select(StepAttempt.id).where(StepAttempt.run_id == run_id, StepAttempt.step == step)
    return bool(session.scalar(select(begun.exists())))


def unfinished_attempts(session: Session, run_id: int, before_epoch: int) -> list[StepAttempt]:
    """Attempts under earlier epochs whose end nobody wrote down, in order."""
    return list(
        session.scalars(
            select(StepAttempt)
            .where(
                StepAttempt.run_id == run_id,
                StepAttempt.epoch < before_epoch,
                StepAttempt.finished_at.is_(None),
            )
            .order_by(StepAttempt.id)
        )
    )


def lost_during(session: Session, boot_id: int, step: str) -> bool:
    """Whether a worker was lost while it took that step of the boot, which it may have done."""
    steps = steps_of(session, boot_id)
    return any(attempt.step == step and attempt.outcome in LOST_ENDS for attempt in steps)


def unanswered_since(session: Session, boot_id: int) -> datetime | None:
    """When the first of the boot's latest steps began that all heard nothing of the host.

    None if the latest step that ended was answered; the step in hand is not looked at.
    """
    ended = [step for step in steps_of(session, boot_id) if step.finished_at is not None]
    silent = list(takewhile(lambda step: step.outcome == "unanswered", reversed(ended)))
    return silent[-1].started_at if silent else None


def last_fault(session: Session, run_id: int) -> str:
    """Why a step of the run failed most recently; empty if none did."""
    faults = StepAttempt.outcome.in_(FAULTS)
    return (
        session.scalar(
            select(StepAttempt.detail)
            .where(StepAttempt.run_id == run_id, faults)
            .order_by(StepAttempt.id.desc())
            .limit(1)
        )
        or ""
    )
