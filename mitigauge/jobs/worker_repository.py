"""SQL of workers as they announce themselves."""

from __future__ import annotations

from datetime import timedelta
from uuid import UUID

from sqlalchemy import delete, func, select, update
from sqlalchemy.orm import Session

from mitigauge.jobs.abilities import Abilities
from mitigauge.jobs.states import Ability
from mitigauge.jobs.tables import WorkerProcess
from mitigauge.storage.database.engine import database_now

# One that was not seen for so long is taken for gone. Seen it is every five seconds.
GONE_AFTER = timedelta(seconds=45)
# Rows of workers that ended are kept for so long.
KEPT = timedelta(days=7)


def announce(session: Session, worker: WorkerProcess) -> None:
    """Store a worker, or what it can do now; it was seen."""
    worker.seen_at = database_now(session)
    session.merge(worker)
    session.execute(
        delete(WorkerProcess).where(WorkerProcess.seen_at < func.clock_timestamp() - KEPT)
    )


def seen(session: Session, worker_id: UUID) -> bool:
    """Note that the worker lives; False where its row is gone."""
    found = session.scalars(
        update(WorkerProcess)
        .where(WorkerProcess.id == worker_id)
        .values(seen_at=func.clock_timestamp(), stopped_at=None)
        .returning(WorkerProcess.id)
    )
    return found.one_or_none() is not None


def stopped(session: Session, worker_id: UUID) -> None:
    """Note that the worker ended by itself."""
    session.execute(
        update(WorkerProcess)
        .where(WorkerProcess.id == worker_id)
        .values(stopped_at=func.clock_timestamp())
    )


def listed(session: Session) -> list[WorkerProcess]:
    """All that are known, the newest first."""
    wanted = select(WorkerProcess).order_by(WorkerProcess.started_at.desc())
    return list(session.scalars(wanted))


def alive(session: Session) -> list[WorkerProcess]:
    """Those that work now."""
    wanted = select(WorkerProcess).where(
        WorkerProcess.stopped_at.is_(None),
        # One that is ahead was seen by a clock that was wrong.
        WorkerProcess.seen_at.between(
            func.clock_timestamp() - GONE_AFTER, func.clock_timestamp() + GONE_AFTER
        ),
    )
    return list(session.scalars(wanted.order_by(WorkerProcess.started_at)))


def abilities(session: Session) -> list[Abilities]:
    """What each worker can do that works now."""
    return [worker.abilities for worker in alive(session)]


def able(session: Session, need: Ability) -> bool:
    """Whether a worker that works now can do that."""
    return any(need in each.jobs for each in abilities(session))
