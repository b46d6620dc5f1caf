"""What is wrong with raw files, as commands show it."""

from __future__ import annotations

from enum import StrEnum

from pydantic import BaseModel, ConfigDict, Field


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


class BackupCheck(BaseModel):
    """What came of reading every file of a backup."""

    model_config = ConfigDict(extra="forbid")

    bytes: int
    damaged: list[str] = Field(description="files that are missing or damaged")
