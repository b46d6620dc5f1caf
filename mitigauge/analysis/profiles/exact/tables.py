"""The tables of exact counts."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import (
    ARRAY,
    BigInteger,
    ForeignKey,
    Integer,
    LargeBinary,
    String,
    UniqueConstraint,
    func,
)
from sqlalchemy.orm import Mapped, mapped_column

from mitigauge.storage.database.base import Base
from mitigauge.storage.database.json_column import JsonOf


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
    # What of the kernel it ran (`run_code.py`); null where the ledger alone tells.
    run_code: Mapped[bytes | None] = mapped_column(LargeBinary, deferred=True)
    stored_at: Mapped[datetime] = mapped_column(server_default=func.now())


StoredBill = dict[str, tuple[float, int | None]]
"""Event → how often an operation does it, and the same as a whole number where it is one."""


class ExactOperation(Base):
    """What an operation of a case runs in an arm, worked out of the ledgers of its boots.

    It stands for them as long as the boots that count, the form and the events are these.
    """

    __tablename__ = "exact_operation"
    __table_args__ = (UniqueConstraint("run_id", "case_id", "arm_id"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    run_id: Mapped[int] = mapped_column(ForeignKey("run.id", ondelete="CASCADE"))
    case_id: Mapped[int] = mapped_column(
        ForeignKey("benchmark_case.id", ondelete="CASCADE"), index=True
    )
    arm_id: Mapped[int] = mapped_column(ForeignKey("arm.id", ondelete="CASCADE"), index=True)
    # The rows of exact_count that it is of, in the order of their blocks.
    counts: Mapped[list[int]] = mapped_column(ARRAY(Integer))
    # Of the columns below, and of the events that the bill has (`stored_operation.py`).
    form: Mapped[str] = mapped_column(String(64))
    events: Mapped[str] = mapped_column(String(64))
    # All of them are null where the ledgers could not be worked out.
    steady: Mapped[int | None] = mapped_column(BigInteger)
    bill: Mapped[StoredBill | None] = mapped_column(JsonOf(StoredBill))
    summary: Mapped[bytes | None] = mapped_column(LargeBinary, deferred=True)
    lines: Mapped[bytes | None] = mapped_column(LargeBinary, deferred=True)
    stored_at: Mapped[datetime] = mapped_column(server_default=func.now())
