"""What the API, the command line and the reports show of an experiment.

Times are UTC. Effects and intervals are percent of the baseline arm, signed as
measured: +3 means the value is 3 % larger. Whether larger is good is said by
``direction`` and, once decided, by ``verdict``.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from pydantic import Field

from mitigauge.core.clock import Clock
from mitigauge.core.effect import CellState, Effect, Verdict
from mitigauge.core.stats.bounds import Bound
from mitigauge.core.stats.terms import Direction
from mitigauge.core.view import View
from mitigauge.measurement.experiments.states import ExperimentState
from mitigauge.measurement.fleet.boot_method import BootMethod
from mitigauge.measurement.runs.states import RunState


class ArmView(View):
    """One arm of a comparison and how far it could be proven in force."""

    id: int
    name: str
    mode: str = Field(description="family/mode, for example vmscape/ibpb")
    title: str
    kernel: str = Field(description="kernel release asked for; empty: the host's installed default")
    is_baseline: bool
    is_aa: bool = Field(False, description="the baseline once more, to see false alarms")
    cmdline: str = Field(description="what the mode adds to the kernel command line on this fleet")
    expected: list[str] = Field(description="states that prove the mode, as a person reads them")
    boots_effective: int
    boots_not_effective: int
    boots_failed: int
    shares_boots: bool = Field(
        False, description="applied within a boot that it shares with other arms of its block"
    )
    up_on: list[str] = Field(default_factory=list, description="hosts on which it came up")
    down_on: dict[str, int] = Field(
        default_factory=dict,
        description="boots by host on which the baseline was proven and this arm never came up: "
        "each ended in the fallback, or in nothing",
    )
    observed: list[str] = Field(description="what kernels said where the mode was not in force")
    events: list[str] = Field(
        default_factory=list,
        description="what of the hardware its mode works by, in words; free where emulated",
    )


class EarlierVerdict(View):
    """What was said of an arm, and no longer holds."""

    version: int
    verdict: Verdict | None
    effect_percent: float | None
    ci_low_percent: float | None
    ci_high_percent: float | None
    bound: Bound = Field(Bound.EXACT, description="what the effect says of the true difference")
    n: int
    blocks: int
    at: datetime
    reason: str


class CellView(View):
    """One arm's answer for one case and metric on one host."""

    arm_id: int
    state: CellState
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
    bound: Bound = Field(
        Bound.EXACT,
        description="what the figures say of the true change, where events of the hardware cost "
        "nothing: the true one is `at_least` or `at_most` this, or `nothing` is known",
    )
    decided_after: int | None = Field(
        None, description="blocks after which the verdict fell; figures are of these blocks"
    )
    note: str = ""
    version: int = Field(1, description="2 and more: an earlier verdict no longer held")
    reason: str = Field("", description="why this version was written")
    earlier: list[EarlierVerdict] = Field(
        default_factory=list, description="what was said before, oldest first"
    )

    @property
    def effect(self) -> Effect | None:
        """The change against the baseline; None where there is none."""
        return None if self.state == CellState.BASELINE else Effect.of(self)


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
    counter: bool = Field(False, description="whether it stands in the counter table instead")
    profiled: bool = Field(description="whether a separate pass of the case is profiled")
    disturbed: int = Field(
        0, description="iterations taken again, since the processor was slowed beside them"
    )
    unsteady: int = Field(
        0, description="iterations that count though disturbed: the processor never came to rest"
    )
    cells: list[CellView]


class ComparisonHead(View):
    """Arms sharing a baseline, on some hosts, over some cases."""

    id: int
    name: str
    family_title: str
    hosts: list[str]
    arms: list[ArmView]
    emulated: bool
    counted: bool = Field(False, description="whether a host's time counts instructions")
    factorial: bool = Field(False, description="whether its arms are those of a factorial design")


class ComparisonView(ComparisonHead):
    """A comparison with its matrix."""

    rows: list[RowView]
    is_rebased: bool = Field(
        False, description="whether a reader put an arm in the place of the spec's baseline"
    )


class MatrixView(View):
    """Every matrix of an experiment, from verdicts as they were stored."""

    experiment_id: int
    rows: dict[int, list[RowView]] = Field(description="by comparison id")


class BootsView(View):
    """Boots of a run by one method."""

    method: BootMethod
    boots: int
    mean_s: float = Field(description="from the reboot to the greeting of the SSH server")


class HostTimeView(View):
    """What the host of a run did with its time, in seconds."""

    total_s: float
    booting_s: float
    measuring_s: float
    other_s: float = Field(description="neither booting nor measuring: plays, judging, waiting")
    boots: list[BootsView]


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
    boots_done: int = Field(description="boots that took place and are over")
    boots_left_out: int = Field(0, description="boots that were planned and did not take place")
    boots_total: int
    boots_effective: int = Field(description="whose mode was proven in force; others never count")
    lab_faults: int
    error: str = ""
    stopped_after: int | None = Field(
        None, description="blocks after which every primary metric was decided"
    )
    started_at: datetime | None
    finished_at: datetime | None
    seconds_left: float | None = Field(None, description="None: nothing measured yet to tell from")
    seconds_left_low: float | None = None
    verdict_changes: int = Field(0, description="how often its matrix has changed")
    seconds_left_high: float | None = None
    host_time: HostTimeView | None = Field(None, description="once it is over")


class Recorded(View):
    """Where an experiment was recorded that was loaded from a file."""

    at: datetime = Field(description="when the experiment ended there")
    host: str = Field(description="its hosts and their clocks, for people")


class ExperimentSummary(View):
    """A line in the list of experiments."""

    id: int
    name: str
    question: str
    state: ExperimentState
    submitted_by: str = Field(description="who may cancel it beside approvers and admins")
    emulated: bool
    counted: bool = Field(False, description="whether a host's time counts instructions")
    hosts: list[str]
    created_at: datetime
    started_at: datetime | None
    finished_at: datetime | None
    boots_done: int = Field(description="boots that took place and are over")
    boots_left_out: int = Field(0, description="boots that were planned and did not take place")
    boots_total: int
    headline: str = Field("", description="verdicts by kind, and the plainest effect, in words")
    worst_effect_percent: float | None = Field(
        None, description="the plainest effect, where it is for the worse; null: nothing is worse"
    )
    worst_bound: Bound = Field(Bound.EXACT, description="what that says of the true effect")
    recorded: Recorded | None = Field(None, description="null: it ran here")


class ProgressView(View):
    """Where an experiment stands right now."""

    experiment_id: int
    state: ExperimentState
    runs: list[RunView]
    boots_done: int = Field(description="boots that took place and are over")
    boots_left_out: int = Field(0, description="boots that were planned and did not take place")
    boots_total: int
    seconds_left: float | None
    last_event_id: int
    is_over: bool = Field(description="nothing more comes: its last verdicts are written too")


class HostFacts(View):
    """What a host was while this experiment ran, from its proofs; unknown facts stay empty."""

    name: str
    host_class: str = ""
    emulated: bool = False
    clock: Clock = Clock.REAL
    processor: str = ""
    microcode: str = ""
    kernels: list[str] = Field(default_factory=list, description="releases that boots really ran")
    governor: str = ""


class ExperimentPage(View):
    """Some experiments of those that were asked for."""

    experiments: list[ExperimentSummary]
    total: int = Field(description="on all pages, whatever `before` and `offset` leave out")
    offset: int
    next: int | None = Field(
        description="`before` of the next page; null: this is the last, or not newest first"
    )
    next_offset: int | None = Field(
        description="`offset` of the next page beside the same `before`; null: this is the last"
    )


class ExperimentChoices(View):
    """What experiments can be filtered by: whatever one of them has."""

    who: list[str]
    hosts: list[str]
    workloads: list[str]
    modes: list[str] = Field(description="FAMILY/MODE")


class ExperimentHead(ExperimentSummary):
    """One experiment without its matrices."""

    environment: str
    seed: int
    spec_text: str
    comparisons: Sequence[ComparisonHead]
    runs: list[RunView]
    host_facts: dict[str, HostFacts] = Field(default_factory=dict, description="by host name")


class ExperimentView(ExperimentHead):
    """One experiment with its matrices."""

    comparisons: Sequence[ComparisonView]
    chosen_baseline: str = Field(
        "", description="the arm that a reader put in the baseline's place; empty: the spec's"
    )


class EventView(View):
    """One line of a run's event log."""

    id: int
    run_id: int | None
    host: str
    at: datetime
    kind: str
    text: str
