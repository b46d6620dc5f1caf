"""SQL of hosts and fingerprints."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import func, select, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.orm import Session

from mitigauge.clock import Clock
from mitigauge.database import database_now
from mitigauge.errors import NotFound
from mitigauge.fleet.states import AbsenceKind
from mitigauge.fleet.tables import Fingerprint, Host, HostAbsence

# The driver of a host that only a person can switch.
NO_POWER = "none"
FIRST_PROBE_S, LAST_PROBE_S = 300.0, 3600.0
LONGEST_REASON = 1000


def upsert_host(
    session: Session,
    *,
    environment: str,
    name: str,
    host_class: str,
    machine: str,
    emulated: bool,
    clock: Clock,
    capabilities: list[str],
    power: str = NO_POWER,
) -> int:
    """Store what the inventory says of a host; returns its id."""
    said = {
        "host_class": host_class,
        "machine": machine,
        "emulated": emulated,
        "clock": clock.value,
        "capabilities": capabilities,
        "power": power,
    }
    statement = (
        insert(Host)
        .values(environment=environment, name=name, **said)
        .on_conflict_do_update(index_elements=["environment", "name"], set_=said)
        .returning(Host.id)
    )
    return session.execute(statement).scalar_one()


def saw_host(
    session: Session, host_id: int, digest: str | None = None, facts: dict[str, Any] | None = None
) -> int | None:
    """Note that the host answered now, and its fingerprint if there is one; returns that id."""
    now = func.clock_timestamp()
    session.execute(update(Host).where(Host.id == host_id).values(last_seen_at=now))
    if digest is None:
        return None
    statement = (
        insert(Fingerprint)
        .values(host_id=host_id, digest=digest, facts=facts or {})
        .on_conflict_do_update(index_elements=["host_id", "digest"], set_={"last_seen_at": now})
        .returning(Fingerprint.id)
    )
    return session.execute(statement).scalar_one()


def locked_host(session: Session, host_id: int) -> Host:
    """The host, locked against leases and changes until the transaction ends."""
    return session.get_one(Host, host_id, with_for_update=True, populate_existing=True)


def set_aside(
    session: Session, host_id: int, reason: str, *, pause_s: float | None = None
) -> datetime:
    """Let no run begin on the host until it is brought back; returns when it is probed next.

    A probe is a run that may try to prepare the host; each one that fails doubles the time
    until the next, from 5 minutes to an hour. *pause_s* is another time until the first one.
    """
    host = session.get_one(Host, host_id, with_for_update=True)
    now = database_now(session)
    pause = pause_s or min(FIRST_PROBE_S * 2.0 ** min(host.probes, 10), LAST_PROBE_S)
    _begin_aside(session, host, reason, by="", now=now)
    host.probes += 1
    host.probe_at = now + timedelta(seconds=pause)
    return host.probe_at


def _begin_aside(session: Session, host: Host, reason: str, *, by: str, now: datetime) -> None:
    """Note on the host, and in the list of its absences, why no run begins on it."""
    host.set_aside_at = host.set_aside_at or now
    host.set_aside_reason = reason[:LONGEST_REASON]
    absence = open_absence(session, host.id, AbsenceKind.SET_ASIDE)
    if absence is None:
        session.add(
            HostAbsence(
                host_id=host.id,
                kind=AbsenceKind.SET_ASIDE,
                reason=host.set_aside_reason,
                begun_by=by,
                began_at=now,
            )
        )
    else:
        absence.reason = host.set_aside_reason


def open_absence(session: Session, host_id: int, kind: AbsenceKind) -> HostAbsence | None:
    """The host's absence of that kind that nobody ended; a reservation may be past its time."""
    return session.scalars(
        select(HostAbsence).where(
            HostAbsence.host_id == host_id,
            HostAbsence.kind == kind,
            HostAbsence.ended_at.is_(None),
        )
    ).one_or_none()


def bring_back(session: Session, host_id: int, *, by: str = "") -> bool:
    """Let runs begin on the host again; False where it was not set aside."""
    host = session.get_one(Host, host_id, with_for_update=True)
    was_aside = host.set_aside_at is not None
    host.set_aside_at = host.probe_at = None
    host.set_aside_reason = ""
    host.probes = host.failed_preparations = 0
    absence = open_absence(session, host_id, AbsenceKind.SET_ASIDE)
    if absence is not None:
        absence.ended_at = database_now(session)
        absence.ended_by = by
    return was_aside


def all_hosts(session: Session) -> list[Host]:
    """All hosts by environment and name."""
    return list(session.scalars(select(Host).order_by(Host.environment, Host.name)))


def hosts_named(session: Session, name: str) -> list[Host]:
    """Hosts of that name, one an environment."""
    return list(session.scalars(select(Host).where(Host.name == name).order_by(Host.environment)))


def host_if_known(session: Session, environment: str, name: str) -> Host | None:
    """One host; None where it took part in nothing yet."""
    return session.scalars(
        select(Host).where(Host.environment == environment, Host.name == name)
    ).one_or_none()


def host_named(session: Session, environment: str, name: str) -> Host:
    """One host. Raises :class:`NotFound` naming the known ones."""
    found = host_if_known(session, environment, name)
    if found is None:
        known = ", ".join(f"{h.environment}/{h.name}" for h in all_hosts(session)) or "none yet"
        raise NotFound(
            f"there is no host {environment}/{name}",
            hint=f"Known: {known}. A host appears with its first experiment.",
        )
    return found


def fingerprints_of(session: Session, host_id: int) -> list[Fingerprint]:
    """The host's fingerprints, newest first."""
    return list(
        session.scalars(
            select(Fingerprint)
            .where(Fingerprint.host_id == host_id)
            .order_by(Fingerprint.first_seen_at.desc())
        )
    )
