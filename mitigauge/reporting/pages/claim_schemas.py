"""What is shown of claims. Percent are of the claim's baseline, signed as published."""

from __future__ import annotations

from datetime import date

from pydantic import Field

from mitigauge.analysis.claims.outcome import ClaimOutcome
from mitigauge.core.stats.bounds import Bound
from mitigauge.core.view import View


class ClaimView(View):
    """One claim beside what was measured for it, if anything was."""

    title: str
    metric: str
    baseline: str
    mode: str
    low_percent: float
    high_percent: float
    outcome: ClaimOutcome
    reason: str = Field(description="why it came out so, in words")
    arm: str = Field("", description="the arm claimed about, where kernels differ and not modes")
    note: str = Field("", description="which of the source's figures of one case it is")
    host: str = ""
    case_id: int | None = None
    arm_id: int | None = None
    effect_percent: float | None = None
    ci_low_percent: float | None = None
    ci_high_percent: float | None = None
    bound: Bound = Field(Bound.EXACT, description="what the figure says of the true change")
    n: int = 0


class ClaimSourceView(View):
    """What one source claims about things this experiment has."""

    name: str
    title: str
    citation: str
    published: date | None
    claims: list[ClaimView]
