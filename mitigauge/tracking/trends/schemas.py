"""What is shown of trends. Times are of our own database's clock, never of a host's.

Percent are of the level before a change, signed as measured: +3 means that the value became 3 %
larger. Whether that is good is said by ``verdict``.
"""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Literal

from pydantic import Field

from mitigauge.core.clock import Clock
from mitigauge.core.stats.terms import Direction
from mitigauge.core.view import View


class ChangeKind(StrEnum):
    """What became of a change."""

    LASTING = "lasting"
    """The values have stayed at the new level."""
    WENT_AWAY = "went_away"
    """The values came back to the level before."""
    WITHDRAWN = "withdrawn"
    """Somebody accepted it, and later values do not show it."""


class ChangeState(StrEnum):
    """What people said of a change."""

    OPEN = "open"
    ACCEPTED = "accepted"
    """Somebody looked at it and takes it as it is."""
    EXPECTED = "expected"
    """Somebody knew that it would come, and why."""


class CauseKind(StrEnum):
    """What differs between the values before and after a change."""

    KERNEL = "kernel"
    MITIGATIONS = "mitigations"
    """What the kernel says of the processor's flaws."""
    MICROCODE = "microcode"
    FIRMWARE = "firmware"
    BIOS_SETTING = "bios_setting"
    """What firmware or the tuning sets: SMT, turbo, governor, memory, nodes."""
    PROCESSOR = "processor"
    TOOLS = "tools"
    """Versions of benchmarks, packages and the system on the host."""
    WORKLOAD = "workload"
    """Our own code of the workload."""
    MODE = "mode"
    """What the mode sets."""
    HOST = "host"
    """Other hosts of the class were measured."""


class Cause(View):
    """One thing that was another one after the change."""

    kind: CauseKind
    what: str = Field(description="its name, for example microcode or packages.iperf3")
    before: str
    after: str
    host: str = Field("", description="where it changed; empty: on all hosts that were compared")


class TrendIdentity(View):
    """Whose values a trend holds: they are comparable over time, and no others are."""

    environment: str
    host_class: str
    emulated: bool
    clock: Clock
    workload: str
    case: str
    metric: str
    metric_title: str
    unit: str
    direction: Direction
    mode: str = Field(description="family/mode")
    line: str = Field(
        description="patch series or configuration of kernels built here; often empty"
    )


class TrendChange(TrendIdentity):
    """A place in a trend where its level changed, as it is said now or was said before."""

    id: int = Field(description="stays the same for all versions of the change")
    trend_id: int
    version: int
    kind: ChangeKind
    state: ChangeState
    verdict: Literal["better", "worse"]
    before: float = Field(description="geometric mean of the values before, in the metric's unit")
    after: float
    effect_percent: float | None = Field(description="null: the level before is 0")
    ci_low_percent: float | None
    ci_high_percent: float | None
    p: float = Field(
        description="of the likelihood ratio in normal noise, times the places it is the largest of"
    )
    values_before: int
    values_after: int
    at: datetime = Field(description="the first value at the new level")
    earliest_at: datetime = Field(
        description="the first value at the new level lies between these two (95 %)"
    )
    latest_at: datetime
    until: datetime | None = Field(description="of one that went away: the first value without it")
    run_before: int = Field(description="run of the last value before")
    run_after: int = Field(description="run of the first value after")
    experiment_before: int
    experiment_after: int
    hosts: list[str] = Field(description="hosts that have it")
    causes: list[Cause] = Field(description="empty: nothing known changed")
    found_at: datetime = Field(description="when it was seen first")
    written_at: datetime
    superseded_at: datetime | None = Field(None, description="null: this is what is said now")
    reason: str = Field("", description="why this version was written")
    said_by: str = Field("", description="who accepted or expected it")
    said: str = ""


class TrendSummary(TrendIdentity):
    """A line in the list of trends."""

    id: int
    primary: bool
    values: int
    first_at: datetime | None = Field(description="null, as the next two: not looked at yet")
    last_at: datetime | None
    level: float | None = Field(description="since the last change, in the metric's unit")
    open_changes: int
    change: TrendChange | None = Field(description="the newest one; null: none")
    sparkline: list[float] = Field(description="the newest values, in percent of the level")


class TrendPage(View):
    """Some trends: those whose change is newest first, then those without one."""

    trends: list[TrendSummary]
    total: int
    next: int | None = Field(description="`offset` of the next page; null: this is the last")


class TrendPoint(View):
    """One value: an arm of one run."""

    run_id: int
    experiment_id: int
    case_id: int
    at: datetime
    value: float = Field(description="geometric mean of the boots' means, in the metric's unit")
    low: float | None = Field(description="95 % interval from the boots; null: one boot")
    high: float | None
    boots: int
    host: str
    kernel: str
    arm: str
    profiled: bool = Field(description="whether its boots have profiles of the case")
    outlier: bool
    turned: list[str] = Field(
        description="kernel, microcode, firmware and the like that are others than at the host's "
        "value before, in words",
    )


class TrendLevel(View):
    """Values between two changes."""

    first: int = Field(description="place of its first value, from 0")
    end: int = Field(description="place after its last value")
    mean: float


class Annotation(View):
    """What somebody said."""

    id: int
    trend_id: int
    change_id: int | None
    about: datetime | None
    text: str
    said_by: str
    said_at: datetime


class OtherTrend(View):
    """A trend of the same case that is not the same: another unit, other parameters."""

    id: int
    why: str


class TrendView(TrendIdentity):
    """One trend with its values."""

    id: int
    primary: bool
    delta_percent: float = Field(description="a smaller change is none")
    level: float | None
    values: list[TrendPoint] = Field(description="by time; the newest ones where there are many")
    left_out: int = Field(0, description="older values that are not shown")
    levels: list[TrendLevel]
    changes: list[TrendChange] = Field(description="what is said now, by time")
    no_change: str = Field(description="why there is none, as a sentence; empty where there is one")
    earlier: list[TrendChange] = Field(description="versions that no longer hold, newest first")
    annotations: list[Annotation]
    others: list[OtherTrend]


class ClassPage(View):
    """What there is of one host class."""

    environment: str
    host_class: str
    hosts: list[str]
    workloads: list[str]
    trends: int
    changed: int
