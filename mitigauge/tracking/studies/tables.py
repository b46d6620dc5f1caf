"""Table of studies."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import CheckConstraint, ForeignKey, UniqueConstraint, func, text
from sqlalchemy.orm import Mapped, mapped_column, relationship

from mitigauge.storage.database.base import Base, one_of
from mitigauge.storage.database.enum_column import EnumWord
from mitigauge.storage.database.json_column import JsonOf
from mitigauge.tracking.series.tables import SeriesRevision
from mitigauge.tracking.studies.answers import looks_worse
from mitigauge.tracking.studies.schemas import Body
from mitigauge.tracking.studies.states import StudyKind, StudyState


class Study(Base):
    """What a revision is asked beside its experiment; asked again, it is done anew."""

    __tablename__ = "study"
    __table_args__ = (
        UniqueConstraint("revision_id", "kind"),
        CheckConstraint(one_of("kind", StudyKind), name="kind"),
        CheckConstraint(one_of("state", StudyState), name="state"),
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    revision_id: Mapped[int] = mapped_column(ForeignKey("series_revision.id"))
    kind: Mapped[StudyKind] = mapped_column(EnumWord(StudyKind))
    state: Mapped[StudyState] = mapped_column(EnumWord(StudyState))
    why: Mapped[str] = mapped_column(server_default="")
    # What it came to, a sentence a line.
    answer: Mapped[list[str]] = mapped_column(JsonOf(list[str]), server_default=text("'[]'"))
    body: Mapped[Body] = mapped_column(JsonOf(Body))
    asked_by: Mapped[str]
    asked_at: Mapped[datetime] = mapped_column(server_default=func.now())
    ended_at: Mapped[datetime | None]

    revision: Mapped[SeriesRevision] = relationship()

    @property
    def looks_worse(self) -> bool:
        """Whether something of it must be looked at."""
        return looks_worse(self.body)
