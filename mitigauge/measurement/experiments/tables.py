"""Tables of what was asked: experiments, comparisons, arms, cases, and their event log."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from pydantic import BaseModel
from sqlalchemy import BigInteger, CheckConstraint, ForeignKey, Index, UniqueConstraint, func, text
from sqlalchemy.orm import Mapped, mapped_column, relationship

from mitigauge.core.stats.bounds import Bound, Uncounted
from mitigauge.core.stats.terms import layout_of
from mitigauge.measurement.experiments.metric import CaseMetric
from mitigauge.measurement.experiments.states import ExperimentState
from mitigauge.measurement.fleet.boot_method import BootMethod
from mitigauge.measurement.modes.crossing import BOTH, full_name
from mitigauge.measurement.modes.families import Expectation, described
from mitigauge.measurement.modes.settings import Settings
from mitigauge.storage.database.base import Base, one_of
from mitigauge.storage.database.enum_column import EnumWord
from mitigauge.storage.database.json_column import JsonOf


class Experiment(Base):
    """A question with its spec, as submitted."""

    __tablename__ = "experiment"
    __table_args__ = (
        CheckConstraint(one_of("state", ExperimentState), name="state"),
        CheckConstraint("(recorded_at IS NULL) = (recorded_from IS NULL)", name="recorded"),
        Index(
            "ix_experiment_finished_at", text("finished_at DESC"), text("id DESC"),
            postgresql_where=text("finished_at IS NOT NULL"),
        ),
    )  # fmt: skip

    id: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str]
    question: Mapped[str]
    environment: Mapped[str]
    seed: Mapped[int] = mapped_column(BigInteger)
    spec_text: Mapped[str]
    # A token's name, "proxy:" and a user's, or "operator" for this machine's command line.
    submitted_by: Mapped[str] = mapped_column(server_default="operator")
    state: Mapped[ExperimentState] = mapped_column(EnumWord(ExperimentState))
    headline: Mapped[str] = mapped_column(server_default="")
    # Of the effect that the headline names, where it is for the worse.
    worst_effect_percent: Mapped[float | None]
    # What the worst effect says of the true one.
    worst_bound: Mapped[Bound] = mapped_column(EnumWord(Bound), server_default=Bound.EXACT.value)
    created_at: Mapped[datetime] = mapped_column(server_default=func.now())
    started_at: Mapped[datetime | None]
    finished_at: Mapped[datetime | None]
    # When headline and false alarms were worked out, after the last run was over.
    concluded_at: Mapped[datetime | None]
    # Of one that was run elsewhere and imported: when it ended there, and on what hosts.
    recorded_at: Mapped[datetime | None]
    recorded_from: Mapped[str | None]

    comparisons: Mapped[list[Comparison]] = relationship(order_by="Comparison.position")


class Knob(BaseModel):
    """What a factorial design turns: its two modes, as ``family/mode``."""

    name: str
    low: str
    high: str


class FactorialPlan(BaseModel):
    """The knobs of a factorial design, and the pairs whose cost together is told too."""

    knobs: list[Knob]
    pairs: list[tuple[str, str]]

    def high(self, mode: str) -> tuple[bool, ...]:
        """Which knobs are high in an arm, by the full name of its mode."""
        parts = set(mode.split(BOTH))
        return tuple(parts.issuperset(knob.high.split(BOTH)) for knob in self.knobs)


class Comparison(Base):
    """Arms that share a baseline, with the cases they are measured on."""

    __tablename__ = "comparison"
    __table_args__ = (UniqueConstraint("experiment_id", "name"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    experiment_id: Mapped[int] = mapped_column(ForeignKey("experiment.id"))
    position: Mapped[int]
    name: Mapped[str]
    blocks: Mapped[int]
    # In how many builds that differ in layout alone each kernel is booted.
    layouts: Mapped[int] = mapped_column(server_default=text("1"))
    # Of a factorial design; null: its arms were named one by one, or crossed.
    factorial: Mapped[FactorialPlan | None] = mapped_column(JsonOf(FactorialPlan))

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
        CheckConstraint(one_of("boot_method", BootMethod), name="boot_method"),
        CheckConstraint(one_of("uncounted", Uncounted), name="uncounted"),
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
    # Releases of its kernel's builds, one a layout; empty: its kernel alone.
    builds: Mapped[list[str]] = mapped_column(JsonOf(list[str]), server_default=text("'[]'"))
    is_baseline: Mapped[bool]
    # The baseline once more: it answers no question of the experiment's, but how often that is
    # wrong. Beside it a program may take a part of each processor's time, which is to be found.
    is_aa: Mapped[bool] = mapped_column(server_default=text("false"))
    slowed_percent: Mapped[int] = mapped_column(server_default=text("0"))
    # Whether it does all that its baseline does, on the same kernel, and more: it cannot win so.
    outdoes_baseline: Mapped[bool] = mapped_column(server_default=text("false"))
    # What of the hardware its mode works by, in words, and what that is beside the baseline's
    # (mitigauge.core.stats.bounds).
    events: Mapped[list[str]] = mapped_column(JsonOf(list[str]), server_default=text("'[]'"))
    uncounted: Mapped[Uncounted] = mapped_column(
        EnumWord(Uncounted), server_default=Uncounted.NONE.value
    )
    # How it is booted; null: as its host is; within: its settings are applied within the
    # block's one boot, whose command line has none of them.
    boot_method: Mapped[BootMethod | None] = mapped_column(EnumWord(BootMethod))
    settings: Mapped[Settings] = mapped_column(JsonOf(Settings))
    lab_cmdline: Mapped[str]
    expect: Mapped[list[Expectation]] = mapped_column(JsonOf(list[Expectation]))

    @property
    def releases(self) -> list[str]:
        """Of all builds that its boots boot; none where that is the host's own."""
        return self.builds or ([self.kernel] if self.kernel else [])

    def release_in(self, block: int) -> str:
        """Release of the build that a block's boot boots; empty: the host's own."""
        return self.builds[layout_of(block, len(self.builds))] if self.builds else self.kernel

    @property
    def full_mode(self) -> str:
        """``family/mode``; several have ``+`` between them."""
        return full_name(self.family, self.mode)

    @property
    def cmdline(self) -> str:
        """What its settings add to the kernel's command line."""
        return "" if self.shares_boots else " ".join(self.settings.options())

    @property
    def shares_boots(self) -> bool:
        """Whether it is applied within a boot that it shares with the other arms of its block."""
        return self.boot_method == BootMethod.WITHIN

    @property
    def expected(self) -> list[str]:
        """The states that prove it, as a person reads them."""
        return [*described(self.expect), *self.settings.describe()]


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
    metrics: Mapped[dict[str, CaseMetric]] = mapped_column(JsonOf(dict[str, CaseMetric]))
    # Samples a second of a separate pass; none: not profiled.
    profile_hz: Mapped[int | None]
    profile_guest: Mapped[bool] = mapped_column(server_default=text("false"))
    profile_off_cpu: Mapped[bool] = mapped_column(server_default=text("false"))
    # What is collected beside it; null: the spec says nothing
    # (mitigauge.measurement.workloads.collectors).
    collect: Mapped[list[str] | None] = mapped_column(JsonOf(list[str]))


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
