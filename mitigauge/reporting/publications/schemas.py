"""Where a result went, as it is shown."""

from __future__ import annotations

from datetime import datetime

from pydantic import BaseModel, ConfigDict, Field

from mitigauge.reporting.publications.states import PublicationState, TargetName


class PublicationView(BaseModel):
    """An experiment's result on its way to one target."""

    model_config = ConfigDict(from_attributes=True)

    target: TargetName
    state: PublicationState
    said: str = Field(description="what the target said last, or what it got")
    tries: int
    next_at: datetime = Field(description="when it is tried next, where it waits")
    ended_at: datetime | None
