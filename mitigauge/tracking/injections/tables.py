"""Slow-downs of known size: what was put in, and what was said of it."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import BigInteger, CheckConstraint, Index, func, text
from sqlalchemy.orm import Mapped, mapped_column

from mitigauge.storage.database.base import Base, one_of
from mitigauge.storage.database.enum_column import EnumWord
from mitigauge.tracking.injections.states import InjectionState


class Injection(Base):
    """One slow-down. No page shows a row; its outcome is counted once it is over."""

    __tablename__ = "injection"
    __table_args__ = (
        CheckConstraint(one_of("state", InjectionState), name="state"),
        # One at a time: they share a service of their own.
        Index("uq_injection_open", text("(ended_at IS NULL)"), unique=True,
              postgresql_where=text("ended_at IS NULL")),
    )  # fmt: skip

    id: Mapped[int] = mapped_column(primary_key=True)
    state: Mapped[InjectionState] = mapped_column(EnumWord(InjectionState))
    why: Mapped[str] = mapped_column(server_default="")
    # All that was drawn follows from it.
    seed: Mapped[int] = mapped_column(BigInteger)
    path: Mapped[str]
    instructions: Mapped[int]
    # The slow patch's place among so many, from 1.
    place: Mapped[int]
    patches: Mapped[int]
    environment: Mapped[str]
    host: Mapped[str]
    emulated: Mapped[bool]
    # The bisection of the service that measures it; null: none was begun.
    bisection_id: Mapped[int | None]
    effect_percent: Mapped[float | None]
    ci_low_percent: Mapped[float | None]
    ci_high_percent: Mapped[float | None]
    # What it costs by the number of instructions, where time is instructions.
    true_percent: Mapped[float | None]
    named: Mapped[int | None]
    began_at: Mapped[datetime] = mapped_column(server_default=func.clock_timestamp())
    ended_at: Mapped[datetime | None]
