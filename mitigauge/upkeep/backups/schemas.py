"""Backups, and what is wrong with raw files, as commands and pages show them."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum

from pydantic import BaseModel, ConfigDict, Field


class BackupView(BaseModel):
    """One backup that was taken."""

    model_config = ConfigDict(extra="forbid", from_attributes=True)

    id: int
    path: str
    scheduled: bool = Field(description="by the service itself; it removes such when they are old")
    taken_at: datetime
    finished_at: datetime | None
    verified: bool = Field(description="read again from the disk, every digest compared")
    bytes: int
    rows: int
    blobs: int
    unsound_blobs: int = Field(description="named by rows, and missing or damaged by then")


class Standing(BaseModel):
    """How old the latest backup is."""

    model_config = ConfigDict(extra="forbid")

    latest: BackupView | None
    age_s: float | None = Field(description="by the database's clock")


class Fault(StrEnum):
    """What is wrong with a raw file."""

    MISSING = "missing"
    DAMAGED = "damaged"


class Naming(BaseModel):
    """Rows of one table that name a raw file in one column."""

    model_config = ConfigDict(extra="forbid")

    table: str
    column: str
    count: int
    rows: list[str] = Field(description="keys of the first of them")


class UnsoundBlob(BaseModel):
    """A raw file that is not what rows name."""

    model_config = ConfigDict(extra="forbid")

    digest: str
    fault: Fault
    named_by: list[Naming]


class BlobCheck(BaseModel):
    """What came of reading every raw file that rows name."""

    model_config = ConfigDict(extra="forbid")

    checked: int
    bytes: int
    seconds: float
    left_out: int = Field(description="that what was imported came without")
    unsound: list[UnsoundBlob]
