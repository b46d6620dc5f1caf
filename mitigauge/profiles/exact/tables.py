"""The table of exact counts."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import ForeignKey, LargeBinary, UniqueConstraint, func
from sqlalchemy.orm import Mapped, mapped_column

from mitigauge.database.engine import Base


class ExactCount(Base):
    """The ledger of a case in a boot, packed; or why there is none."""

    __tablename__ = "exact_count"
    __table_args__ = (UniqueConstraint("case_id", "boot_id"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    boot_id: Mapped[int] = mapped_column(ForeignKey("boot.id"), index=True)
    case_id: Mapped[int] = mapped_column(ForeignKey("benchmark_case.id"))
    # Instructions an operation, everything that ran meanwhile included; none without a ledger.
    instructions: Mapped[float | None]
    detail: Mapped[str] = mapped_column(server_default="")
    ledger: Mapped[bytes | None] = mapped_column(LargeBinary, deferred=True)
    stored_at: Mapped[datetime] = mapped_column(server_default=func.now())
