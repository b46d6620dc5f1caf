"""SQL of times in which no run begins on a host: set aside by a rule or a person, or reserved."""

from __future__ import annotations

from datetime import datetime, timedelta

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from mitigauge.measurement.fleet.repository import locked_host
from mitigauge.measurement.fleet.states import AbsenceKind
from mitigauge.measurement.fleet.tables import Host, HostAbsence
from mitigauge.storage.database.engine import database_now

FIRST_PROBE_S, LAST_PROBE_S = 300.0, 3600.0
LONGEST_REASON = 1000


def set_aside(
    session: Session, host_id: int, reason: str, *, pause_s: float | None = None
) -> datetime:
    """Let no run begin on the host until it is brought back; returns when it is probed next.

    A probe is a run that may try to prepare the host; each one that fails doubles the time
    until the next, from 5 minutes to an hour. *pause_s* is another time until the first one.
    A host that a person set aside is not probed: it stays as it is.
    """
    host = locked_host(session, host_id)
    now = database_now(session)
    pause = pause_s or min(FIRST_PROBE_S * 2.0 ** min(host.probes, 10), LAST_PROBE_S)
    if host.set_aside_by:
        return now + timedelta(seconds=LAST_PROBE_S)
    _begin_aside(session, host, reason, by="", now=now)
    host.probes += 1
    host.probe_at = now + timedelta(seconds=pause)
    return host.probe_at


def set_aside_by_hand(session: Session, host: Host, reason: str, by: str) -> None:
    """Let no run begin on the *locked* host until a person brings it back."""
    _begin_aside(session, host, reason, by=by, now=database_now(session))
    host.set_aside_by = by
    host.probe_at = None


def bring_back(session: Session, host_id: int, *, by: str = "") -> bool:
    """Let runs begin on the host again; False where it was not set aside.

    What a person set aside only a person, *by*, brings back.
    """
    host = locked_host(session, host_id)
    if host.set_aside_by and not by:
        return False
    was_aside = host.set_aside_at is not None
    host.set_aside_at = host.probe_at = None
    host.set_aside_reason = host.set_aside_by = ""
    host.probes = host.failed_preparations = 0
    _end(session, host, AbsenceKind.SET_ASIDE, by)
    return was_aside


def reserve(session: Session, host: Host, *, until: datetime, reason: str, by: str) -> None:
    """Let no run begin on the *locked* host before *until*; what was reserved before ends."""
    now = database_now(session)
    _end(session, host, AbsenceKind.RESERVED, by)
    host.reserved_by, host.reserved_until, host.reserved_reason = by, until, reason
    session.add(
        HostAbsence(
            host_id=host.id,
            kind=AbsenceKind.RESERVED,
            reason=reason,
            begun_by=by,
            began_at=now,
            until=until,
        )
    )


def release(session: Session, host: Host, *, by: str) -> None:
    """End what the *locked* host is reserved for."""
    host.reserved_by = host.reserved_reason = ""
    host.reserved_until = None
    _end(session, host, AbsenceKind.RESERVED, by)


def absences_of(session: Session, host_id: int, *, limit: int) -> list[HostAbsence]:
    """The newest times in which no run began on the host, newest first."""
    return list(
        session.scalars(
            select(HostAbsence)
            .where(HostAbsence.host_id == host_id)
            .order_by(HostAbsence.began_at.desc(), HostAbsence.id.desc())
            .limit(limit)
        )
    )


def absent_seconds(session: Session, host_id: int, now: datetime) -> float:
    """Seconds until *now* in which no run could begin on the host; what overlaps counts once."""
    over = func.least(
        func.coalesce(HostAbsence.ended_at, now), func.coalesce(HostAbsence.until, now)
    )
    rows = session.execute(
        select(HostAbsence.began_at, over)
        .where(HostAbsence.host_id == host_id)
        .order_by(HostAbsence.began_at)
    )
    total, reached = 0.0, None
    for began, ended in rows:
        begins = began if reached is None or began > reached else reached
        total += max((ended - begins).total_seconds(), 0.0)
        reached = ended if reached is None or ended > reached else reached
    return total


def _begin_aside(session: Session, host: Host, reason: str, *, by: str, now: datetime) -> None:
    host.set_aside_at = host.set_aside_at or now
    host.set_aside_reason = reason[:LONGEST_REASON]
    absence = _open(session, host.id, AbsenceKind.SET_ASIDE)
    if absence is not None and absence.begun_by == by:
        absence.reason = host.set_aside_reason
        return
    _end(session, host, AbsenceKind.SET_ASIDE, by)
    session.add(
        HostAbsence(
            host_id=host.id,
            kind=AbsenceKind.SET_ASIDE,
            reason=host.set_aside_reason,
            begun_by=by,
            began_at=now,
        )
    )


def _end(session: Session, host: Host, kind: AbsenceKind, by: str) -> None:
    absence = _open(session, host.id, kind)
    if absence is None:
        return
    now = database_now(session)
    # A reservation whose time is past ended by itself.
    absence.ended_at = min(now, absence.until) if absence.until else now
    absence.ended_by = by if absence.ended_at == now else ""
    # The next one of its kind comes after it.
    session.flush()


def _open(session: Session, host_id: int, kind: AbsenceKind) -> HostAbsence | None:
    return session.scalars(
        select(HostAbsence).where(
            HostAbsence.host_id == host_id,
            HostAbsence.kind == kind,
            HostAbsence.ended_at.is_(None),
        )
    ).one_or_none()
