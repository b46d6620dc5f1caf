"""Tables of published claims."""

from __future__ import annotations

from datetime import date, datetime
from typing import Any

from sqlalchemy import CheckConstraint, ForeignKey, UniqueConstraint, func
from sqlalchemy.orm import Mapped, mapped_column, relationship

from mitigauge.storage.database.base import Base


class ClaimSource(Base):
    """Where figures were published; one row a file."""

    __tablename__ = "claim_source"
    __table_args__ = (UniqueConstraint("name"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str]
    digest: Mapped[str]
    title: Mapped[str]
    citation: Mapped[str]
    published: Mapped[date | None]
    imported_at: Mapped[datetime] = mapped_column(server_default=func.now())

    claims: Mapped[list[Claim]] = relationship(
        order_by="Claim.position", cascade="all, delete-orphan"
    )


class Claim(Base):
    """One figure; percent of the baseline, low and high alike where it is one number."""

    __tablename__ = "claim"
    __table_args__ = (
        UniqueConstraint("source_id", "position"),
        CheckConstraint("low_percent <= high_percent", name="range"),
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    source_id: Mapped[int] = mapped_column(ForeignKey("claim_source.id", ondelete="CASCADE"))
    position: Mapped[int]
    title: Mapped[str]
    workload: Mapped[str]
    parameters: Mapped[dict[str, Any]]
    metric: Mapped[str]
    baseline: Mapped[str]
    mode: Mapped[str]
    low_percent: Mapped[float]
    high_percent: Mapped[float]
    processor: Mapped[str]
    # Which of several figures of one case it is, in the source's words: a processor, a row.
    note: Mapped[str] = mapped_column(server_default="")
    # Arms by name, where kernels differ and not modes; empty: whichever has the mode.
    arm: Mapped[str] = mapped_column(server_default="")
    baseline_arm: Mapped[str] = mapped_column(server_default="")
