"""What exits explain of a change, and what a cost of one operation did to real work."""

from __future__ import annotations

from pydantic import Field

from mitigauge.core.stats.bounds import Bound
from mitigauge.core.view import View


class EstimateView(View):
    """Percent of the baseline's time per unit of work, with its 95 % interval over blocks."""

    percent: float
    low: float
    high: float


class CostModelView(View):
    """Rate of exits × cost of one, beside the measured change of one case and metric."""

    case_id: int
    case: str
    metric: str
    metric_title: str
    host: str
    arm: str
    baseline: str
    cost_cases: list[str] = Field(description="cases of the same boots that say what an exit costs")
    blocks: int
    vcpus: float = Field(description="virtual processors that share the exits")
    rate: float = Field(
        description="costed exits a second: all, where a case prices those to the kernel; "
        "else those to user space"
    )
    base_rate: float
    cost_ns: float | None = Field(description="of one, mean over their kinds; null: none came")
    base_cost_ns: float | None
    share_percent: float = Field(description="of a virtual processor's time, in exits")
    base_share_percent: float
    by_rate: EstimateView = Field(description="since there are more of them, or fewer")
    by_cost: EstimateView = Field(description="since each is dearer, or cheaper")
    predicted: EstimateView
    measured: EstimateView
    rest: EstimateView = Field(description="measured and not explained by exits")
    explained_percent: float | None = Field(
        description="predicted over measured; null: no change was measured"
    )


class VerdictSummary(View):
    """One verdict, in short."""

    case_id: int
    case: str
    metric_title: str
    effect_percent: float | None
    ci_low_percent: float | None
    ci_high_percent: float | None
    bound: Bound = Field(Bound.EXACT, description="what the figure says of the true change")
    verdict: str | None


class ConsequenceView(View):
    """What one arm changed of costs of single operations, and of real work beside them."""

    host: str
    arm: str
    baseline: str
    mode: str
    micro: list[VerdictSummary] = Field(description="decided changes of micro workloads")
    macro: list[VerdictSummary] = Field(
        description="primary metrics of other workloads in the same mode on the same host; "
        "empty: none was measured"
    )


class ConsequencesView(View):
    """Of one experiment."""

    experiment_id: int
    cost_models: list[CostModelView]
    consequences: list[ConsequenceView]
