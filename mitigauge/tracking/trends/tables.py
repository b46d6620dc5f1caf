"""Tables of trends. All of it but what people said can be made anew from what was measured."""

from __future__ import annotations

from datetime import datetime
from typing import cast

from sqlalchemy import BigInteger, CheckConstraint, ForeignKey, Index, Sequence, Table, func, text
from sqlalchemy.orm import Mapped, mapped_column

from mitigauge.core.clock import Clock
from mitigauge.storage.database.base import Base, one_of
from mitigauge.storage.database.enum_column import EnumWord
from mitigauge.storage.database.json_column import JsonOf
from mitigauge.tracking.trends.schemas import Cause, ChangeKind, ChangeState

# What makes two values comparable over time.
IDENTITY = (
    "environment",
    "host_class",
    "emulated",
    "clock",
    "workload",
    "case_key",
    "metric",
    "unit",
    "mode",
    "line",
)


class Trend(Base):
    """One metric of one case in one mode on a class of hosts, over time."""

    __tablename__ = "trend"
    __table_args__ = (
        Index("uq_trend_identity", *IDENTITY, unique=True),
        Index("ix_trend_stale", "id", postgresql_where=text("stale")),
        # The list's order: newest change first.
        Index("ix_trend_listed", text("changed_at DESC NULLS LAST"), text("id DESC")),
        Index("ix_trend_class", "host_class", "workload"),
        CheckConstraint(one_of("clock", Clock), name="clock"),
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    environment: Mapped[str]
    host_class: Mapped[str]
    emulated: Mapped[bool]
    clock: Mapped[Clock] = mapped_column(EnumWord(Clock))
    workload: Mapped[str]
    # SHA-256 of the case's parameters: its title may be worded anew.
    case_key: Mapped[str]
    case_title: Mapped[str]
    metric: Mapped[str]
    unit: Mapped[str]
    mode: Mapped[str]
    # Of kernels built here: their patch series, or what they were built from; else empty.
    line: Mapped[str]
    metric_title: Mapped[str]
    direction: Mapped[str]
    is_primary: Mapped[bool]
    delta_percent: Mapped[float]

    # What was worked out when its last value came.
    value_count: Mapped[int] = mapped_column(server_default=text("0"))
    first_at: Mapped[datetime | None]
    last_at: Mapped[datetime | None]
    level: Mapped[float | None]
    sparkline: Mapped[list[float]] = mapped_column(JsonOf(list[float]), server_default=text("'[]'"))
    # Levels between changes: [first value, value after the last, geometric mean].
    levels: Mapped[list[tuple[int, int, float]]] = mapped_column(
        JsonOf(list[tuple[int, int, float]]), server_default=text("'[]'")
    )
    changed_at: Mapped[datetime | None]
    open_changes: Mapped[int] = mapped_column(server_default=text("0"))
    rules: Mapped[int] = mapped_column(server_default=text("0"))
    # A value came since changes were looked for.
    stale: Mapped[bool] = mapped_column(server_default=text("true"))


class TrendRun(Base):
    """A run whose values were taken in, or why they could not be."""

    __tablename__ = "trend_run"

    run_id: Mapped[int] = mapped_column(ForeignKey("run.id"), primary_key=True)
    taken_at: Mapped[datetime] = mapped_column(server_default=func.clock_timestamp())
    error: Mapped[str] = mapped_column(server_default="")


class TrendArm(Base):
    """What an arm of a run was measured on: what may be the cause of a change."""

    __tablename__ = "trend_arm"

    run_id: Mapped[int] = mapped_column(ForeignKey("run.id"), primary_key=True)
    arm_id: Mapped[int] = mapped_column(ForeignKey("arm.id"), primary_key=True)
    host_id: Mapped[int] = mapped_column(ForeignKey("host.id"))
    # The end of its last boot that counts, by our clock.
    at: Mapped[datetime]
    kernel: Mapped[str]
    # Flat: "microcode", "packages.iperf3", "staged.syscall".
    context: Mapped[dict[str, str]] = mapped_column(JsonOf(dict[str, str]))


class TrendValue(Base):
    """One value of a trend: the mean of an arm's boots in one run."""

    __tablename__ = "trend_value"

    trend_id: Mapped[int] = mapped_column(ForeignKey("trend.id"), primary_key=True)
    run_id: Mapped[int] = mapped_column(ForeignKey("run.id"), primary_key=True)
    arm_id: Mapped[int] = mapped_column(ForeignKey("arm.id"), primary_key=True)
    case_id: Mapped[int] = mapped_column(ForeignKey("benchmark_case.id"))
    at: Mapped[datetime]
    # Geometric mean of the boots' means, and its 95 % interval from their scatter.
    value: Mapped[float]
    low: Mapped[float | None]
    high: Mapped[float | None]
    boots: Mapped[int]
    outlier: Mapped[bool] = mapped_column(server_default=text("false"))


# A change keeps its number over all its versions, so that the table's own cannot count them.
CHANGE_NUMBER = Sequence("trend_change_number", metadata=Base.metadata)


class StoredChange(Base):
    """A place where a trend's level changed.

    What nobody said anything of is replaced by what later data say. One that was accepted stays:
    when later data say otherwise, it is superseded by the next version.
    """

    __tablename__ = "trend_change"
    __table_args__ = (
        CheckConstraint(one_of("kind", ChangeKind), name="kind"),
        CheckConstraint(one_of("state", ChangeState), name="state"),
        CheckConstraint("verdict IN ('better', 'worse')", name="verdict"),
        Index(
            "uq_trend_change_current",
            "id",
            unique=True,
            postgresql_where=text("superseded_at IS NULL"),
        ),
        Index("ix_trend_change_trend", "trend_id"),
        Index("ix_trend_change_found", "found_at"),
    )

    id: Mapped[int] = mapped_column(BigInteger, primary_key=True)
    version: Mapped[int] = mapped_column(primary_key=True, server_default=text("1"))
    trend_id: Mapped[int] = mapped_column(ForeignKey("trend.id"))
    kind: Mapped[ChangeKind] = mapped_column(EnumWord(ChangeKind))
    state: Mapped[ChangeState] = mapped_column(
        EnumWord(ChangeState), server_default=ChangeState.OPEN.value
    )
    verdict: Mapped[str]
    before: Mapped[float]
    after: Mapped[float]
    effect_percent: Mapped[float | None]
    ci_low_percent: Mapped[float | None]
    ci_high_percent: Mapped[float | None]
    p: Mapped[float]
    values_before: Mapped[int]
    values_after: Mapped[int]
    at: Mapped[datetime]
    earliest_at: Mapped[datetime]
    latest_at: Mapped[datetime]
    until: Mapped[datetime | None]
    run_before: Mapped[int] = mapped_column(ForeignKey("run.id"))
    run_after: Mapped[int] = mapped_column(ForeignKey("run.id"))
    arm_before: Mapped[int] = mapped_column(ForeignKey("arm.id"))
    arm_after: Mapped[int] = mapped_column(ForeignKey("arm.id"))
    hosts: Mapped[list[str]] = mapped_column(JsonOf(list[str]))
    causes: Mapped[list[Cause]] = mapped_column(JsonOf(list[Cause]))
    rules: Mapped[int]
    found_at: Mapped[datetime]
    written_at: Mapped[datetime]
    superseded_at: Mapped[datetime | None]
    reason: Mapped[str] = mapped_column(server_default="")
    said_by: Mapped[str] = mapped_column(server_default="")
    said: Mapped[str] = mapped_column(server_default="")


class TrendAnnotation(Base):
    """What somebody said of a trend, or of one of its changes."""

    __tablename__ = "trend_annotation"

    id: Mapped[int] = mapped_column(primary_key=True)
    trend_id: Mapped[int] = mapped_column(ForeignKey("trend.id"), index=True)
    # A change has rows of several versions, so that no foreign key can name it.
    change_id: Mapped[int | None] = mapped_column(BigInteger)
    # What it is about, on the axis of time.
    about: Mapped[datetime | None]
    text: Mapped[str]
    said_by: Mapped[str]
    said_at: Mapped[datetime] = mapped_column(server_default=func.clock_timestamp())


class VerdictStability(Base):
    """How far verdicts agreed where the same two arms were compared again."""

    __tablename__ = "verdict_stability"

    environment: Mapped[str] = mapped_column(primary_key=True)
    host_class: Mapped[str] = mapped_column(primary_key=True)
    emulated: Mapped[bool] = mapped_column(primary_key=True)
    clock: Mapped[str] = mapped_column(primary_key=True)
    workload: Mapped[str] = mapped_column(primary_key=True)
    # Comparisons that were made more than once, and pairs of one with the next.
    questions: Mapped[int]
    # Of the later verdict of each pair.
    experiments: Mapped[int] = mapped_column(server_default=text("1"))
    pairs: Mapped[int]
    agreed: Mapped[int]
    # Better and worse, worse and better.
    opposite: Mapped[int]
    # One of the two undecided.
    undecided: Mapped[int]
    computed_at: Mapped[datetime] = mapped_column(server_default=func.clock_timestamp())


TREND_TABLE = cast("Table", Trend.__table__)
VALUE_TABLE = cast("Table", TrendValue.__table__)
CHANGE_TABLE = cast("Table", StoredChange.__table__)
