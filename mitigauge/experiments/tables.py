"""Tables of experiments, runs, boots and results."""

from __future__ import annotations

from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import BigInteger, CheckConstraint, ForeignKey, Index, UniqueConstraint, func, text
from sqlalchemy.orm import Mapped, mapped_column, relationship

from mitigauge.database import Base, one_of
from mitigauge.fleet.tables import Fingerprint, Host

RUN_STATES = "queued running finished failed cancelled"
BOOT_STATES = (
    "planned booting measuring effective not_effective wrong_kernel did_not_boot "
    "lab_fault invalid skipped"
)


class Experiment(Base):
    """A question with its spec, as submitted."""

    __tablename__ = "experiment"
    __table_args__ = (CheckConstraint(one_of("state", RUN_STATES), name="state"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str]
    question: Mapped[str]
    environment: Mapped[str]
    seed: Mapped[int] = mapped_column(BigInteger)
    spec_text: Mapped[str]
    # A token's name, "proxy:" and a user's, or "operator" for this machine's command line.
    submitted_by: Mapped[str] = mapped_column(server_default="operator")
    state: Mapped[str]
    headline: Mapped[str] = mapped_column(server_default="")
    created_at: Mapped[datetime] = mapped_column(server_default=func.now())
    started_at: Mapped[datetime | None]
    finished_at: Mapped[datetime | None]
    # When headline and false alarms were worked out, after the last run was over.
    concluded_at: Mapped[datetime | None]

    comparisons: Mapped[list[Comparison]] = relationship(order_by="Comparison.position")
    runs: Mapped[list[Run]] = relationship(order_by="Run.id", back_populates="experiment")


class Comparison(Base):
    """Arms that share a baseline, with the cases they are measured on."""

    __tablename__ = "comparison"
    __table_args__ = (UniqueConstraint("experiment_id", "name"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    experiment_id: Mapped[int] = mapped_column(ForeignKey("experiment.id"))
    position: Mapped[int]
    name: Mapped[str]
    blocks: Mapped[int]

    arms: Mapped[list[Arm]] = relationship(order_by="Arm.position")
    cases: Mapped[list[Case]] = relationship(order_by="Case.position")


class Arm(Base):
    """Kernel and mode. What the mode file said is copied, so that later edits change nothing."""

    __tablename__ = "arm"
    __table_args__ = (
        UniqueConstraint("comparison_id", "name"),
        # Exactly one baseline: two would make every effect ambiguous.
        Index(
            "uq_arm_baseline", "comparison_id", unique=True, postgresql_where=text("is_baseline")
        ),
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    comparison_id: Mapped[int] = mapped_column(ForeignKey("comparison.id"))
    position: Mapped[int]
    name: Mapped[str]
    family: Mapped[str]
    mode: Mapped[str]
    title: Mapped[str]
    family_title: Mapped[str]
    kernel: Mapped[str]
    is_baseline: Mapped[bool]
    is_double: Mapped[bool] = mapped_column(server_default=text("false"))
    cmdline: Mapped[str]
    lab_cmdline: Mapped[str]
    expect: Mapped[list[Any]]


class Case(Base):
    """One point of a workload's parameters."""

    __tablename__ = "benchmark_case"
    __table_args__ = (UniqueConstraint("comparison_id", "position"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    comparison_id: Mapped[int] = mapped_column(ForeignKey("comparison.id"))
    position: Mapped[int]
    workload: Mapped[str]
    title: Mapped[str]
    parameters: Mapped[dict[str, Any]]
    iterations: Mapped[int]
    warmup: Mapped[int]
    timeout_s: Mapped[int]
    expected_s: Mapped[float]
    metrics: Mapped[dict[str, Any]]
    # Samples a second of a separate pass; none: not profiled.
    profile_hz: Mapped[int | None]
    profile_guest: Mapped[bool] = mapped_column(server_default=text("false"))


class Run(Base):
    """One comparison on one host: what is leased, advanced and resumed."""

    __tablename__ = "run"
    __table_args__ = (
        UniqueConstraint("comparison_id", "host_id"),
        CheckConstraint(one_of("state", RUN_STATES), name="state"),
        Index("ix_run_wake_at", "wake_at", postgresql_where=text("wake_at IS NOT NULL")),
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    experiment_id: Mapped[int] = mapped_column(ForeignKey("experiment.id"))
    comparison_id: Mapped[int] = mapped_column(ForeignKey("comparison.id"))
    host_id: Mapped[int] = mapped_column(ForeignKey("host.id"))
    state: Mapped[str]
    step: Mapped[str] = mapped_column(server_default="")
    epoch: Mapped[int] = mapped_column(server_default="0")
    wake_at: Mapped[datetime | None]
    prepared: Mapped[dict[str, Any] | None]
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
    started_at: Mapped[datetime | None]
    finished_at: Mapped[datetime | None]

    experiment: Mapped[Experiment] = relationship(back_populates="runs")
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
        CheckConstraint(one_of("state", BOOT_STATES), name="state"),
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    run_id: Mapped[int] = mapped_column(ForeignKey("run.id"))
    arm_id: Mapped[int] = mapped_column(ForeignKey("arm.id"))
    block: Mapped[int]
    place: Mapped[int]
    attempt: Mapped[int] = mapped_column(server_default="1")
    state: Mapped[str]
    reason: Mapped[str] = mapped_column(server_default="")
    nonce: Mapped[str]
    previous_boot_id: Mapped[str | None]
    armed: Mapped[dict[str, Any] | None]
    serial_offset: Mapped[int | None] = mapped_column(BigInteger)
    proof: Mapped[dict[str, Any] | None]
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
    results: Mapped[list[Result]] = relationship(order_by="Result.case_id", back_populates="boot")


class Result(Base):
    """What one case gave within one boot; uploaded once, then unchangeable."""

    __tablename__ = "result"
    __table_args__ = (
        UniqueConstraint("boot_id", "case_id"),
        CheckConstraint(one_of("state", "measured failed lab_fault"), name="state"),
        Index("ix_result_raw_sha256", "raw_sha256"),
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    boot_id: Mapped[int] = mapped_column(ForeignKey("boot.id"))
    case_id: Mapped[int] = mapped_column(ForeignKey("benchmark_case.id"))
    state: Mapped[str]
    body_sha256: Mapped[str]
    raw_sha256: Mapped[str | None]
    lab_faults: Mapped[list[Any]]
    tools: Mapped[dict[str, Any]]
    # Iterations beside a larger slowdown were taken again; null where nobody looked.
    slowdown_limit: Mapped[float | None]
    error: Mapped[str] = mapped_column(server_default="")
    started_at: Mapped[datetime | None]
    finished_at: Mapped[datetime | None]
    stored_at: Mapped[datetime] = mapped_column(server_default=func.now())

    boot: Mapped[Boot] = relationship(back_populates="results")
    case: Mapped[Case] = relationship()
    iterations: Mapped[list[Iteration]] = relationship(
        order_by="Iteration.metric, Iteration.phase, Iteration.position"
    )


class Iteration(Base):
    """One raw value. A value that is no number cannot be stored."""

    __tablename__ = "iteration"
    __table_args__ = (
        # NaN equals itself in PostgreSQL, so it must be named.
        CheckConstraint(
            "value <> 'NaN' AND value <> 'Infinity' AND value <> '-Infinity'", name="finite"
        ),
        CheckConstraint(one_of("phase", "warmup counted disturbed"), name="phase"),
        CheckConstraint("slowdown >= 1 AND slowdown < 'Infinity'", name="slowdown"),
    )

    result_id: Mapped[int] = mapped_column(ForeignKey("result.id"), primary_key=True)
    metric: Mapped[str] = mapped_column(primary_key=True)
    phase: Mapped[str] = mapped_column(primary_key=True)
    position: Mapped[int] = mapped_column(primary_key=True)
    value: Mapped[float]
    # Of a fixed loop timed beside it, over the loop's fastest; null where none was.
    slowdown: Mapped[float | None]


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


class AaOutcome(Base):
    """What was said of the doubled arm, of which nothing but *same* or *undecided* is true."""

    __tablename__ = "aa_outcome"
    __table_args__ = (
        UniqueConstraint("run_id", "case_id", "metric"),
        CheckConstraint(one_of("verdict", "better worse same undecided"), name="verdict"),
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    run_id: Mapped[int] = mapped_column(ForeignKey("run.id"))
    case_id: Mapped[int] = mapped_column(ForeignKey("benchmark_case.id"))
    metric: Mapped[str]
    verdict: Mapped[str]
    effect_percent: Mapped[float | None]
    p: Mapped[float | None]
    blocks: Mapped[int]


class Event(Base):
    """One line of the log of an experiment."""

    __tablename__ = "event"
    __table_args__ = (Index("ix_event_experiment_id_id", "experiment_id", "id"),)

    id: Mapped[int] = mapped_column(BigInteger, primary_key=True)
    experiment_id: Mapped[int] = mapped_column(ForeignKey("experiment.id"))
    run_id: Mapped[int | None] = mapped_column(ForeignKey("run.id"))
    at: Mapped[datetime] = mapped_column(server_default=func.clock_timestamp())
    kind: Mapped[str]
    text: Mapped[str]
