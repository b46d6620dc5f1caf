"""What a digest holds."""

from __future__ import annotations

from datetime import datetime

from pydantic import BaseModel, ConfigDict


class DigestLine(BaseModel):
    """One notice as it is told. *path*: the page about it, from / on."""

    model_config = ConfigDict(frozen=True)

    id: int
    at: datetime
    about: str
    title: str
    said: str
    path: str
