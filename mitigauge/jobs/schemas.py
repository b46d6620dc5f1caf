"""What commands and the API show of jobs and workers."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from mitigauge.jobs.abilities import Missing
from mitigauge.jobs.states import Ability, JobKind, JobState


class JobView(BaseModel):
    """One job as it stands."""

    model_config = ConfigDict(from_attributes=True)

    id: int
    kind: JobKind
    subject: str = Field(description="what it is about: a revision's or bisection's number")
    title: str
    need: Ability = Field(description="what a worker must be able to do for it")
    state: JobState
    progress: str = Field(description="what it does or waits for now")
    error: str = Field(description="why it failed, or why the last try did")
    waits: str = Field("", description="why nobody works on it; empty where somebody may")
    result: dict[str, Any] = Field(description="`kernels`: ids; `experiment`: its id")
    asked_by: str
    cancelled_by: str
    failures: int = Field(description="of our side, in a row")
    created_at: datetime
    started_at: datetime | None
    finished_at: datetime | None
    wake_at: datetime = Field(description="not before then is it gone on with")


class JobEventView(BaseModel):
    """A line of a job's log."""

    model_config = ConfigDict(from_attributes=True)

    id: int
    at: datetime
    text: str


class JobAttemptView(BaseModel):
    """One attempt at a step."""

    model_config = ConfigDict(from_attributes=True)

    epoch: int
    worker: str
    outcome: str
    detail: str
    started_at: datetime
    finished_at: datetime | None


class JobWhole(JobView):
    """One job with its log and its latest attempts."""

    events: list[JobEventView]
    attempts: list[JobAttemptView]


class WorkerView(BaseModel):
    """A worker, what it can do, and when it was last seen."""

    name: str
    machine: str
    version: str
    schema_revision: str
    alive: bool
    stopped: bool = Field(description="whether it ended by itself")
    jobs: list[Ability]
    hosts: dict[str, list[str]] = Field(description="environment → hosts that it reaches")
    architecture: str
    lacks: list[Missing]
    started_at: datetime
    seen_at: datetime
