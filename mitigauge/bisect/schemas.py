"""Bisections as they are shown."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from pydantic import BaseModel, Field

from mitigauge.bisect.records import BisectionAnswer, PointLevel, Source
from mitigauge.bisect.states import AnswerKind, BisectionKind, BisectionState
from mitigauge.experiments.states import ExperimentState


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
    functions: list[str]
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
