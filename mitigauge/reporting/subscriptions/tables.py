"""Tables of subscriptions, of what may be told, and of what was."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import CheckConstraint, Index, UniqueConstraint, func, text
from sqlalchemy.orm import Mapped, mapped_column

from mitigauge.reporting.subscriptions.lines import DigestLine
from mitigauge.reporting.subscriptions.states import (
    DigestState,
    Source,
    SubscriptionKind,
    SubscriptionState,
    TellWay,
)
from mitigauge.storage.database.base import Base, one_of
from mitigauge.storage.database.enum_column import EnumWord
from mitigauge.storage.database.json_column import JsonOf


class Notice(Base):
    """One thing that happened, in words. Its row is made once, by one process at a time.

    So numbers of notices are committed in their order, which those of other tables are not, and
    whoever was told of one was told of all before it.
    """

    __tablename__ = "notice"
    __table_args__ = (
        CheckConstraint(one_of("source", Source), name="source"),
        # What it was made of: the row's number, and the word for one of several things of a row.
        UniqueConstraint("source", "source_id", "word"),
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    source: Mapped[Source] = mapped_column(EnumWord(Source))
    source_id: Mapped[int]
    word: Mapped[str] = mapped_column(server_default="")
    at: Mapped[datetime]
    taken_at: Mapped[datetime] = mapped_column(server_default=func.clock_timestamp())
    # The series, ENVIRONMENT/HOST, or WORKLOAD/CASE that it is about; empty: the week.
    subject: Mapped[str] = mapped_column(server_default="")
    # Of a regression: whose it is, whose it was, and whether it was just found.
    owner: Mapped[str] = mapped_column(server_default="")
    former_owner: Mapped[str] = mapped_column(server_default="")
    is_new: Mapped[bool] = mapped_column(server_default=text("false"))
    title: Mapped[str]
    said: Mapped[str] = mapped_column(server_default="")
    # The page about it, from / on.
    path: Mapped[str]


class Subscription(Base):
    """What one person wants to hear of, and how."""

    __tablename__ = "subscription"
    __table_args__ = (
        CheckConstraint(one_of("kind", SubscriptionKind), name="kind"),
        CheckConstraint(one_of("way", TellWay), name="way"),
        CheckConstraint(one_of("state", SubscriptionState), name="state"),
        UniqueConstraint("owner", "kind", "subject", "way", "address"),
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    owner: Mapped[str]
    kind: Mapped[SubscriptionKind] = mapped_column(EnumWord(SubscriptionKind))
    # Of which one; empty where the kind says it all.
    subject: Mapped[str] = mapped_column(server_default="")
    way: Mapped[TellWay] = mapped_column(EnumWord(TellWay))
    # A webhook's address lets whoever has it write there, so no view and no entry has it whole.
    address: Mapped[str]
    at_once: Mapped[bool] = mapped_column(server_default=text("false"))
    # Its secret follows from this and the installation's key, which no database has.
    salt: Mapped[str] = mapped_column(server_default="")
    # Which key that is; see mitigauge.access.secret.
    key_id: Mapped[str] = mapped_column(server_default="")
    state: Mapped[SubscriptionState] = mapped_column(
        EnumWord(SubscriptionState), server_default=SubscriptionState.ACTIVE.value
    )
    # Why it is paused, or what went wrong last; empty: nothing.
    why: Mapped[str] = mapped_column(server_default="")
    # The last notice that was looked at for it.
    cursor: Mapped[int]
    created_at: Mapped[datetime] = mapped_column(server_default=func.clock_timestamp())
    told_at: Mapped[datetime | None]


class Digest(Base):
    """What is told at once to one target: written before it is sent, and after."""

    __tablename__ = "digest"
    __table_args__ = (
        CheckConstraint(one_of("way", TellWay), name="way"),
        CheckConstraint(one_of("state", DigestState), name="state"),
        Index(
            "ix_digest_next_at",
            "next_at",
            postgresql_where=text("state IN ('waiting', 'begun')"),
        ),
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    owner: Mapped[str]
    way: Mapped[TellWay] = mapped_column(EnumWord(TellWay))
    address: Mapped[str]
    key_id: Mapped[str] = mapped_column(server_default="")
    # Of which subscriptions; those that were removed since are left out when it is sent.
    subscriptions: Mapped[list[int]] = mapped_column(JsonOf(list[int]))
    lines: Mapped[list[DigestLine]] = mapped_column(JsonOf(list[DigestLine]))
    # Lines that were too many.
    left_out: Mapped[int] = mapped_column(server_default=text("0"))
    state: Mapped[DigestState] = mapped_column(
        EnumWord(DigestState), server_default=DigestState.WAITING.value
    )
    said: Mapped[str] = mapped_column(server_default="")
    tries: Mapped[int] = mapped_column(server_default=text("0"))
    made_at: Mapped[datetime] = mapped_column(server_default=func.clock_timestamp())
    next_at: Mapped[datetime] = mapped_column(server_default=func.clock_timestamp())
    first_at: Mapped[datetime | None]
    begun_at: Mapped[datetime | None]
    ended_at: Mapped[datetime | None]
