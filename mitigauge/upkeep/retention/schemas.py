"""What a pruning removed."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field


class Removed(BaseModel):
    """Of one kind of thing, how much went (or would go)."""

    model_config = ConfigDict(extra="forbid")

    kind: str
    count: int = 0
    bytes: int = Field(0, description="about, and without indexes")
    error: str = Field("", description="why not all of it went; the next pruning goes on")


class Pruned(BaseModel):
    """What one pruning did."""

    model_config = ConfigDict(extra="forbid")

    dry_run: bool
    skipped: str = Field("", description="why nothing was done at all")
    seconds: float = 0.0
    removed: list[Removed] = Field(default_factory=list)
