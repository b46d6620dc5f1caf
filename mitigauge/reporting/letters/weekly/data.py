"""All that a weekly report is made from, as plain values. Times are UTC, effects percent."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Literal

from pydantic import Field

from mitigauge.analysis.verdicts.limit_schemas import LimitRow
from mitigauge.core.effect import Effect, Verdict
from mitigauge.core.stats.bounds import Bound
from mitigauge.core.stats.terms import Direction
from mitigauge.core.view import View
from mitigauge.tracking.regressions.states import RegressionState


class Fate(StrEnum):
    """What a week made of a difference between an arm and its baseline."""

    NEW = "new"
    """It was not said before, or the opposite was."""
    RESIZED = "resized"
    """It was said before, and its size is another one: the intervals do not overlap."""
    OPEN = "open"
    """It was said in an earlier week, and nothing since says otherwise."""
    ENDED = "ended"
    """It was said in an earlier week; this week says that there is no difference."""


class Side(View):
    """An arm: a kernel with settings."""

    name: str
    mode: str = Field(description="family/mode")
    title: str
    kernel: str = Field(description="release; empty: what the host has")
    options: list[str] = Field(description="what it adds to the kernel's command line")


class VerdictRecord(View):
    """One verdict with what it rests on."""

    verdict: Verdict
    effect_percent: float
    ci_low_percent: float | None
    ci_high_percent: float | None
    bound: Bound = Bound.EXACT
    n: int
    given_at: datetime
    experiment_id: int
    case_id: int

    @property
    def effect(self) -> Effect:
        """The difference that it is about."""
        return Effect.of(self) or Effect(value=self.effect_percent)


class OnHost(View):
    """What was said of a difference on one host."""

    host: str
    environment: str
    host_class: str
    emulated: bool
    counted: bool
    now: VerdictRecord
    before: VerdictRecord | None = Field(description="the last word of an earlier week")
    cause: list[str] = Field(description="facts of the host that differ between both words")
    causes_known: bool = Field(False, description="whether both fingerprints could be compared")


class Finding(View):
    """A difference between an arm and its baseline, with all hosts that have it."""

    fate: Fate
    verdict: Verdict
    workload: str
    case: str
    metric: str
    metric_title: str
    unit: str
    direction: Direction
    baseline: Side
    arm: Side
    differs: list[str] = Field(description="what the arm has and its baseline has not")
    on: int = Field(description="how many hosts have it")
    hosts: list[OnHost] = Field(description="those with the largest effects")
    history: list[VerdictRecord] = Field(description="words on its first host, oldest first")


class RegressionLine(View):
    """A regression with what people decided of it."""

    id: int
    is_new: bool = Field(description="whether it was found this week")
    state: RegressionState
    owner: str = Field(description="as people read it; empty: nobody's yet")
    bug: str
    case: str
    metric_title: str
    mode: str
    host_class: str
    emulated: bool
    counted: bool
    effect_percent: float | None
    ci_low_percent: float | None
    ci_high_percent: float | None
    bound: Bound = Bound.EXACT
    found_at: datetime
    confirmed: bool = Field(
        False, description="whether fresh boots, a person or a filed comparison make it sure"
    )
    slower_builds: bool = Field(
        False, description="whether fresh boots of one build of each kernel were slower"
    )
    fresh: str = Field("", description="what fresh boots say, or what they wait for; or empty")

    too_few: str = Field(
        "", description="why fresh boots that say slower do not make it sure; or empty"
    )

    @property
    def is_suspicion(self) -> bool:
        """Whether nothing makes it sure; somebody may have taken it all the same."""
        return bool(self.too_few) or not self.confirmed


class TrendLine(View):
    """A change point of a trend that was found this week, or that is still open."""

    trend_id: int
    is_new: bool
    verdict: Literal["better", "worse"]
    environment: str
    host_class: str
    emulated: bool
    counted: bool
    workload: str
    case: str
    metric_title: str
    unit: str
    direction: Direction
    mode: str
    before: float
    after: float
    effect_percent: float | None
    ci_low_percent: float | None
    ci_high_percent: float | None
    at: datetime
    went_away: bool
    hosts: list[str]
    causes: list[str] = Field(description="empty: nothing known changed")
    said: str = Field("", description="what a person wrote to it")
    regression: RegressionLine | None = Field(None, description="null: it was made none of")
    points: list[tuple[datetime, float]] = Field(default_factory=list)


class LimitLine(View):
    """A limit that an experiment broke, or of which it cannot be told."""

    experiment_id: int
    experiment: str
    row: LimitRow


class LimitsOfWeek(View):
    """What limits said of experiments that ended this week; *lines*: broken ones first."""

    broken: int
    cannot_tell: int
    kept: int
    lines: list[LimitLine]


class ComparisonRecord(View):
    """One comparison that said something this week."""

    experiment_id: int
    experiment: str
    question: str
    comparison: str
    baseline: Side
    arms: list[Side]
    hosts: list[str]
    cases: int
    recorded: bool


class Gap(View):
    """What was planned and gave no figure, with the reason."""

    kind: str = Field(description="state of the boot, run or case")
    experiment_id: int
    experiment: str
    host: str
    environment: str
    what: str = Field(description="arm, run or case")
    reason: str
    count: int
    lost: bool = Field(description="whether the figure is missing: it was not made again either")


class Aside(View):
    """A time in which no run could begin on a host."""

    host: str
    environment: str
    kind: str
    reason: str
    by: str
    began_at: datetime
    ended_at: datetime | None
    seconds: float = Field(description="within the week")


class FactChange(View):
    """One fact; null: the host did not show it."""

    name: str
    before: str | None
    after: str | None


class Drift(View):
    """A host that was another one after a moment: its fingerprint changed."""

    host: str
    environment: str
    at: datetime
    changed: list[FactChange]
    back: bool = Field(description="whether it is what it was before its last change")


class NoiseLine(View):
    """How much a metric scatters on hosts of one class, medians over cases, percent."""

    host_class: str
    emulated: bool
    counted: bool
    workload: str
    metric: str
    cases: int
    boot_percent: float | None = Field(description="from boot to boot, iterations' share removed")
    iteration_percent: float | None
    worst_percent: float | None = Field(description="of a boot's mean, the noisiest case")
    before_percent: float | None = Field(
        description="boot to boot, in the four weeks before; null: not measured then"
    )


class HostHours(View):
    """What a host's time went into, in runs that ended this week. Seconds."""

    host: str
    environment: str
    emulated: bool
    runs: int
    boots: int
    held_s: float
    measuring_s: float
    booting_s: float
    other_s: float
    wasted_s: float = Field(description="of held_s: boots that count for nothing")
    lost_s: float = Field(description="set aside or reserved: no run could begin")


class AaLine(View):
    """False alarms: an arm compared with itself."""

    host_class: str
    comparisons: int
    alarms: int
    ci_low_percent: float
    ci_high_percent: float
    comparisons_ever: int
    alarms_ever: int
    host_days: int = 0
    """Days of hosts on which they were, by which the interval is: cases of one may be alike."""


class Counts(View):
    """Verdicts on primary metrics that were given this week."""

    worse: int = 0
    better: int = 0
    same: int = 0
    undecided: int = 0


class WeekData(View):
    """One week of the fleet."""

    week: str
    complete: bool = Field(description="whether the week was over when the report was made")
    until: datetime | None = Field(description="of an incomplete one: the newest figure in it")
    counts: Counts
    compared: list[ComparisonRecord]
    found: dict[str, int] = Field(description="findings by fate and verdict, all that there are")
    findings: list[Finding] = Field(description="of each fate and verdict the largest")
    regressions: list[RegressionLine] = Field(
        default_factory=list, description="that somebody has in hand or must take"
    )
    limits: LimitsOfWeek | None = Field(
        None, description="null: nothing was judged by limits that a team set"
    )
    trends: list[TrendLine]
    trends_known: bool = Field(description="whether change points were looked for")
    not_measured: list[Gap]
    under_way: int = Field(description="runs that had begun and were not over")
    aside: list[Aside]
    drift: list[Drift]
    noise: list[NoiseLine]
    hours: list[HostHours]
    aa: list[AaLine]
