"""Weekly reports as they were made."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import Index, UniqueConstraint, text
from sqlalchemy.orm import Mapped, mapped_column

from mitigauge.storage.database.base import Base


class WeeklyReport(Base):
    """One version of the report of one week.

    The report of a week that is not over is replaced. One of a week that is over stays: when later
    data say otherwise, the next version supersedes it.
    """

    __tablename__ = "weekly_report"
    __table_args__ = (
        UniqueConstraint("week", "version"),
        Index(
            "uq_weekly_report_current",
            "week",
            unique=True,
            postgresql_where=text("superseded_at IS NULL"),
        ),
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    week: Mapped[str]
    version: Mapped[int]
    complete: Mapped[bool]
    # Of what it says: the same says the same.
    digest: Mapped[str]
    data: Mapped[dict[str, Any]]
    document: Mapped[dict[str, Any]]
    made_at: Mapped[datetime]
    superseded_at: Mapped[datetime | None]
    sent_at: Mapped[datetime | None]
