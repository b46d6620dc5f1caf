"""What each knob of a factorial design costs: what the page and the command show.

Cost is the change for the worse: of a metric of which less is better (time) the change itself, of
one of which more is better (throughput) the change with its sign turned round.
"""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from mitigauge.core.stats.bounds import Bound
from mitigauge.core.view import View

RowKind = Literal["knob", "pair", "together", "unexplained"]


class FactorialRow(View):
    """One figure: of a knob, of a pair beyond its two knobs, or of all of them."""

    kind: RowKind
    name: str
    help: str = Field("", description="the modes that the knob turns between")
    value: float | None = Field(description="cost, in the metric's unit; null: not told apart")
    low: float | None = Field(None, description="of the joint 95 % interval")
    high: float | None = None
    percent: float | None = Field(None, description="of the mean with all knobs low")
    low_percent: float | None = None
    high_percent: float | None = None
    shared: list[str] = Field(description="pairs that this one cannot be told from")
    bound: Bound = Field(
        Bound.EXACT, description="what it says of the true cost, where events are not counted"
    )


class FactorialTable(View):
    """One metric of one case on one host."""

    comparison: str
    host: str
    emulated: bool
    counted: bool
    case_id: int
    case: str
    metric: str
    metric_title: str
    unit: str
    direction: str
    base: float | None = Field(description="mean with all knobs low, in the metric's unit")
    boots: int = Field(description="that count")
    planned: int
    df: int = Field(description="degrees of freedom of the noise")
    rows: list[FactorialRow]
    scatter: float = Field(
        description="of the arms around the sum of the parts, root mean square, in the unit"
    )
    furthest: str = Field(description="the arm that lies furthest from it; empty: no boots count")
    furthest_by: float = Field(description="how far it lies off, in the unit")
    not_effective: list[str] = Field(description="arms of which no boot counts, with the reason")


class FactorialView(View):
    """All factorial designs of an experiment."""

    experiment_id: int
    experiment: str
    state: str
    emulated: bool
    counted: bool
    tables: list[FactorialTable]
    choices: dict[int, str] = Field(description="every case that has a table, by its number")
    left_out: int = Field(description="tables that were not asked for, or are beyond the limit")
