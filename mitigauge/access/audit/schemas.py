"""The audit log as it is shown and exported."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from mitigauge.core.actor import Way


class AuditEntryView(BaseModel):
    """One change, or one that was refused for lack of rights."""

    model_config = ConfigDict(extra="forbid", from_attributes=True)

    id: int = Field(description="grows from entry to entry; numbers may be missing")
    at: datetime = Field(description="by the database's clock, UTC")
    actor: str = Field(
        description="a token's name, proxy:USER, operator (the link of `serve`), a login of the "
        "command line, a mail's sender, or a worker"
    )
    way: Way = Field(description="by what the actor acted")
    address: str = Field(description="the client's address, or the machine's name")
    request_id: str = Field(description="of the HTTP request, as the access log has it; else empty")
    job: str = Field(description="what a worker acted for: `job 12`, `run 5`; else empty")
    action: str = Field(description="what was done: `experiment.submit`, `host.set-aside`, …")
    subject_kind: str = Field(description="what kind of thing was changed: `host`, `token`, …")
    subject: str = Field(description="its number or name")
    before: dict[str, Any] = Field(description="what changed, as it was; texts are cut")
    after: dict[str, Any] = Field(description="what changed, as it is since; texts are cut")
    refused: str = Field(description="why it was refused; empty: it was done")


class AuditPage(BaseModel):
    """Entries, the newest first, and where the next ones begin."""

    model_config = ConfigDict(extra="forbid")

    entries: list[AuditEntryView]
    next_before: int | None = Field(
        description="`before` of the next page; null where there is none"
    )
