"""SQL of hosts and fingerprints."""

from __future__ import annotations

from typing import Any

from sqlalchemy import func, select, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.orm import Session

from mitigauge.core.clock import Clock
from mitigauge.core.errors import NotFound
from mitigauge.core.natural_order import natural_order
from mitigauge.measurement.fleet.tables import Fingerprint, Host

# The driver of a host that only a person can switch.
NO_POWER = "none"


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


def shared_host(session: Session, host_id: int) -> Host:
    """The host, which nobody changes until the transaction ends; others may take leases beside."""
    lock = {"key_share": True, "read": True}
    return session.get_one(Host, host_id, with_for_update=lock, populate_existing=True)


def all_hosts(session: Session) -> list[Host]:
    """All hosts by environment and name, host-2 before host-10."""
    hosts = session.scalars(select(Host))
    return sorted(hosts, key=lambda host: (host.environment, natural_order(host.name)))


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
