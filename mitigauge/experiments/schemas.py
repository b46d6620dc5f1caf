"""What the API, the command line and the reports show of an experiment.

Times are UTC. Effects and intervals are percent of the baseline arm, signed as
measured: +3 means the value is 3 % larger. Whether larger is good is said by
``direction`` and, once decided, by ``verdict``.
"""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

Direction = Literal["lower", "higher"]


class ExperimentState(StrEnum):
    """Where an experiment stands; see docs/states.md."""

    QUEUED = "queued"
    RUNNING = "running"
    FINISHED = "finished"
    FAILED = "failed"
    CANCELLED = "cancelled"


class RunState(StrEnum):
    """Where a run (one comparison on one host) stands."""

    QUEUED = "queued"
    RUNNING = "running"
    FINISHED = "finished"
    FAILED = "failed"
    CANCELLED = "cancelled"


class BootState(StrEnum):
    """What became of one boot of one arm in one block."""

    PLANNED = "planned"
    BOOTING = "booting"
    MEASURING = "measuring"
    EFFECTIVE = "effective"
    NOT_EFFECTIVE = "not_effective"
    WRONG_KERNEL = "wrong_kernel"
    DID_NOT_BOOT = "did_not_boot"
    LAB_FAULT = "lab_fault"
    INVALID = "invalid"
    SKIPPED = "skipped"


class Verdict(StrEnum):
    """What the numbers say about one arm against the baseline."""

    BETTER = "better"
    WORSE = "worse"
    SAME = "same"
    UNDECIDED = "undecided"


class View(BaseModel):
    """Base of all views: closed, so that a typo in a field is an error."""

    model_config = ConfigDict(extra="forbid", from_attributes=True)


class ArmView(View):
    """One arm of a comparison and how far it could be proven in force."""

    id: int
    name: str
    mode: str = Field(description="family/mode, for example vmscape/ibpb")
    title: str
    kernel: str = Field(description="kernel release asked for; empty: the host's installed default")
    is_baseline: bool
    is_double: bool = Field(False, description="the baseline once more, to see false alarms")
    cmdline: str = Field(description="what the mode adds to the kernel command line on this fleet")
    expected: list[str] = Field(description="states that prove the mode, as a person reads them")
    boots_effective: int
    boots_not_effective: int
    boots_failed: int
    observed: list[str] = Field(description="what kernels said where the mode was not in force")


class CellView(View):
    """One arm's answer for one case and metric on one host."""

    arm_id: int
    state: Literal["baseline", "measured", "not_effective", "no_data"]
    n: int = Field(description="boots that count")
    blocks: int = Field(description="blocks in which both this arm and the baseline count")
    mean: float | None = Field(description="geometric mean of boot means, in the metric's unit")
    effect_percent: float | None = None
    ci_low_percent: float | None = None
    ci_high_percent: float | None = None
    p: float | None = None
    q: float | None = Field(None, description="of exploratory metrics, the false discovery rate")
    mde_percent: float | None = Field(None, description="smallest detectable effect")
    verdict: Verdict | None = None
    decided_at_look: int | None = Field(
        None, description="blocks after which the verdict fell; figures are of that look"
    )
    note: str = ""


class RowView(View):
    """One case and metric on one host: a row of the matrix."""

    case_id: int
    case: str
    workload: str
    metric: str
    metric_title: str
    unit: str
    direction: Direction
    primary: bool
    delta_percent: float = Field(description="'same': the interval lies within ± this")
    host: str
    profiled: bool = Field(description="whether a separate pass of the case is profiled")
    cells: list[CellView]


class ComparisonView(View):
    """One matrix: arms sharing a baseline, on some hosts, over some cases."""

    id: int
    name: str
    family_title: str
    hosts: list[str]
    arms: list[ArmView]
    rows: list[RowView]
    emulated: bool


class RunView(View):
    """One comparison on one host: what is leased, advanced and resumed."""

    id: int
    comparison: str
    host: str
    state: RunState
    step: str
    detail: str = Field("", description="the step in words, for example 'booting loop'")
    block: int | None = Field(None, description="current block, from 1")
    blocks: int
    boots_done: int
    boots_total: int
    lab_faults: int
    error: str = ""
    stopped_after: int | None = Field(
        None, description="blocks after which every primary metric was decided"
    )
    started_at: datetime | None
    finished_at: datetime | None
    seconds_left: float | None = Field(None, description="None: nothing measured yet to tell from")
    seconds_left_low: float | None = None
    seconds_left_high: float | None = None


class ExperimentSummary(View):
    """A line in the list of experiments."""

    id: int
    name: str
    question: str
    state: ExperimentState
    emulated: bool
    hosts: list[str]
    created_at: datetime
    started_at: datetime | None
    finished_at: datetime | None
    boots_done: int
    boots_total: int
    headline: str = Field("", description="largest decided effect, in words; empty before one")


class ProgressView(View):
    """Live state of an experiment; sent whole by server-sent events on each change."""

    experiment_id: int
    state: ExperimentState
    runs: list[RunView]
    boots_done: int
    boots_total: int
    seconds_left: float | None
    last_event_id: int


class HostFacts(View):
    """What a host was while this experiment ran, from its proofs; unknown facts stay empty."""

    name: str
    host_class: str = ""
    emulated: bool = False
    processor: str = ""
    microcode: str = ""
    kernels: list[str] = Field(default_factory=list, description="releases that boots really ran")
    smt: str = ""
    governor: str = ""


class ExperimentView(ExperimentSummary):
    """One experiment as its page shows it."""

    environment: str
    seed: int
    spec_text: str
    comparisons: list[ComparisonView]
    runs: list[RunView]
    host_facts: dict[str, HostFacts] = Field(default_factory=dict, description="by host name")


class BootLine(View):
    """One boot in short, with every value it gave."""

    id: int
    comparison: str
    host: str
    arm: str
    block: int
    order: int
    attempt: int
    state: BootState
    reason: str
    nonce: str
    kernel_boot_id: str | None
    kernel_release: str | None
    observed: str | None
    values: dict[int, dict[str, list[float]]] = Field(
        description="case id, then metric, then the iterations after warm-up"
    )


class WholeExperimentView(ExperimentView):
    """One experiment with each of its boots: everything a program would want."""

    boots: list[BootLine]


class BootPoint(View):
    """A boot's value for one case and metric."""

    boot_id: int = Field(description="our id of the boot, as in /boots/{boot_id}")
    block: int
    order: int = Field(description="place within the block, from 1")
    arm_id: int
    arm: str
    state: BootState
    counts: bool = Field(description="whether the boot takes part in the comparison")
    mean: float | None
    iterations: list[float]
    warmup: list[float]
    at: datetime | None


class NoiseView(View):
    """Standard deviations in percent of the value; null where the boots cannot tell."""

    boot_mean_percent: float | None = Field(None, description="what boots' means showed")
    boot_percent: float | None = Field(None, description="of it, from boot to boot")
    iteration_percent: float | None = Field(None, description="of one iteration within a boot")
    boot_cost_s: float | None = Field(None, description="a boot's own time, for each of its cases")
    iteration_cost_s: float | None = None
    recommended_iterations: int | None = Field(
        None, description="a boot next time, from the variances and costs above"
    )
    two_groups: list[str] = Field(
        default_factory=list, description="arms whose boots fall into two groups"
    )


class CaseView(View):
    """One case of an experiment with every boot as a point."""

    experiment_id: int
    experiment: str
    comparison: str
    case_id: int
    case: str
    workload: str
    parameters: dict[str, str | int | float]
    host: str
    metrics: list[RowView]
    points: dict[str, list[BootPoint]] = Field(description="by metric name")
    noise: dict[str, NoiseView] = Field(description="by metric name")
    arms: list[ArmView]
    emulated: bool


class ResultView(View):
    """What one case gave within one boot."""

    case_id: int
    case: str
    state: Literal["planned", "running", "measured", "failed", "lab_fault"]
    metrics: dict[str, MetricValues]
    lab_faults: list[dict[str, str | int]]
    tools: dict[str, str]
    started_at: datetime | None
    finished_at: datetime | None
    raw_sha256: str | None = Field(description="raw tool output, at /blobs/{sha256}")
    error: str = ""


class MetricValues(View):
    """Raw values of one metric, in order."""

    unit: str
    direction: Direction
    warmup: list[float]
    values: list[float]
    mean: float


class AttemptView(View):
    """One attempt at one step."""

    step: str
    epoch: int
    attempt: int
    outcome: str
    detail: str
    started_at: datetime
    finished_at: datetime | None


class BootView(View):
    """One boot with its proof, everything a figure can be traced to."""

    id: int
    experiment_id: int
    experiment: str
    comparison: str
    host: str
    emulated: bool
    arm: str
    mode: str
    block: int
    order: int
    attempt: int
    state: BootState
    reason: str
    nonce: str
    kernel_boot_id: str | None = Field(description="/proc/sys/kernel/random/boot_id")
    kernel_release: str | None
    build_id: str | None
    cmdline: str | None
    tainted: int | None
    microcode: str | None
    expected: list[str]
    observed: str | None = Field(description="the vulnerability state the mode is judged by")
    vulnerabilities: dict[str, str]
    serial_tail: str
    results: list[ResultView]
    steps: list[AttemptView]
    fingerprint: dict[str, object]
    started_at: datetime | None
    finished_at: datetime | None


class EventView(View):
    """One line of a run's event log."""

    id: int
    run_id: int | None
    host: str
    at: datetime
    kind: str
    text: str


class HostSummary(View):
    """A line in the list of hosts."""

    name: str
    environment: str
    host_class: str
    emulated: bool
    capabilities: list[str]
    leased_by: str = Field("", description="experiment that holds the host; empty: free")
    last_seen_at: datetime | None
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


class ProblemView(View):
    """How the API says no: what is wrong, and the way out."""

    error: str
    message: str
    hint: str = ""


ResultView.model_rebuild()
