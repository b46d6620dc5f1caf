"""Tables of hosts, their fingerprints and leases."""

from __future__ import annotations

from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import CheckConstraint, ForeignKey, Index, UniqueConstraint, func, text
from sqlalchemy.orm import Mapped, mapped_column

from mitigauge.database import Base, one_of


class Host(Base):
    """A machine under test."""

    __tablename__ = "host"
    __table_args__ = (UniqueConstraint("environment", "name"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    environment: Mapped[str]
    name: Mapped[str]
    host_class: Mapped[str]
    machine: Mapped[str]
    emulated: Mapped[bool]
    capabilities: Mapped[list[Any]]
    created_at: Mapped[datetime] = mapped_column(server_default=func.now())
    last_seen_at: Mapped[datetime | None]
    # Set aside: no run begins on it before the next probe. Empty reason: in use.
    set_aside_reason: Mapped[str] = mapped_column(server_default="")
    set_aside_at: Mapped[datetime | None]
    probe_at: Mapped[datetime | None]
    probes: Mapped[int] = mapped_column(server_default=text("0"))
    # Runs in a row that could not prepare it though it answered.
    failed_preparations: Mapped[int] = mapped_column(server_default=text("0"))


class Fingerprint(Base):
    """What a host was; one row for each distinct set of facts."""

    __tablename__ = "fingerprint"
    __table_args__ = (UniqueConstraint("host_id", "digest"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    host_id: Mapped[int] = mapped_column(ForeignKey("host.id"))
    digest: Mapped[str]
    facts: Mapped[dict[str, Any]]
    first_seen_at: Mapped[datetime] = mapped_column(server_default=func.now())
    last_seen_at: Mapped[datetime] = mapped_column(server_default=func.now())


class HostLease(Base):
    """A run's hold on a host.

    At most one unreleased lease a host. One that lapsed still holds the host: the
    same run goes on with the next epoch, so that a worker that comes back late finds
    its own epoch outdated instead of another run's machine.
    """

    __tablename__ = "host_lease"
    __table_args__ = (
        Index(
            "uq_host_lease_held",
            "host_id",
            unique=True,
            postgresql_where=text("released_at IS NULL"),
        ),
        Index("ix_host_lease_run_id", "run_id"),
        CheckConstraint(one_of("activity", "idle booting waiting measuring"), name="activity"),
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    host_id: Mapped[int] = mapped_column(ForeignKey("host.id"))
    run_id: Mapped[int] = mapped_column(ForeignKey("run.id"))
    epoch: Mapped[int]
    holder: Mapped[UUID | None]
    activity: Mapped[str] = mapped_column(server_default="idle")
    acquired_at: Mapped[datetime]
    expires_at: Mapped[datetime]
    released_at: Mapped[datetime | None]
