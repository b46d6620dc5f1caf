"""What is shown of two experiments, A and B, beside each other.

Effects are percent of each experiment's own baseline. A difference is B's effect over A's: percent
of factors on the log scale, percentage points on the linear one. Times are UTC.
"""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Literal

from pydantic import Field

from mitigauge.core.clock import Clock
from mitigauge.core.effect import CellState, Verdict
from mitigauge.core.stats.bounds import Bound
from mitigauge.core.stats.terms import Direction
from mitigauge.core.view import View
from mitigauge.measurement.experiments.states import ExperimentState


class PairSort(StrEnum):
    """In which order rows stand."""

    DIFFERENCE = "difference"
    """Those that differ first, of each the largest difference first."""
    PLAN = "plan"
    """As A plans its cases."""
    Q = "q"
    """The surest first."""


class PairJudgement(StrEnum):
    """What is said of a row."""

    DIFFERS = "differs"
    NONE_SEEN = "no-difference-seen"
    NOT_COMPARED = "not-compared"


class Unmatched(StrEnum):
    """Why a row of one experiment has none in the other."""

    ONLY_A = "only-in-a"
    ONLY_B = "only-in-b"
    HOST_A = "host-only-in-a"
    HOST_B = "host-only-in-b"
    CLOCK = "other-clock"
    UNIT = "other-unit"


class PairSide(View):
    """One of both experiments."""

    id: int
    name: str
    question: str
    state: ExperimentState
    environment: str
    emulated: bool
    counted: bool
    started_at: datetime | None
    finished_at: datetime | None
    hosts: list[str]


class HostPair(View):
    """A host of A beside a host of B."""

    a: str
    b: str
    how: Literal["same", "asked", "name"] = Field(
        description="same: one host; asked: by `hosts`; name: of one name in two environments"
    )


class ArmPair(View):
    """An arm of A beside an arm of B."""

    name: str
    a: str = Field(description="its name in A")
    b: str
    mode_a: str
    mode_b: str
    is_baseline: bool


class PairFact(View):
    """Something that both experiments have, such as a kernel."""

    what: str
    a: str
    b: str
    differs: bool


class UnmatchedCount(View):
    """So many rows stand in no pair, and why."""

    reason: Unmatched
    rows: int


class PairCell(View):
    """What one experiment stored of a row."""

    case_id: int
    host: str
    arm: str
    baseline: str = Field(description="name of the arm that the effect is against")
    state: CellState
    n: int = Field(description="boots that count")
    blocks: int
    mean: float | None = Field(description="of the arm, in the metric's unit")
    effect_percent: float | None
    ci_low_percent: float | None
    ci_high_percent: float | None
    verdict: Verdict | None
    bound: Bound
    stopped_early: bool = Field(description="decided before its budget's end: effect overstated")
    profiled: bool


class LevelRatio(View):
    """B's mean over A's, in percent, from the boots' means: confounded with host and week."""

    percent: float
    low_percent: float | None = Field(description="of the 95 % interval; null: one boot")
    high_percent: float | None


class PairRow(View):
    """One case, metric and arm on one pair of hosts."""

    workload: str
    case: str
    metric: str
    metric_title: str
    unit: str
    direction: Direction
    primary: bool
    arm: str
    host: str = Field(description="A's host, or `A's beside B's`")
    clock: Clock
    a: PairCell
    b: PairCell
    judgement: PairJudgement
    difference_percent: float | None = Field(description="B's effect over A's")
    low_percent: float | None = Field(description="of the 95 % interval of this row alone")
    high_percent: float | None
    is_points: bool = Field(description="percentage points, for counts and shares")
    p: float | None
    q: float | None = Field(description="false discovery rate over all rows that are compared")
    detectable_percent: float | None = Field(
        description="smallest true difference that would be seen in 80 % of repetitions"
    )
    note: str
    level: LevelRatio | None = None
    baseline_level: LevelRatio | None = None


class PairView(View):
    """Two experiments as one matrix."""

    a: PairSide
    b: PairSide
    sentence: str = Field(description="the answer")
    notices: list[str] = Field(description="what to know before reading the rows")
    facts: list[PairFact] = Field(description="those that differ come first")
    hosts: list[HostPair]
    arms: list[ArmPair]
    workloads: list[str]
    matched: int = Field(description="rows that both have, whatever is filtered")
    compared: int = Field(description="of these, those whose effects have intervals on both sides")
    differing: int
    unmatched: list[UnmatchedCount]
    total: int = Field(description="rows that the filters leave, on all pages")
    offset: int
    next_offset: int | None = Field(description="null: this page is the last")
    rows: list[PairRow]
