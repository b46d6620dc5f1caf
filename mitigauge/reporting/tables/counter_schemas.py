"""Counters over arms: what the page and the command show."""

from __future__ import annotations

from pydantic import Field

from mitigauge.analysis.claims.outcome import ClaimOutcome
from mitigauge.core.effect import CellState, Verdict
from mitigauge.core.stats.bounds import Bound
from mitigauge.core.stats.terms import Direction
from mitigauge.core.view import View
from mitigauge.measurement.experiments.tables import Arm
from mitigauge.reporting.pages.schemas import ArmView


class CounterClaim(View):
    """A published change that stands beside a cell."""

    source: str
    low_percent: float
    high_percent: float
    outcome: ClaimOutcome
    reason: str


class CounterCell(View):
    """One counter in one arm: what an operation costs, and the change against the baseline."""

    arm_id: int
    state: CellState
    n: int = Field(description="boots that count")
    mean: float | None = Field(description="of an operation, in the row's unit")
    change_percent: float | None = None
    low_percent: float | None = None
    high_percent: float | None = None
    bound: Bound = Field(Bound.EXACT, description="what the change says of the true one")
    verdict: Verdict | None = None
    note: str = ""
    claims: list[CounterClaim]


class CounterRow(View):
    """A counter, or the case's primary metric above them."""

    metric: str
    title: str
    unit: str
    direction: Direction
    is_counter: bool
    cells: list[CounterCell]


class CounterArm(View):
    """A column."""

    arm_id: int
    name: str
    mode: str
    kernel: str = Field(description="empty: the host's own")
    is_baseline: bool

    @classmethod
    def of(cls, arm: Arm | ArmView) -> CounterArm:
        """The column of *arm*."""
        return cls(
            arm_id=arm.id,
            name=arm.name,
            mode=arm.mode,
            kernel=arm.kernel,
            is_baseline=arm.is_baseline,
        )


class CounterTable(View):
    """One case on one host."""

    comparison: str
    case_id: int
    case: str
    host: str
    host_class: str
    processor: str
    emulated: bool
    counted: bool
    arms: list[CounterArm] = Field(description="the baseline first")
    rows: list[CounterRow]
    absent: list[str] = Field(description="counters that this host does not count; never zero")


class CountersView(View):
    """The counter tables of an experiment."""

    experiment_id: int
    experiment: str
    state: str
    emulated: bool
    counted: bool
    tables: list[CounterTable]
    left_out: int = Field(description="tables beyond the limit, or not asked for")
