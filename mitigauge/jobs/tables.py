"""Tables of jobs, of attempts at their steps, of what happened, and of workers."""

from __future__ import annotations

from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import CheckConstraint, ForeignKey, Index, UniqueConstraint, func, text
from sqlalchemy.orm import Mapped, mapped_column

from mitigauge.jobs.abilities import Abilities
from mitigauge.jobs.states import Ability, JobKind, JobState
from mitigauge.storage.database.base import Base, one_of
from mitigauge.storage.database.enum_column import EnumWord
from mitigauge.storage.database.json_column import JsonOf


class Job(Base):
    """Something that the service does by itself, step by step."""

    __tablename__ = "job"
    __table_args__ = (
        CheckConstraint(one_of("kind", JobKind), name="kind"),
        CheckConstraint(one_of("state", JobState), name="state"),
        CheckConstraint(one_of("need", Ability), name="need"),
        # Asked for twice, it is one job.
        Index(
            "uq_job_subject",
            "kind",
            "subject",
            unique=True,
            postgresql_where=text("state IN ('queued', 'running')"),
        ),
        Index("ix_job_wake_at", "wake_at", postgresql_where=text("state IN ('queued', 'running')")),
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    kind: Mapped[JobKind] = mapped_column(EnumWord(JobKind))
    # What it is about: the number of a revision or a bisection, the digest of a kernel's order.
    subject: Mapped[str]
    title: Mapped[str] = mapped_column(server_default="")
    need: Mapped[Ability] = mapped_column(EnumWord(Ability))
    arguments: Mapped[dict[str, Any]] = mapped_column(server_default=text("'{}'::jsonb"))
    # What its kind reads besides, in the blob store.
    content_sha256: Mapped[str | None]
    result: Mapped[dict[str, Any]] = mapped_column(server_default=text("'{}'::jsonb"))
    state: Mapped[JobState] = mapped_column(
        EnumWord(JobState), server_default=JobState.QUEUED.value
    )
    # What it does or waits for now, in words.
    progress: Mapped[str] = mapped_column(server_default="")
    error: Mapped[str] = mapped_column(server_default="")
    asked_by: Mapped[str]
    cancelled_by: Mapped[str] = mapped_column(server_default="")
    # The lease: who acts, under which epoch, and until when. Nobody while the holder is null.
    epoch: Mapped[int] = mapped_column(server_default="0")
    holder: Mapped[UUID | None]
    expires_at: Mapped[datetime | None]
    wake_at: Mapped[datetime] = mapped_column(server_default=func.now())
    # In a row: failures that are no author's, and workers that did not come back.
    failures: Mapped[int] = mapped_column(server_default="0")
    lost_workers: Mapped[int] = mapped_column(server_default="0")
    created_at: Mapped[datetime] = mapped_column(server_default=func.now())
    started_at: Mapped[datetime | None]
    finished_at: Mapped[datetime | None]


class JobAttempt(Base):
    """One attempt at one step of a job, under one epoch."""

    __tablename__ = "job_attempt"
    __table_args__ = (
        # One committed outcome for each epoch: the fence against doing a step twice.
        UniqueConstraint("job_id", "epoch"),
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    job_id: Mapped[int] = mapped_column(ForeignKey("job.id", ondelete="CASCADE"))
    epoch: Mapped[int]
    worker: Mapped[str]
    outcome: Mapped[str] = mapped_column(server_default="")
    detail: Mapped[str] = mapped_column(server_default="")
    started_at: Mapped[datetime] = mapped_column(server_default=func.now())
    finished_at: Mapped[datetime | None]


class JobEvent(Base):
    """A line of a job's log."""

    __tablename__ = "job_event"
    __table_args__ = (Index("ix_job_event_job_id", "job_id", "id"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    job_id: Mapped[int] = mapped_column(ForeignKey("job.id", ondelete="CASCADE"))
    at: Mapped[datetime] = mapped_column(server_default=func.now())
    text: Mapped[str]


class WorkerProcess(Base):
    """A worker as it announced itself, and when it was last seen."""

    __tablename__ = "worker"

    id: Mapped[UUID] = mapped_column(primary_key=True)
    name: Mapped[str]
    machine: Mapped[str]
    pid: Mapped[int]
    version: Mapped[str]
    schema: Mapped[str]
    abilities: Mapped[Abilities] = mapped_column(JsonOf(Abilities))
    started_at: Mapped[datetime] = mapped_column(server_default=func.now())
    seen_at: Mapped[datetime] = mapped_column(server_default=func.now())
    stopped_at: Mapped[datetime | None]
