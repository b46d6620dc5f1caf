"""What the API shows of what was collected beside a case."""

from __future__ import annotations

from pydantic import Field

from mitigauge.core.clock import Clock
from mitigauge.core.view import View


class CollectedLine(View):
    """One arm in one chart: the mean over its boots in each bin, and the boots' range."""

    arm_id: int
    arm: str
    boots: int = Field(description="boots that count and have the series")
    mean: float | None = Field(description="over the measured iterations, mean of the boots")
    values: list[float | None] = Field(description="one a bin; null: nothing was sampled")
    low: list[float | None] = Field(description="the lowest boot in each bin")
    high: list[float | None]


class CollectedChart(View):
    """One figure of a collector over the time of a case, arms over one another."""

    collector: str
    figure: str
    title: str
    unit: str
    seconds: list[float] = Field(description="middles of the bins, from the first sample on")
    lines: list[CollectedLine]


class ReasonRow(View):
    """How often guests exited for one reason, by arm."""

    reason: str
    per_second: list[float | None] = Field(
        description="over the measured iterations, one an arm; null: not collected"
    )


class ReasonTable(View):
    """Exits by their reason, most frequent first."""

    title: str
    source: str = Field(description="what counted them")
    arms: list[str]
    rows: list[ReasonRow]


class Absent(View):
    """A collector that has nothing to show on this host."""

    collector: str
    reason: str


class CollectedView(View):
    """What was collected beside one case on one host."""

    experiment_id: int
    case_id: int
    host: str
    emulated: bool
    clock: Clock
    boots: int = Field(description="boots that count and have anything")
    cost_percent: float | None = Field(
        description="largest part of the host's processors that collecting took in a boot"
    )
    charts: list[CollectedChart]
    reasons: list[ReasonTable]
    absent: list[Absent]
