"""What the API shows of a case besides its metrics: a curve over a load, and breakdowns."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from mitigauge.core.clock import Clock
from mitigauge.core.stats.terms import Direction
from mitigauge.core.view import View


class DetailFigure(View):
    """One quantity."""

    name: str
    title: str
    unit: str
    direction: Direction
    help: str


class DetailCell(View):
    """One figure of one arm over its boots, with 95 % intervals; exploratory, without a verdict."""

    arm_id: int
    boots: int = Field(description="that have a value")
    of: int = Field(description="that count and tell details")
    value: float | None = Field(
        description="mean over the boots, geometric where the unit acts by factors"
    )
    low: float | None = Field(description="null: one boot, or not reached in all")
    high: float | None
    at_least: bool = Field(
        description="some boots never reached it and count as the most that was tried"
    )
    change_percent: float | None = Field(
        description="against the baseline, boots compared within blocks"
    )
    change_low: float | None = Field(description="for all arms at once (Dunnett)")
    change_high: float | None
    note: str


class CurvePoint(View):
    """The value at one load, over an arm's boots."""

    load: float
    boots: int = Field(description="that tell a value there")
    value: float
    low: float | None = Field(description="null: one boot")
    high: float | None


class CurveLine(View):
    """One arm's curve."""

    arm_id: int
    boots: int
    points: list[CurvePoint]


class ReachedRow(View):
    """The load at which the curve first reaches a threshold, by arm."""

    threshold: float
    is_own: bool = Field(description="the case's own threshold")
    cells: list[DetailCell]


class CurveView(View):
    """A value over a load, arms over one another."""

    title: str
    load: str
    count: str
    value: DetailFigure
    reached: DetailFigure
    lines: list[CurveLine]
    thresholds: list[ReachedRow]


class BreakdownLine(View):
    """One figure of one row, by arm."""

    row: str
    figure: str
    cells: list[DetailCell]


class BreakdownRow(View):
    """What a row of a breakdown is of."""

    name: str
    title: str


class BreakdownView(View):
    """Figures by something that a pass has several of."""

    name: str
    title: str
    of: str
    help: str
    choose: Literal["row", "figure"] = Field(
        description="what a page shows one of at a time, the other one down its side"
    )
    rows: list[BreakdownRow]
    figures: list[DetailFigure]
    lines: list[BreakdownLine] = Field(description="those that any boot tells")


class DetailArm(View):
    """An arm, in the comparison's order."""

    arm_id: int
    name: str
    mode: str
    is_baseline: bool
    boots: int = Field(description="that count and tell details")


class DetailsView(View):
    """What one case on one host tells besides its metrics."""

    experiment_id: int
    experiment: str
    comparison: str
    case_id: int
    case: str
    workload: str
    host: str
    emulated: bool
    clock: Clock
    declared: bool = Field(description="whether the workload tells anything besides its metrics")
    arms: list[DetailArm]
    untold: int = Field(
        description="boots that count and measured the case, but tell nothing that can be shown"
    )
    curve: CurveView | None
    breakdowns: list[BreakdownView]
