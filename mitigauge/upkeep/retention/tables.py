"""When was pruned, and what went."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import func
from sqlalchemy.orm import Mapped, mapped_column

from mitigauge.storage.database.base import Base


class Pruning(Base):
    """One pruning that came to its end."""

    __tablename__ = "pruning"

    id: Mapped[int] = mapped_column(primary_key=True)
    started_at: Mapped[datetime]
    finished_at: Mapped[datetime] = mapped_column(server_default=func.clock_timestamp())
    # As `Removed` has it, one entry for each kind of thing.
    removed: Mapped[list[Any]]
