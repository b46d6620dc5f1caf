"""Tables of regressions and their histories."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import BigInteger, CheckConstraint, ForeignKey, Index, func, text
from sqlalchemy.orm import Mapped, mapped_column

from mitigauge.access.person import person_name
from mitigauge.core.clock import Clock
from mitigauge.core.stats.bounds import Bound
from mitigauge.storage.database.base import Base, one_of
from mitigauge.storage.database.enum_column import EnumWord
from mitigauge.storage.database.json_column import JsonOf
from mitigauge.tracking.regressions.states import (
    ConfirmationState,
    EntryKind,
    Origin,
    RegressionState,
)

LONGEST_TEXT = 4000


class Regression(Base):
    """Something that became worse, as it was when it was seen."""

    __tablename__ = "regression"
    __table_args__ = (
        CheckConstraint(one_of("state", RegressionState), name="state"),
        CheckConstraint(one_of("origin", Origin), name="origin"),
        CheckConstraint(one_of("clock", Clock), name="clock"),
        CheckConstraint(one_of("bound", Bound), name="bound"),
        CheckConstraint(
            "(state = 'duplicate') = (duplicate_of IS NOT NULL)", name="duplicate_of_another"
        ),
        CheckConstraint("state <> 'assigned' OR owner <> ''", name="assigned_to_somebody"),
        CheckConstraint("duplicate_of <> id", name="not_its_own_duplicate"),
        # One change, or one cell, is one regression.
        Index("uq_regression_change_id", "change_id", unique=True),
        Index(
            "uq_regression_cell", "run_id", "case_id", "arm_id", "metric", unique=True,
            postgresql_where=text("origin = 'cell'"),
        ),
        Index("ix_regression_found_at", text("found_at DESC"), text("id DESC")),
        Index("ix_regression_state", "state", text("found_at DESC")),
        Index("ix_regression_owner", "owner", postgresql_where=text("owner <> ''")),
        Index("ix_regression_trend_id", "trend_id"),
        Index("ix_regression_experiment_id", "experiment_id"),
    )  # fmt: skip

    id: Mapped[int] = mapped_column(primary_key=True)
    origin: Mapped[Origin] = mapped_column(EnumWord(Origin))
    # The evidence. A change has rows of several versions, so that no foreign key can name it.
    trend_id: Mapped[int | None] = mapped_column(ForeignKey("trend.id", ondelete="SET NULL"))
    change_id: Mapped[int | None] = mapped_column(BigInteger)
    # Where it was seen first; the evidence may be deleted with its experiment.
    experiment_id: Mapped[int | None] = mapped_column(
        ForeignKey("experiment.id", ondelete="SET NULL")
    )
    run_id: Mapped[int | None] = mapped_column(ForeignKey("run.id", ondelete="SET NULL"))
    case_id: Mapped[int | None] = mapped_column(
        ForeignKey("benchmark_case.id", ondelete="SET NULL")
    )
    arm_id: Mapped[int | None] = mapped_column(ForeignKey("arm.id", ondelete="SET NULL"))
    environment: Mapped[str]
    host_class: Mapped[str]
    hosts: Mapped[list[str]] = mapped_column(JsonOf(list[str]))
    emulated: Mapped[bool]
    clock: Mapped[Clock] = mapped_column(EnumWord(Clock))
    workload: Mapped[str]
    case_title: Mapped[str]
    metric: Mapped[str]
    metric_title: Mapped[str]
    mode: Mapped[str]
    # What it was compared with: the values before, or the baseline.
    before: Mapped[str]
    effect_percent: Mapped[float | None]
    ci_low_percent: Mapped[float | None]
    ci_high_percent: Mapped[float | None]
    # What the effect says of the true one, where events of the hardware cost nothing.
    bound: Mapped[Bound] = mapped_column(EnumWord(Bound), server_default=Bound.EXACT.value)
    happened_at: Mapped[datetime]
    found_at: Mapped[datetime] = mapped_column(server_default=func.clock_timestamp())

    state: Mapped[RegressionState] = mapped_column(
        EnumWord(RegressionState), server_default=RegressionState.NEW.value
    )
    owner: Mapped[str] = mapped_column(server_default="")
    bug: Mapped[str] = mapped_column(server_default="")
    bisection_id: Mapped[int | None] = mapped_column(
        ForeignKey("bisection.id", ondelete="SET NULL")
    )
    duplicate_of: Mapped[int | None] = mapped_column(ForeignKey("regression.id"))
    # Grows with every change, so that nobody overwrites what they have not seen.
    version: Mapped[int] = mapped_column(server_default=text("1"))
    changed_at: Mapped[datetime] = mapped_column(server_default=func.clock_timestamp())

    @property
    def owner_name(self) -> str:
        """The owner as people read it, in lists, pages and reports alike; empty: nobody."""
        return person_name(self.owner)


class RegressionEntry(Base):
    """One thing that was said of a regression, or done with it. Nothing alters or deletes it."""

    __tablename__ = "regression_entry"
    __table_args__ = (
        CheckConstraint(one_of("kind", EntryKind), name="kind"),
        Index("ix_regression_entry_regression_id", "regression_id", "id"),
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    regression_id: Mapped[int] = mapped_column(ForeignKey("regression.id", ondelete="CASCADE"))
    at: Mapped[datetime] = mapped_column(server_default=func.clock_timestamp())
    by: Mapped[str]
    kind: Mapped[EntryKind] = mapped_column(EnumWord(EntryKind))
    before: Mapped[str] = mapped_column(server_default="")
    after: Mapped[str] = mapped_column(server_default="")
    text: Mapped[str] = mapped_column(server_default="")


class Confirmation(Base):
    """A try: fresh boots of the kernels before and after a change, side by side, and their answer.

    A regression may have several, of which nothing is overwritten and one is open at most.
    """

    __tablename__ = "confirmation"
    __table_args__ = (
        CheckConstraint(one_of("state", ConfirmationState), name="state"),
        CheckConstraint(one_of("bound", Bound), name="bound"),
        # What a worker looks at every few seconds.
        Index(
            "uq_confirmation_open", "regression_id", unique=True,
            postgresql_where=text("state IN ('waiting', 'measuring')"),
        ),
        Index("ix_confirmation_regression_id", "regression_id", "id"),
        Index("ix_confirmation_experiment_id", "experiment_id"),
        Index("ix_confirmation_asked_at", "asked_at"),
    )  # fmt: skip

    id: Mapped[int] = mapped_column(primary_key=True)
    regression_id: Mapped[int] = mapped_column(ForeignKey("regression.id", ondelete="CASCADE"))
    state: Mapped[ConfirmationState] = mapped_column(EnumWord(ConfirmationState))
    # In words: what it waits for, why it cannot be, what the boots say.
    why: Mapped[str]
    # Of one that was refuted: what the change was likely to be.
    likely: Mapped[str] = mapped_column(server_default="")
    # Of one that was confirmed: the bisection that goes on, or why there is none.
    follows: Mapped[str] = mapped_column(server_default="")
    kernel_before: Mapped[str] = mapped_column(server_default="")
    kernel_after: Mapped[str] = mapped_column(server_default="")
    experiment_id: Mapped[int | None] = mapped_column(
        ForeignKey("experiment.id", ondelete="SET NULL")
    )
    # Ordered; once it is decided, those that ran.
    boots: Mapped[int] = mapped_column(server_default=text("0"))
    effect_percent: Mapped[float | None]
    ci_low_percent: Mapped[float | None]
    ci_high_percent: Mapped[float | None]
    bound: Mapped[Bound] = mapped_column(EnumWord(Bound), server_default=Bound.EXACT.value)
    asked_at: Mapped[datetime] = mapped_column(server_default=func.clock_timestamp())
    ordered_at: Mapped[datetime | None]
    decided_at: Mapped[datetime | None]
