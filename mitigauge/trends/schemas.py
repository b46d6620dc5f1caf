"""What is shown of trends. Times are of our own database's clock, never of a host's.

Percent are of the level before a change, signed as measured: +3 means that the value became 3 %
larger. Whether that is good is said by ``verdict``.
"""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Literal

from pydantic import Field

from mitigauge.clock import Clock
from mitigauge.stats.terms import Direction
from mitigauge.views.schemas import View


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


class MovedTo(View):
    """Another case of the workload whose cost changed at the same time, the other way."""

    trend_id: int
    case: str
    difference: float = Field(description="in the metric's unit")


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
    p: float = Field(description="of the permutation test that found it")
    values_before: int
    values_after: int
    at: datetime = Field(description="the first value at the new level")
    earliest_at: datetime = Field(description="the change lies between these two (95 %)")
    latest_at: datetime
    until: datetime | None = Field(description="of one that went away: the first value without it")
    run_before: int = Field(description="run of the last value before")
    run_after: int = Field(description="run of the first value after")
    experiment_before: int
    experiment_after: int
    hosts: list[str] = Field(description="hosts that have it")
    causes: list[Cause] = Field(description="empty: nothing known changed")
    moved_to: list[MovedTo]
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
    first_at: datetime
    last_at: datetime
    level: float = Field(description="of the values since the last change, in the metric's unit")
    open_changes: int
    change: TrendChange | None = Field(None, description="the newest one")
    sparkline: list[float] = Field(description="the newest values, in percent of the level")
    notes: list[str] = Field(description="what to know before believing it")


class TrendPage(View):
    """Some trends: those whose change is newest first, then those without one."""

    trends: list[TrendSummary]
    total: int
    next: int | None = Field(description="`offset` of the next page; null: this is the last")
