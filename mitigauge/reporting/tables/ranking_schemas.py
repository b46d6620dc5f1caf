"""Which arm of a tournament is best: what the page and the command show."""

from __future__ import annotations

from pydantic import Field

from mitigauge.core.view import View
from mitigauge.measurement.runs.ranking import Place


class RankingRow(View):
    """One arm, in percent of the first one's value, signed as measured."""

    arm: str
    mode: str
    kernel: str = Field(description="empty: the host's own")
    place: Place
    blocks: int = Field(description="of which its figures are")
    mean: float | None = Field(None, description="in the metric's unit")
    effect_percent: float | None = Field(
        None, description="of an arm that dropped out: against the one that was first then"
    )
    low_percent: float | None = Field(None, description="of its 95 % interval")
    high_percent: float | None = None


class RankingTable(View):
    """The arms of one run."""

    comparison: str
    host: str
    emulated: bool
    counted: bool
    case_id: int
    case: str
    metric: str
    metric_title: str
    unit: str
    delta_percent: float = Field(description="a difference that does not matter")
    blocks: int = Field(description="after which arms were ranked")
    boots: int = Field(description="that were made, one for each arm and block")
    planned: int = Field(description="boots")
    is_decided: bool
    words: str = Field(description="what it says, in a sentence")
    rows: list[RankingRow]


class RankingView(View):
    """All tournaments of an experiment."""

    experiment_id: int
    experiment: str
    state: str
    emulated: bool
    counted: bool
    tables: list[RankingTable]
