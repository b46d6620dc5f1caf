"""Tables of runs, boots, step attempts and leases."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from sqlalchemy import (
    ARRAY,
    BigInteger,
    CheckConstraint,
    ForeignKey,
    Index,
    UniqueConstraint,
    func,
    text,
)
from sqlalchemy.orm import Mapped, mapped_column, relationship

from mitigauge.core.clock import Clock
from mitigauge.core.effect import Verdict
from mitigauge.measurement.experiments.tables import Arm, Comparison, Experiment
from mitigauge.measurement.fleet.boot_method import BootMethod
from mitigauge.measurement.fleet.tables import Fingerprint, Host
from mitigauge.measurement.runs.boot_evidence import BootEntry, BootProof
from mitigauge.measurement.runs.kernel_build import KernelBuild
from mitigauge.measurement.runs.preparation import Preparation
from mitigauge.measurement.runs.states import Activity, BootState, RunState
from mitigauge.storage.database.base import Base, one_of
from mitigauge.storage.database.enum_column import EnumWord
from mitigauge.storage.database.json_column import JsonOf


class Run(Base):
    """One comparison on one host: what is leased, advanced and resumed."""

    __tablename__ = "run"
    __table_args__ = (
        UniqueConstraint("comparison_id", "host_id"),
        CheckConstraint(one_of("state", RunState), name="state"),
        CheckConstraint(one_of("clock", Clock), name="clock"),
        Index("ix_run_wake_at", "wake_at", postgresql_where=text("wake_at IS NOT NULL")),
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    experiment_id: Mapped[int] = mapped_column(ForeignKey("experiment.id"))
    comparison_id: Mapped[int] = mapped_column(ForeignKey("comparison.id"))
    host_id: Mapped[int] = mapped_column(ForeignKey("host.id"))
    # What the host's time was when the run was submitted; see mitigauge.core.clock.
    clock: Mapped[Clock] = mapped_column(EnumWord(Clock), server_default=Clock.REAL.value)
    state: Mapped[RunState] = mapped_column(EnumWord(RunState))
    step: Mapped[str] = mapped_column(server_default="")
    epoch: Mapped[int] = mapped_column(server_default="0")
    wake_at: Mapped[datetime | None]
    prepared: Mapped[Preparation | None] = mapped_column(JsonOf(Preparation, exclude_unset=True))
    # Release → the build of it that every boot must show, of kernels that we built or were given;
    # as our own table had it when the run was first prepared.
    kernels: Mapped[dict[str, KernelBuild]] = mapped_column(
        JsonOf(dict[str, KernelBuild]), server_default=text("'{}'::jsonb")
    )
    tuning_restored: Mapped[bool] = mapped_column(server_default=text("false"))
    consecutive_faults: Mapped[int] = mapped_column(server_default="0")
    # Workers in a row that began a step of the run and were not heard of again; one that was
    # lost with several runs in hand counts as a part of one for each of them.
    lost_workers: Mapped[float] = mapped_column(server_default=text("0"))
    # Why the run is brought to an end before its plan is done; empty while it is not.
    ending: Mapped[str] = mapped_column(server_default="")
    error: Mapped[str] = mapped_column(server_default="")
    # Complete blocks that an interim analysis has judged; those after which all was decided.
    judged_blocks: Mapped[int] = mapped_column(server_default=text("0"))
    decided_blocks: Mapped[int | None]
    stopped_after: Mapped[int | None]
    # How often its stored verdicts have changed: a page of them is as old as this says.
    verdict_changes: Mapped[int] = mapped_column(server_default=text("0"))
    # Which of them its primary metrics have now, sorted, A/A arms left out: what experiments are
    # found by.
    verdicts: Mapped[list[Verdict]] = mapped_column(
        ARRAY(EnumWord(Verdict)), server_default=text("'{}'")
    )
    # When its last verdicts were stored, after it was over.
    concluded_at: Mapped[datetime | None]
    # When the noise of its cases was worked out, after that.
    noise_at: Mapped[datetime | None]
    started_at: Mapped[datetime | None]
    finished_at: Mapped[datetime | None]

    experiment: Mapped[Experiment] = relationship()
    comparison: Mapped[Comparison] = relationship()
    host: Mapped[Host] = relationship()
    boots: Mapped[list[Boot]] = relationship(
        order_by="Boot.block, Boot.place, Boot.attempt", back_populates="run"
    )


class Boot(Base):
    """One boot of one arm in one block. A retry after a lab fault is a row of its own."""

    __tablename__ = "boot"
    __table_args__ = (
        UniqueConstraint("run_id", "block", "place", "attempt"),
        UniqueConstraint("nonce"),
        CheckConstraint(one_of("state", BootState), name="state"),
        CheckConstraint(one_of("method", BootMethod), name="method"),
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    run_id: Mapped[int] = mapped_column(ForeignKey("run.id"))
    arm_id: Mapped[int] = mapped_column(ForeignKey("arm.id"))
    block: Mapped[int]
    place: Mapped[int]
    attempt: Mapped[int] = mapped_column(server_default="1")
    state: Mapped[BootState] = mapped_column(EnumWord(BootState))
    reason: Mapped[str] = mapped_column(server_default="")
    nonce: Mapped[str]
    method: Mapped[BootMethod] = mapped_column(
        EnumWord(BootMethod), server_default=BootMethod.RESET.value
    )
    previous_boot_id: Mapped[str | None]
    armed: Mapped[BootEntry | None] = mapped_column(JsonOf(BootEntry, exclude_unset=True))
    serial_offset: Mapped[int | None] = mapped_column(BigInteger)
    proof: Mapped[BootProof | None] = mapped_column(JsonOf(BootProof, exclude_unset=True))
    observed: Mapped[str | None]
    fingerprint_id: Mapped[int | None] = mapped_column(ForeignKey("fingerprint.id"))
    serial_tail: Mapped[str] = mapped_column(server_default="")
    job_try: Mapped[int] = mapped_column(server_default="1")
    job_started_at: Mapped[datetime | None]
    # By the host's clock, from the first case's start to the last profile's end.
    job_lasted_s: Mapped[float | None]
    job_detail: Mapped[str] = mapped_column(server_default="")
    power_cycled: Mapped[bool] = mapped_column(server_default=text("false"))
    # Power-cycled before its reboot, since the system that was up hung.
    revived: Mapped[bool] = mapped_column(server_default=text("false"))
    started_at: Mapped[datetime | None]
    rebooted_at: Mapped[datetime | None]
    up_at: Mapped[datetime | None]
    verified_at: Mapped[datetime | None]
    finished_at: Mapped[datetime | None]

    run: Mapped[Run] = relationship(back_populates="boots")
    arm: Mapped[Arm] = relationship()
    fingerprint: Mapped[Fingerprint | None] = relationship()


class StepAttempt(Base):
    """One attempt at one step of a run, under one epoch."""

    __tablename__ = "step_attempt"
    __table_args__ = (
        # One committed outcome for each (run, epoch): the fence against doing a step twice.
        UniqueConstraint("run_id", "epoch", "step"),
        Index("ix_step_attempt_boot_id", "boot_id"),
        Index("ix_step_attempt_worker", "worker", postgresql_where=text("worker IS NOT NULL")),
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    run_id: Mapped[int] = mapped_column(ForeignKey("run.id"))
    boot_id: Mapped[int | None] = mapped_column(ForeignKey("boot.id"))
    step: Mapped[str]
    epoch: Mapped[int]
    # The process that began it; null where that was not written down yet.
    worker: Mapped[UUID | None]
    outcome: Mapped[str] = mapped_column(server_default="started")
    detail: Mapped[str] = mapped_column(server_default="")
    started_at: Mapped[datetime] = mapped_column(server_default=func.clock_timestamp())
    finished_at: Mapped[datetime | None]


class HostLease(Base):
    """A run's hold on a host.

    At most one unreleased lease a host. One that lapsed still holds the host: the
    same run goes on with the next epoch, so that a worker that comes back late finds
    its own epoch outdated instead of another run's machine.
    """

    __tablename__ = "host_lease"
    __table_args__ = (
        Index(
            "uq_host_lease_held",
            "host_id",
            unique=True,
            postgresql_where=text("released_at IS NULL"),
        ),
        Index("ix_host_lease_run_id", "run_id"),
        CheckConstraint(one_of("activity", Activity), name="activity"),
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    host_id: Mapped[int] = mapped_column(ForeignKey("host.id"))
    run_id: Mapped[int] = mapped_column(ForeignKey("run.id"))
    epoch: Mapped[int]
    holder: Mapped[UUID | None]
    activity: Mapped[Activity] = mapped_column(EnumWord(Activity), server_default="idle")
    acquired_at: Mapped[datetime]
    expires_at: Mapped[datetime]
    released_at: Mapped[datetime | None]
