"""The table of checks: what prices predicted beside what a host measured."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import CheckConstraint, ForeignKey, String, UniqueConstraint, func
from sqlalchemy.orm import Mapped, mapped_column

from mitigauge.analysis.prices.schemas import MOST_ROWS, CheckRow
from mitigauge.core.clock import Clock
from mitigauge.storage.database.base import Base, one_of
from mitigauge.storage.database.enum_column import EnumWord
from mitigauge.storage.database.json_column import JsonOf


class PriceCheck(Base):
    """The newest check of a processor's prices on one host's measurements."""

    __tablename__ = "price_check"
    __table_args__ = (
        UniqueConstraint("processor", "measured_id", "counted_id", "host"),
        CheckConstraint(one_of("clock", Clock), name="clock"),
        CheckConstraint(f"jsonb_array_length(rows) <= {MOST_ROWS}", name="rows"),
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    processor: Mapped[str] = mapped_column(String(63))
    measured_id: Mapped[int] = mapped_column(
        ForeignKey("experiment.id", ondelete="CASCADE"), index=True
    )
    counted_id: Mapped[int] = mapped_column(
        ForeignKey("experiment.id", ondelete="CASCADE"), index=True
    )
    # The one that measured. Counted time tells nothing of a real processor.
    host: Mapped[str] = mapped_column(String(200))
    emulated: Mapped[bool]
    clock: Mapped[Clock] = mapped_column(EnumWord(Clock))
    at: Mapped[datetime] = mapped_column(server_default=func.clock_timestamp())
    # A page of many checks does not need them.
    rows: Mapped[list[CheckRow]] = mapped_column(JsonOf(list[CheckRow]), deferred=True)
    # Of all rows, computed when they are written; see mitigauge.analysis.prices.tally.
    held: Mapped[int]
    checked: Mapped[int]
    whole_held: Mapped[int]
    whole: Mapped[int]
    signs_right: Mapped[int]
    signs: Mapped[int]
