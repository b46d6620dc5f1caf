"""Backups that were taken: when, where, how large, and whether they were read again."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import BigInteger, func
from sqlalchemy.orm import Mapped, mapped_column

from mitigauge.storage.database.base import Base


class Backup(Base):
    """One backup. Its row is there before its directory, which is there once it is whole."""

    __tablename__ = "backup"

    id: Mapped[int] = mapped_column(primary_key=True)
    path: Mapped[str]
    # By the service itself, which removes such when they are old; a person's stay.
    scheduled: Mapped[bool]
    taken_at: Mapped[datetime] = mapped_column(server_default=func.clock_timestamp())
    finished_at: Mapped[datetime | None]
    # Read again from the disk, every digest compared.
    verified: Mapped[bool] = mapped_column(server_default="false")
    bytes: Mapped[int] = mapped_column(BigInteger, server_default="0")
    blobs: Mapped[int] = mapped_column(BigInteger, server_default="0")
    # Named by rows, and missing or damaged when the backup was taken.
    unsound_blobs: Mapped[int] = mapped_column(BigInteger, server_default="0")
    removed_at: Mapped[datetime | None]
