"""Bisections as they are asked for and shown."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from mitigauge.kernels.patch import MOST_PATCHES
from mitigauge.kernels.schemas import PatchText
from mitigauge.measurement.experiments.states import ExperimentState
from mitigauge.tracking.bisect.question import Question
from mitigauge.tracking.bisect.records import BisectionAnswer, PointLevel, Source
from mitigauge.tracking.bisect.states import AnswerKind, BisectionKind, BisectionState


class BisectionRequest(BaseModel):
    """A bisection to be taken on. One of *series*, *arms* and *patches* says over what."""

    model_config = ConfigDict(extra="forbid")

    series: str = Field("", max_length=200, description="a series' name or number")
    revision: str = Field("", max_length=60, description="v3; empty: the newest")
    arms: str = Field("", max_length=100_000, description="an ordered list of arms, as YAML")
    patches: list[PatchText] = Field(
        default_factory=list, max_length=MOST_PATCHES, description="patches in their order"
    )
    base: str = Field(
        "linux-source-7.2", max_length=200, description="what `patches` are applied to"
    )
    profile: str = Field(
        "", max_length=500, description="config profile of their kernels; empty: their hosts decide"
    )
    hosts: list[str] = Field(min_length=1, max_length=64, description="hosts that are alike")
    environment: str = Field(max_length=60)
    workload: str = Field("syscall", max_length=60)
    parameters: dict[str, str | int | float] = Field(default_factory=dict, max_length=32)
    metric: str = Field("", max_length=60, description="empty: the workload's primary one")
    mode: str = Field(
        "spectre-bhi/off", max_length=200, description="in which kernels of a series are booted"
    )
    boots: int = Field(300, description="how many it may take")
    hours: float = Field(48.0, description="of building and measuring that it may take")
    confidence: float = Field(0.95, description="how sure it must be of what it names")
    minimum_effect_percent: float = Field(0.5, description="ends that differ by less are refused")
    regression: int | None = Field(
        None, ge=1, lt=2**31, description="the regression that it is started from, if one"
    )

    def question(self) -> Question:
        """What is asked. Raises InvalidInput for a value out of its range."""
        return Question(
            tuple(dict.fromkeys(self.hosts)),
            self.workload,
            self.parameters,
            self.metric,
            self.environment,
            self.minimum_effect_percent,
            self.confidence,
            self.boots,
            self.hours,
        )


class BisectionHead(BaseModel):
    """One bisection in a list."""

    id: int
    kind: BisectionKind
    title: str
    state: BisectionState
    why: str = Field(description="what it does just now, or why it is in that state")
    environment: str
    hosts: list[str]
    emulated: bool
    counted: bool = Field(description="whether the hosts' time counts instructions")
    case: str
    metric: str
    candidates: int
    boots: int = Field(description="boots that were begun, those of the step in hand among them")
    budget_boots: int
    seconds: float = Field(description="seconds of building and measuring, of steps that are over")
    budget_s: float
    answer: AnswerKind | None
    culprit: str = Field(description="the title of the candidate that was found; empty: none was")
    confidence: float | None
    submitted_by: str
    created_at: datetime
    finished_at: datetime | None


class CandidateView(BaseModel):
    """One change, between point *position* − 1 and point *position*."""

    position: int
    name: str
    title: str
    message_id: str
    files: list[str]
    prior: float
    prior_why: str
    probability: float | None = Field(description="that it alone is the culprit")


class PointView(BaseModel):
    """One point that is skipped, was built, or was measured."""

    position: int
    mode: str
    kernel: str = Field(description="the kernel's release; empty: none was built for it yet")
    skipped: str = Field(description="why it is not measured; empty: it may be")
    without: int | None = Field(description="of the revert: the candidate that is taken out")


class StepView(BaseModel):
    """One experiment of a bisection."""

    number: int
    points: list[int]
    blocks: int
    purpose: str
    why: str
    verifies: int | None
    profiled: bool
    experiment_id: int
    experiment_state: ExperimentState
    case_id: int
    over: bool
    outcome: str
    levels: list[PointLevel]
    boots: int
    measured_s: float


class BisectionView(BisectionHead):
    """One bisection whole."""

    workload: str
    parameters: dict[str, Any]
    unit: str
    higher_is_worse: bool
    minimum_effect_percent: float
    wanted_confidence: float
    source: Source
    changes: list[CandidateView] = Field(description="in their order; the likeliest of very many")
    left_out: int = Field(description="candidates that are not among them")
    points: list[PointView] = Field(description="those that were built, measured or skipped")
    steps: list[StepView]
    none_probability: float | None
    several_probability: float | None
    found: BisectionAnswer | None
