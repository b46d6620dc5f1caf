"""Tables of what was judged."""

from __future__ import annotations

from datetime import datetime
from typing import cast

from sqlalchemy import (
    ARRAY,
    CheckConstraint,
    ForeignKey,
    Index,
    Integer,
    Table,
    UniqueConstraint,
    func,
    text,
)
from sqlalchemy.orm import Mapped, mapped_column

from mitigauge.analysis.verdicts.metric_limits import Kept
from mitigauge.core.effect import CellState, Verdict
from mitigauge.core.stats.bounds import Bound
from mitigauge.storage.database.base import Base, one_of
from mitigauge.storage.database.enum_column import EnumWord


class _JudgedFigures:
    """What is said of one arm against another, for one case and metric on one host."""

    state: Mapped[CellState] = mapped_column(EnumWord(CellState))
    n: Mapped[int]
    blocks: Mapped[int]
    mean: Mapped[float | None]
    effect_percent: Mapped[float | None]
    ci_low_percent: Mapped[float | None]
    ci_high_percent: Mapped[float | None]
    p: Mapped[float | None]
    q: Mapped[float | None]
    mde_percent: Mapped[float | None]
    verdict: Mapped[Verdict | None] = mapped_column(EnumWord(Verdict))


class StoredVerdict(_JudgedFigures, Base):
    """What was said of one arm for one case and metric on one host, and what it rests on.

    A verdict that was given stays. When later data or other rules say otherwise, it is
    superseded by the next version. Until then the figures so far are replaced in place.
    """

    __tablename__ = "verdict"
    __table_args__ = (
        CheckConstraint(one_of("state", CellState), name="state"),
        CheckConstraint(one_of("verdict", Verdict), name="verdict"),
        CheckConstraint(one_of("bound", Bound), name="bound"),
        # What pages read, and at most one of each.
        Index(
            "uq_verdict_current",
            *("run_id", "case_id", "metric", "arm_id"),
            unique=True,
            postgresql_where=text("superseded_at IS NULL"),
        ),
        Index("ix_verdict_given_at", "given_at"),
    )

    run_id: Mapped[int] = mapped_column(ForeignKey("run.id"), primary_key=True)
    case_id: Mapped[int] = mapped_column(ForeignKey("benchmark_case.id"), primary_key=True)
    metric: Mapped[str] = mapped_column(primary_key=True)
    arm_id: Mapped[int] = mapped_column(ForeignKey("arm.id"), primary_key=True)
    version: Mapped[int] = mapped_column(primary_key=True)

    # What the figures say of the true change, where events of the hardware cost nothing.
    bound: Mapped[Bound] = mapped_column(EnumWord(Bound), server_default=Bound.EXACT.value)
    # Blocks after which it fell; null where no interim analysis decided.
    decided_after: Mapped[int | None]
    note: Mapped[str]
    # The arm's boots that the figures are of. Their noise is pooled over all arms.
    boots: Mapped[list[int]] = mapped_column(ARRAY(Integer))
    disturbed: Mapped[int]
    unsteady: Mapped[int]
    rules: Mapped[int]
    # Why this version was written.
    reason: Mapped[str]
    # When the verdict was given; null while these are but the figures so far.
    given_at: Mapped[datetime | None]
    written_at: Mapped[datetime] = mapped_column(server_default=func.now())
    superseded_at: Mapped[datetime | None]


# For inserting thousands of rows by one statement.
VERDICT_TABLE = cast("Table", StoredVerdict.__table__)


class RebasedCell(_JudgedFigures, Base):
    """What is said of an arm against another that the spec did not name as the baseline.

    Written anew whenever the run is judged; it has no versions, as nobody planned it.
    """

    __tablename__ = "rebased_cell"
    __table_args__ = (
        CheckConstraint(one_of("state", CellState), name="state"),
        CheckConstraint(one_of("verdict", Verdict), name="verdict"),
        CheckConstraint(one_of("bound", Bound), name="bound"),
    )

    run_id: Mapped[int] = mapped_column(ForeignKey("run.id"), primary_key=True)
    case_id: Mapped[int] = mapped_column(ForeignKey("benchmark_case.id"), primary_key=True)
    metric: Mapped[str] = mapped_column(primary_key=True)
    baseline_id: Mapped[int] = mapped_column(ForeignKey("arm.id"), primary_key=True)
    arm_id: Mapped[int] = mapped_column(ForeignKey("arm.id"), primary_key=True)
    bound: Mapped[Bound] = mapped_column(EnumWord(Bound))
    note: Mapped[str]
    disturbed: Mapped[int]
    unsteady: Mapped[int]


REBASED_TABLE = cast("Table", RebasedCell.__table__)


class AaOutcome(Base):
    """What was said of the baseline once more.

    Where nothing slowed it, *better* and *worse* are false; where a program took *slowed_percent*
    of each processor's time, *worse* is what should be said.
    """

    __tablename__ = "aa_outcome"
    __table_args__ = (
        UniqueConstraint("run_id", "case_id", "metric", "slowed_percent"),
        CheckConstraint(one_of("verdict", Verdict), name="verdict"),
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    run_id: Mapped[int] = mapped_column(ForeignKey("run.id"))
    case_id: Mapped[int] = mapped_column(ForeignKey("benchmark_case.id"))
    metric: Mapped[str]
    slowed_percent: Mapped[int] = mapped_column(server_default=text("0"))
    verdict: Mapped[Verdict] = mapped_column(EnumWord(Verdict))
    effect_percent: Mapped[float | None]
    p: Mapped[float | None]
    blocks: Mapped[int]


class CaseNoise(Base):
    """How much one metric of one case scattered within one run, percent; null: cannot be told."""

    __tablename__ = "case_noise"

    run_id: Mapped[int] = mapped_column(ForeignKey("run.id"), primary_key=True)
    case_id: Mapped[int] = mapped_column(ForeignKey("benchmark_case.id"), primary_key=True)
    metric: Mapped[str] = mapped_column(primary_key=True)
    boots: Mapped[int]
    # Standard deviations: of a boot's mean, of it without the iterations' share, of an iteration.
    boot_mean_percent: Mapped[float | None]
    boot_percent: Mapped[float | None]
    iteration_percent: Mapped[float | None]


class LimitJudgement(Base):
    """That an experiment was judged by the limits of its spec, and how many rows say what."""

    __tablename__ = "limit_judgement"

    experiment_id: Mapped[int] = mapped_column(
        ForeignKey("experiment.id", ondelete="CASCADE"), primary_key=True
    )
    judged_at: Mapped[datetime] = mapped_column(index=True)
    broken: Mapped[int]
    cannot_tell: Mapped[int]
    kept: Mapped[int]
    # Why it could not be judged by all of them; empty: it could.
    trouble: Mapped[str] = mapped_column(server_default="")


class LimitOutcome(Base):
    """What was said of one limit on one arm of one case and host. It stays as it was written."""

    __tablename__ = "limit_outcome"
    __table_args__ = (CheckConstraint(one_of("kept", Kept), name="kept"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    experiment_id: Mapped[int] = mapped_column(
        ForeignKey("experiment.id", ondelete="CASCADE"), index=True
    )
    line: Mapped[int]
    words: Mapped[str]
    because: Mapped[str]
    case_id: Mapped[int] = mapped_column(ForeignKey("benchmark_case.id", ondelete="CASCADE"))
    case_title: Mapped[str]
    host: Mapped[str]
    emulated: Mapped[bool]
    arm: Mapped[str]
    value: Mapped[float | None]
    low: Mapped[float | None]
    high: Mapped[float | None]
    unit: Mapped[str]
    kept: Mapped[Kept] = mapped_column(EnumWord(Kept))
    why: Mapped[str]


LIMIT_OUTCOME_TABLE = cast("Table", LimitOutcome.__table__)
