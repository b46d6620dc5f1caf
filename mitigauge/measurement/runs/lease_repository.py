"""Fenced leases: who may act on a host now, and whose commit still counts.

All comparisons use the database's clock, so that workers' clocks need not agree.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from sqlalchemy import ColumnElement, func, select, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from mitigauge.core.clock import Clock
from mitigauge.core.errors import StaleEpoch
from mitigauge.measurement.fleet import repository as fleet
from mitigauge.measurement.fleet.availability import kept_from
from mitigauge.measurement.fleet.tables import Host
from mitigauge.measurement.runs.tables import HostLease
from mitigauge.storage.database.engine import database_now
from mitigauge.storage.database.locks import Lock
from mitigauge.storage.database.waits import LONGEST_LEASE, has_come


@dataclass(frozen=True, slots=True)
class Lease:
    """A worker's right to act for *run_id* on *host_id*, under one epoch."""

    host_id: int
    run_id: int
    epoch: int
    holder: UUID


def acquire(
    session: Session, *, host_id: int, run_id: int, holder: UUID, seconds: float
) -> Lease | None:
    """Take or take over the host for the run; None while somebody else acts on it.

    No run begins on a host that is set aside or reserved; one that holds it goes on. A lapsed lease
    lets only its own run go on, with the next epoch. A *holder* that asks again,
    because the answer to its commit was lost, gets the lease that it has.
    """
    held = session.scalars(
        select(HostLease)
        .where(HostLease.host_id == host_id, HostLease.released_at.is_(None))
        .with_for_update()
    ).one_or_none()
    now = database_now(session)
    expires = now + timedelta(seconds=seconds)
    if held is None:
        return _take_free_host(session, host_id, run_id, holder, now=now, expires=expires)
    ours = held.run_id == run_id and held.holder == holder
    acted_on = held.holder is not None and not has_come(held.expires_at, now, LONGEST_LEASE)
    if held.run_id != run_id or (acted_on and not ours):
        return None
    if not ours:
        held.epoch += 1
    held.holder = holder
    held.expires_at = expires
    session.flush()
    return Lease(host_id, run_id, held.epoch, holder)


def _take_free_host(
    session: Session, host_id: int, run_id: int, holder: UUID, *, now: datetime, expires: datetime
) -> Lease | None:
    # Whoever sets the host aside or reserves it locks it: he has to wait for us, or is seen here.
    if kept_from(fleet.shared_host(session, host_id), now) is not None:
        return None
    last = session.scalars(
        select(HostLease.epoch)
        .where(HostLease.run_id == run_id)
        .order_by(HostLease.epoch.desc())
        .limit(1)
    ).one_or_none()
    row = HostLease(
        host_id=host_id,
        run_id=run_id,
        epoch=(last or 0) + 1,
        holder=holder,
        acquired_at=now,
        expires_at=expires,
    )
    try:
        with session.begin_nested():
            session.add(row)
    except IntegrityError:
        return None  # another worker was faster
    return Lease(host_id, run_id, row.epoch, holder)


def renew(session: Session, lease: Lease, seconds: float) -> bool:
    """Prolong the lease; False when it was taken over or released."""
    renewed = session.scalars(
        update(HostLease)
        .where(*_mine(lease))
        .values(expires_at=database_now(session) + timedelta(seconds=seconds))
        .returning(HostLease.id)
    )
    return renewed.one_or_none() is not None


def require(session: Session, lease: Lease) -> None:
    """Lock the lease for this transaction; raise :class:`StaleEpoch` if it is another's now."""
    row = session.scalars(select(HostLease.id).where(*_mine(lease)).with_for_update()).one_or_none()
    if row is None:
        raise StaleEpoch(
            f"run {lease.run_id}: epoch {lease.epoch} was taken over; this commit does not count",
            hint="Another worker went on with the run; nothing needs to be done.",
        )


def set_down(session: Session, lease: Lease) -> None:
    """Stop acting but keep the host for the run, so that any worker may go on at once."""
    session.execute(update(HostLease).where(*_mine(lease)).values(holder=None))


def holding_run(session: Session, host_id: int) -> int | None:
    """The run that holds the host now; None where it is free."""
    return session.scalars(
        select(HostLease.run_id).where(
            HostLease.host_id == host_id, HostLease.released_at.is_(None)
        )
    ).one_or_none()


def note_activity(session: Session, lease: Lease, activity: str) -> None:
    """Write down what the host does with its machine; see ``turns.py``."""
    session.execute(update(HostLease).where(*_mine(lease)).values(activity=activity))


def activities_beside(session: Session, host: Host, *, counted_too: bool) -> list[str]:
    """What the other leased hosts of the machine do; it is locked until the transaction ends.

    *counted_too*: also those whose time counts instructions.
    """
    machine = func.hashtext(host.machine)
    session.execute(select(func.pg_advisory_xact_lock(Lock.MACHINE, machine)))
    others = (
        select(HostLease.activity)
        .join(Host, HostLease.host_id == Host.id)
        .where(
            Host.machine == host.machine,
            HostLease.host_id != host.id,
            HostLease.released_at.is_(None),
        )
    )
    if not counted_too:
        others = others.where(Host.clock != Clock.COUNTED.value)
    return list(session.scalars(others))


def release(session: Session, lease: Lease) -> None:
    """Give the host back."""
    session.execute(
        update(HostLease)
        .where(*_mine(lease))
        .values(released_at=database_now(session), holder=None)
    )


def _mine(lease: Lease) -> tuple[ColumnElement[bool], ...]:
    return (
        HostLease.run_id == lease.run_id,
        HostLease.epoch == lease.epoch,
        HostLease.holder == lease.holder,
        HostLease.released_at.is_(None),
    )
