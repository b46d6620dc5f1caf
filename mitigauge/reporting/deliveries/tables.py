"""The table of deliveries."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import CheckConstraint, UniqueConstraint, text
from sqlalchemy.orm import Mapped, mapped_column

from mitigauge.reporting.deliveries.states import DeliveryState
from mitigauge.storage.database.base import Base, one_of
from mitigauge.storage.database.enum_column import EnumWord


class MailDelivery(Base):
    """One mail to one receiver: written before it is handed over, and after."""

    __tablename__ = "mail_delivery"
    __table_args__ = (
        UniqueConstraint("mail", "receiver"),
        CheckConstraint(one_of("state", DeliveryState), name="state"),
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    # What is sent, by its own name: request-7-receipt, weekly-2026-W47.
    mail: Mapped[str]
    receiver: Mapped[str]
    state: Mapped[DeliveryState] = mapped_column(EnumWord(DeliveryState))
    said: Mapped[str] = mapped_column(server_default="")
    tries: Mapped[int] = mapped_column(server_default=text("1"))
    begun_at: Mapped[datetime]
    ended_at: Mapped[datetime | None]
