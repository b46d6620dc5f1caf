"""SQL of hosts and fingerprints."""

from __future__ import annotations

from typing import Any

from sqlalchemy import func, select, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.orm import Session

from mitigauge.fleet.tables import Fingerprint, Host, HostLease


def upsert_host(
    session: Session,
    *,
    environment: str,
    name: str,
    host_class: str,
    machine: str,
    emulated: bool,
    capabilities: list[str],
) -> int:
    """Store what the inventory says of a host; returns its id."""
    said = {
        "host_class": host_class,
        "machine": machine,
        "emulated": emulated,
        "capabilities": capabilities,
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


def all_hosts(session: Session) -> list[Host]:
    """All hosts by environment and name."""
    return list(session.scalars(select(Host).order_by(Host.environment, Host.name)))


def hosts_named(session: Session, name: str) -> list[Host]:
    """Hosts of that name, one an environment."""
    return list(session.scalars(select(Host).where(Host.name == name).order_by(Host.environment)))


def fingerprints_of(session: Session, host_id: int) -> list[Fingerprint]:
    """The host's fingerprints, newest first."""
    return list(
        session.scalars(
            select(Fingerprint)
            .where(Fingerprint.host_id == host_id)
            .order_by(Fingerprint.first_seen_at.desc())
        )
    )


def runs_holding_hosts(session: Session) -> dict[int, int]:
    """host id → run id of every lease in force."""
    rows = session.execute(
        select(HostLease.host_id, HostLease.run_id).where(HostLease.released_at.is_(None))
    )
    return {row[0]: row[1] for row in rows}
