"""The base of what the API answers."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class View(BaseModel):
    """Base of all views: closed, so that a typo in a field is an error."""

    model_config = ConfigDict(extra="forbid", from_attributes=True)
