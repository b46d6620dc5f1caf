"""Tables of what was collected beside cases."""

from __future__ import annotations

from sqlalchemy import CheckConstraint, ForeignKey, Index, LargeBinary
from sqlalchemy.orm import Mapped, mapped_column

from mitigauge.storage.database.base import Base
from mitigauge.storage.database.json_column import JsonOf


class CollectedSeries(Base):
    """One collector beside one case within one boot: a blob of samples, and what it comes to.

    Where the host has not what it reads there are no samples, and *absent* says why.
    """

    __tablename__ = "collected_series"
    __table_args__ = (
        CheckConstraint("(data IS NULL) = (absent <> '')", name="absent"),
        Index("ix_collected_series_case_id", "case_id", "collector"),
    )

    boot_id: Mapped[int] = mapped_column(ForeignKey("boot.id"), primary_key=True)
    case_id: Mapped[int] = mapped_column(ForeignKey("benchmark_case.id"), primary_key=True)
    collector: Mapped[str] = mapped_column(primary_key=True)
    absent: Mapped[str] = mapped_column(server_default="")
    samples: Mapped[int] = mapped_column(server_default="0")
    # Part of the time of the host's processors that all collectors of the case took together.
    cost_percent: Mapped[float]
    # Of the measured iterations, in seconds of the host's monotonic clock.
    began_s: Mapped[float | None]
    ended_s: Mapped[float | None]
    # Over that window: figure → its mean, column → its increase a second.
    means: Mapped[dict[str, float]] = mapped_column(JsonOf(dict[str, float]), server_default="{}")
    rates: Mapped[dict[str, float]] = mapped_column(JsonOf(dict[str, float]), server_default="{}")
    # See mitigauge.measurement.collectors.samples; tens of kilobytes that most readers do not need.
    data: Mapped[bytes | None] = mapped_column(LargeBinary, deferred=True)
