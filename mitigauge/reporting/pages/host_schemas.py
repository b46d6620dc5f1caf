"""What the API and the command line show of hosts."""

from __future__ import annotations

from datetime import datetime

from pydantic import Field

from mitigauge.core.clock import Clock
from mitigauge.core.view import View
from mitigauge.measurement.fleet.states import AbsenceKind
from mitigauge.measurement.runs.states import RunState
from mitigauge.reporting.pages.schemas import ExperimentSummary


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
    set_aside_by: str = Field("", description="who set it aside by hand; empty: a rule did")
    reserved_by: str = Field("", description="who has it for a while; empty: nobody")
    reserved_until: datetime | None = Field(description="null: nobody has reserved it")
    reserved_reason: str = ""
    probe_at: datetime | None = Field(
        description="when a run may try again whether the host is fine"
    )
    boots: int
    lab_faults: int


class QueuedRun(View):
    """A run that has a host, or waits for it. Seconds from now; null: cannot be told yet."""

    run_id: int
    experiment_id: int
    experiment: str
    comparison: str
    submitted_by: str
    state: RunState
    takes_s: float | None = Field(description="what is left of it")
    takes_low_s: float | None
    takes_high_s: float | None
    starts_in_s: float | None
    starts_low_s: float | None
    starts_high_s: float | None
    not_known: str = Field("", description="why its start cannot be told")


class HostQueue(View):
    """What a host does and what waits for it, in the order in which it will run."""

    host: str
    environment: str
    kept: str = Field("", description="why no run begins on it; empty: nothing stands against it")
    running: QueuedRun | None
    waiting: list[QueuedRun]


class FingerprintView(View):
    """What the host was at one time; absent facts are null, never zero."""

    id: int
    digest: str
    first_seen_at: datetime
    last_seen_at: datetime
    boots: int
    facts: dict[str, object]


class DoubledRateView(View):
    """How often a doubled baseline was called changed on a host.

    Without a slow-down these are false alarms; with one, *worse* alone counts: it was found.
    """

    spec: str = Field(description="name of the experiments")
    workload: str
    metric: str
    slowed_percent: int = Field(
        description="what a program took of each processor's time; 0: nothing was changed"
    )
    comparisons: int = Field(description="verdicts on a doubled baseline, one a case and run")
    changed: int
    undecided: int
    rate_percent: float
    days: int = Field(description="days of the host on which they were")
    ci_low_percent: float = Field(
        description="Clopper-Pearson, 95 %, of as many trials as days: cases of one may be alike"
    )
    ci_high_percent: float
    sentence: str


class FactChangeView(View):
    """A fact that differs; null: the host did not show it."""

    name: str
    before: str | None
    after: str | None


class DriftView(View):
    """A moment from which on the host was another one: its fingerprint changed."""

    at: datetime
    from_id: int = Field(description="the fingerprint before")
    to_id: int
    back: bool = Field(description="whether the host had shown this one before")
    changed: list[FactChangeView]


class MetricNoiseView(View):
    """How much a metric scatters on a host: standard deviations in percent, medians over cases."""

    workload: str
    metric: str
    cases: int
    boot_percent: float | None = Field(description="boot to boot, the iterations' share removed")
    iteration_percent: float | None
    boot_mean_percent: float | None = Field(description="of a boot's mean, as it was seen")
    worst_percent: float | None = Field(description="the noisiest case")


class HostHoursView(View):
    """What the host's time went into, in runs that are over. Seconds."""

    runs: int
    held_s: float
    measuring_s: float
    booting_s: float
    other_s: float
    wasted_s: float = Field(description="of held_s: boots that count for nothing")
    lost_s: float = Field(description="set aside or reserved: no run could begin")


class AbsenceView(View):
    """A time in which no run began on the host."""

    kind: AbsenceKind
    reason: str
    begun_by: str = Field(description="empty: a rule")
    began_at: datetime
    until: datetime | None
    ended_at: datetime | None
    ended_by: str


class HostView(HostSummary):
    """One host with what it was when it ran."""

    fingerprints: list[FingerprintView]
    drift: list[DriftView] = Field(description="newest first")
    noise: list[MetricNoiseView]
    hours: HostHoursView
    absences: list[AbsenceView] = Field(description="newest first")
    queue: HostQueue | None
    doubled: list[DoubledRateView]
    experiments: list[ExperimentSummary]
