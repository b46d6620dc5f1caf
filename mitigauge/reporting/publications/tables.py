"""Table of publications."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import CheckConstraint, ForeignKey, Index, UniqueConstraint, func, text
from sqlalchemy.orm import Mapped, mapped_column

from mitigauge.measurement.experiments.tables import Experiment
from mitigauge.reporting.publications.states import PublicationState, TargetName
from mitigauge.storage.database.base import Base, one_of
from mitigauge.storage.database.enum_column import EnumWord


class Publication(Base):
    """An experiment's result on its way to one target: written before it is sent, and after."""

    __tablename__ = "publication"
    __table_args__ = (
        UniqueConstraint("target", "experiment_id"),
        CheckConstraint(one_of("target", TargetName), name="target"),
        CheckConstraint(one_of("state", PublicationState), name="state"),
        Index(
            "ix_publication_next_at",
            "next_at",
            postgresql_where=text("state IN ('waiting', 'begun')"),
        ),
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    target: Mapped[TargetName] = mapped_column(EnumWord(TargetName))
    experiment_id: Mapped[int] = mapped_column(ForeignKey(Experiment.id, ondelete="CASCADE"))
    state: Mapped[PublicationState] = mapped_column(
        EnumWord(PublicationState), server_default=PublicationState.WAITING.value
    )
    # What the target said last.
    said: Mapped[str] = mapped_column(server_default="")
    tries: Mapped[int] = mapped_column(server_default=text("0"))
    made_at: Mapped[datetime] = mapped_column(server_default=func.clock_timestamp())
    next_at: Mapped[datetime] = mapped_column(server_default=func.clock_timestamp())
    begun_at: Mapped[datetime | None]
    ended_at: Mapped[datetime | None]
