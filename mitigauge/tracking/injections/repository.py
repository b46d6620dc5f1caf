"""SQL of slow-downs of known size."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from mitigauge.kernels.states import KernelState
from mitigauge.kernels.tables import Kernel
from mitigauge.measurement.fleet.tables import Host
from mitigauge.measurement.runs.states import RunState
from mitigauge.measurement.runs.tables import Run
from mitigauge.tracking.injections.tables import Injection


def open_one(session: Session, *, lock: bool = False) -> Injection | None:
    """The one that is not over."""
    wanted = select(Injection).where(Injection.ended_at.is_(None))
    return session.scalars(wanted.with_for_update() if lock else wanted).one_or_none()


def runs_since_last(session: Session, environment: str) -> int:
    """Runs of an environment that finished since the last one began."""
    last: datetime | None = session.scalar(select(func.max(Injection.began_at)))
    wanted = (
        select(func.count())
        .select_from(Run)
        .join(Host, Host.id == Run.host_id)
        .where(Run.state == RunState.FINISHED, Host.environment == environment)
    )
    if last is not None:
        wanted = wanted.where(Run.finished_at > last)
    return session.scalar(wanted) or 0


def builds_such(session: Session, base: str, profile: str) -> bool:
    """Whether a kernel of that source and configuration was built here before."""
    wanted = select(Kernel.id).where(
        Kernel.state == KernelState.BUILT,
        Kernel.base.startswith(f"{base} ", autoescape=True),
        Kernel.profile == profile,
    )
    return session.scalar(wanted.limit(1)) is not None
