"""Tokens as they are shown."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from pydantic import BaseModel, ConfigDict

from mitigauge.access.roles import Role


class TokenView(BaseModel):
    """A token without its secret. Times are UTC."""

    model_config = ConfigDict(extra="forbid")

    id: int
    name: str
    role: Role
    state: Literal["valid", "expired", "revoked"]
    created_at: datetime
    expires_at: datetime | None
    last_used_at: datetime | None
    revoked_at: datetime | None


class NewTokenView(TokenView):
    """A token just made, with the secret that is shown this once."""

    token: str
