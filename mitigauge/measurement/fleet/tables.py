"""Tables of hosts and their fingerprints."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import CheckConstraint, ForeignKey, Index, UniqueConstraint, func, text
from sqlalchemy.orm import Mapped, mapped_column

from mitigauge.core.clock import Clock
from mitigauge.measurement.fleet.states import AbsenceKind
from mitigauge.storage.database.base import Base, one_of
from mitigauge.storage.database.enum_column import EnumWord


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
    # What its time is; see mitigauge.core.clock.
    clock: Mapped[Clock] = mapped_column(EnumWord(Clock), server_default=Clock.REAL.value)
    capabilities: Mapped[list[Any]]
    # The driver that switches its power; null: not known yet.
    power: Mapped[str | None]
    created_at: Mapped[datetime] = mapped_column(server_default=func.now())
    last_seen_at: Mapped[datetime | None]
    # Set aside: no run begins on it before the next probe. Empty reason: in use.
    set_aside_reason: Mapped[str] = mapped_column(server_default="")
    set_aside_at: Mapped[datetime | None]
    probe_at: Mapped[datetime | None]
    # Who set it aside by hand: then it is never probed. Empty: a rule did.
    set_aside_by: Mapped[str] = mapped_column(server_default="")
    # Whose it is for a while, until when and what for; a time that is past means nothing.
    reserved_by: Mapped[str] = mapped_column(server_default="")
    reserved_until: Mapped[datetime | None]
    reserved_reason: Mapped[str] = mapped_column(server_default="")
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


class HostAbsence(Base):
    """A time in which no run begins on a host: it is set aside, or somebody reserved it.

    Those that are over stay, so that what a host's time went into can be told later.
    """

    __tablename__ = "host_absence"
    __table_args__ = (
        CheckConstraint(one_of("kind", AbsenceKind), name="kind"),
        CheckConstraint("(kind = 'reserved') = (until IS NOT NULL)", name="until"),
        Index(
            "uq_host_absence_open",
            *("host_id", "kind"),
            unique=True,
            postgresql_where=text("ended_at IS NULL"),
        ),
        Index("ix_host_absence_began_at", "began_at"),
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    host_id: Mapped[int] = mapped_column(ForeignKey("host.id"))
    kind: Mapped[AbsenceKind] = mapped_column(EnumWord(AbsenceKind))
    reason: Mapped[str]
    # Who said so; empty: a rule of the service.
    begun_by: Mapped[str] = mapped_column(server_default="")
    began_at: Mapped[datetime]
    # A reservation ends by itself.
    until: Mapped[datetime | None]
    ended_at: Mapped[datetime | None]
    ended_by: Mapped[str] = mapped_column(server_default="")
