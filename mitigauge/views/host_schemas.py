"""What the API and the command line show of hosts."""

from __future__ import annotations

from datetime import datetime

from pydantic import Field

from mitigauge.clock import Clock
from mitigauge.views.schemas import ExperimentSummary, View


class HostSummary(View):
    """A line in the list of hosts."""

    name: str
    environment: str
    host_class: str
    emulated: bool
    clock: Clock = Field(description="what the host's time is, as its inventory says now")
    capabilities: list[str]
    power: str | None = Field(
        None, description="driver that switches its power; none: a person must; null: not known"
    )
    leased_by: str = Field("", description="experiment that holds the host; empty: free")
    last_seen_at: datetime | None
    set_aside_at: datetime | None = Field(
        description="no run begins on the host since then; null: it is in use"
    )
    set_aside_reason: str = ""
    probe_at: datetime | None = Field(
        description="when a run may try again whether the host is fine"
    )
    boots: int
    lab_faults: int


class FingerprintView(View):
    """What the host was at one time; absent facts are null, never zero."""

    id: int
    digest: str
    first_seen_at: datetime
    last_seen_at: datetime
    boots: int
    facts: dict[str, object]


class AaRateView(View):
    """How often a doubled arm was called better or worse on a host: the measured false alarms."""

    workload: str
    metric: str
    comparisons: int = Field(description="verdicts on a doubled arm, one a case and run")
    alarms: int
    undecided: int
    rate_percent: float
    ci_low_percent: float = Field(description="Clopper-Pearson, 95 %")
    ci_high_percent: float


class HostView(HostSummary):
    """One host with what it was when it ran."""

    fingerprints: list[FingerprintView]
    aa: list[AaRateView]
    experiments: list[ExperimentSummary]
