"""Two families of modes crossed, by processor: what the page and the command show.

Loss is the change for the worse, in percent of the baseline: of a metric of which more is better
(throughput) the change with its sign turned round, of one of which less is better (time) the
change itself. A negative loss is a gain.
"""

from __future__ import annotations

from pydantic import Field

from mitigauge.analysis.claims.outcome import ClaimOutcome
from mitigauge.core.effect import CellState, Verdict
from mitigauge.core.stats.bounds import Bound
from mitigauge.core.stats.terms import Direction
from mitigauge.core.view import View


class LossAxis(View):
    """One of the two families, and its modes in the order of the arms."""

    family: str
    modes: list[str]


class LossClaim(View):
    """A published loss that stands beside a cell."""

    source: str
    label: str = Field(description="which of the source's figures, a processor perhaps")
    low_percent: float
    high_percent: float
    outcome: ClaimOutcome
    reason: str


class LossCell(View):
    """One mode of the first family with one of the second, on one host."""

    first: str
    second: str
    arm_id: int
    arm: str
    is_baseline: bool
    state: CellState
    n: int = Field(description="boots that count")
    mean: float | None = Field(description="in the metric's unit")
    loss_percent: float | None = None
    low_percent: float | None = None
    high_percent: float | None = None
    bound: Bound = Field(Bound.EXACT, description="what the loss says of the true one")
    mde_percent: float | None = None
    verdict: Verdict | None = None
    note: str = ""
    observed: list[str] = Field(description="what kernels said where the mode was not in force")
    claims: list[LossClaim]


class LossBlock(View):
    """One host's cells, in the order of the axes; combinations without an arm are left out."""

    host: str
    host_class: str
    processor: str
    emulated: bool
    counted: bool
    cells: list[LossCell]


class LossTable(View):
    """One metric of one case over the crossed modes, host by host."""

    comparison: str
    case_id: int
    case: str
    workload: str
    metric: str
    metric_title: str
    unit: str
    direction: Direction
    primary: bool
    rest: str = Field(description="what else these arms have in common: other modes, a kernel")
    baseline: str = Field(description="the baseline's arm, and its mode")
    first: LossAxis
    second: LossAxis
    blocks: list[LossBlock]


class LossChoice(View):
    """A metric of a case that a table can be asked for."""

    case_id: int
    case: str
    metric: str
    metric_title: str
    primary: bool


class LossView(View):
    """The loss matrices of an experiment, primary metrics first."""

    experiment_id: int
    experiment: str
    state: str
    emulated: bool
    counted: bool
    tables: list[LossTable]
    choices: list[LossChoice] = Field(description="every case and metric that has a table")
    left_out: int = Field(description="tables that were not asked for, or are beyond the limit")
