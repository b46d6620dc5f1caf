"""A worker's right to act on a job."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID


@dataclass(frozen=True, slots=True)
class JobLease:
    """The right to act on a job, under one epoch."""

    job_id: int
    epoch: int
    holder: UUID
