"""Tables of hosts and their fingerprints."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import CheckConstraint, ForeignKey, UniqueConstraint, func, text
from sqlalchemy.orm import Mapped, mapped_column

from mitigauge.clock import Clock
from mitigauge.database import Base, one_of


class Host(Base):
    """A machine under test."""

    __tablename__ = "host"
    __table_args__ = (
        UniqueConstraint("environment", "name"),
        CheckConstraint(one_of("clock", Clock), name="clock"),
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    environment: Mapped[str]
    name: Mapped[str]
    host_class: Mapped[str]
    machine: Mapped[str]
    emulated: Mapped[bool]
    # What its time is; see mitigauge.clock.
    clock: Mapped[str] = mapped_column(server_default=Clock.REAL.value)
    capabilities: Mapped[list[Any]]
    # The driver that switches its power; null: not known yet.
    power: Mapped[str | None]
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
