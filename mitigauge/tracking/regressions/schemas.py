"""What is asked of regressions, and what is shown of them."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from mitigauge.core.clock import Clock
from mitigauge.core.stats.bounds import Bound
from mitigauge.core.view import View
from mitigauge.tracking.regressions.states import (
    ConfirmationState,
    EntryKind,
    Origin,
    RegressionState,
)
from mitigauge.tracking.regressions.tables import LONGEST_TEXT

LONGEST_OWNER = 130
LONGEST_BUG = 500

Owner = Annotated[str, Field(max_length=LONGEST_OWNER)]
Bug = Annotated[str, Field(max_length=LONGEST_BUG)]
Said = Annotated[str, Field(max_length=LONGEST_TEXT)]
Number = Annotated[int, Field(ge=1, le=2**31 - 1)]


class RegressionChange(BaseModel):
    """What somebody changes of a regression; what is not given stays as it is."""

    model_config = ConfigDict(extra="forbid")

    version: Annotated[
        int, Field(ge=1, le=2**31 - 1, description="as it was shown; refused if it has grown")
    ]
    state: RegressionState | None = None
    owner: Owner | None = Field(None, description="who works on it; empty: nobody")
    bug: Bug | None = Field(None, description="the address of a bug; empty: none")
    bisection_id: Number | None = None
    duplicate_of: Number | None = Field(None, description="the regression that it joins")
    note: Said = ""


class NewRegression(BaseModel):
    """A cell of an experiment that somebody takes for a regression."""

    model_config = ConfigDict(extra="forbid")

    experiment_id: Number
    host: Annotated[str, Field(min_length=1, max_length=63)]
    case_id: Number
    arm: Annotated[str, Field(min_length=1, max_length=200)]
    metric: Annotated[str, Field(min_length=1, max_length=100)]
    owner: Owner = ""
    bug: Bug = ""
    note: Said = ""


class ConfirmationView(View):
    """Fresh boots of the kernels before and after a change that values over time showed."""

    state: ConfirmationState
    why: str = Field(description="what it waits for, why it cannot be, or what the boots say")
    likely: str = Field(description="of one that was refuted: what the change was likely to be")
    follows: str = Field(
        description="of one that was confirmed: the bisection that goes on, or why there is none"
    )
    kernel_before: str
    kernel_after: str
    experiment_id: int | None = Field(description="null: none was ordered, or it was deleted")
    boots: int = Field(description="ordered; once it is decided, those that ran")
    effect_percent: float | None = Field(description="of the fresh boots alone")
    ci_low_percent: float | None
    ci_high_percent: float | None
    bound: Bound = Field(description="what the effect says of the true one")
    asked_at: datetime
    ordered_at: datetime | None
    decided_at: datetime | None


class RegressionSummary(View):
    """A line in the list of regressions."""

    id: int
    origin: Origin
    state: RegressionState
    owner: str = Field(description="empty: nobody")
    owner_name: str = Field(description="the owner as people read it; empty: nobody")
    bug: str = Field(description="address; empty: none")
    environment: str
    host_class: str
    hosts: list[str]
    emulated: bool
    clock: Clock
    workload: str
    case: str = Field(description="the case's title")
    metric: str
    metric_title: str
    mode: str
    before: str = Field(description="what it was compared with")
    effect_percent: float | None = Field(description="null: the level before is 0")
    ci_low_percent: float | None
    ci_high_percent: float | None
    bound: Bound = Field(description="what the effect says of the true one")
    happened_at: datetime
    found_at: datetime
    changed_at: datetime
    duplicate_of: int | None
    bisection_id: int | None
    version: int
    is_sure: bool = Field(
        description="whether a person, fresh boots or a filed comparison say that it is worse"
    )
    confirmation: ConfirmationState | None = Field(
        description="what fresh boots say of a trend's change; null: it was not looked at"
    )


class EntryView(View):
    """One entry of a regression's history."""

    id: int
    at: datetime
    by: str
    kind: EntryKind
    before: str
    after: str
    text: str


class RegressionView(RegressionSummary):
    """One regression with its evidence and its history."""

    trend_id: int | None
    change_id: int | None
    experiment_id: int | None = Field(description="null: it was deleted")
    case_id: int | None
    arm: str = Field(description="of a cell: the arm's name")
    earlier_fresh_boots: list[ConfirmationView] = Field(
        description="tries before that, the newest first"
    )
    fresh_boots: ConfirmationView | None = Field(
        description="how a trend's change is measured again; null: it was not looked at"
    )
    duplicates: list[int] = Field(description="regressions that joined this one")
    history: list[EntryView] = Field(description="the newest last")


class RegressionPage(View):
    """Some of the regressions."""

    regressions: list[RegressionSummary]
    total: int
    next: int | None = Field(description="offset of the next page")
    counts: dict[RegressionState, int] = Field(description="of all that match but for their state")
