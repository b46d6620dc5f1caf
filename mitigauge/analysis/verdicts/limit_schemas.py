"""What limits say of an experiment."""

from __future__ import annotations

from datetime import datetime

from pydantic import BaseModel, ConfigDict, Field

from mitigauge.analysis.verdicts.metric_limits import Kept
from mitigauge.core.view import View


class LimitRow(BaseModel):
    """One limit on one arm of one case and host."""

    # Weekly reports that are stored name a file, too, of which limits were.
    model_config = ConfigDict(extra="ignore", frozen=True)

    line: int = Field(description="place among the limits, from 1")
    limit: str
    because: str = ""
    case: str
    case_id: int | None = Field(None, description="null: no figure of the experiment is meant")
    host: str
    emulated: bool = Field(False, description="whether the host is emulated")
    arm: str
    value: float | None
    low: float | None
    high: float | None
    unit: str
    kept: Kept
    why: str


class LimitCounts(View):
    """How many rows of an experiment say what."""

    broken: int
    cannot_tell: int
    kept: int

    @property
    def rows(self) -> int:
        """All of them."""
        return self.broken + self.cannot_tell + self.kept

    @property
    def worst(self) -> Kept:
        """Broken where one is, else what cannot be told, as it is without any row; else kept."""
        if self.broken:
            return Kept.BROKEN
        return Kept.KEPT if self.kept and not self.cannot_tell else Kept.CANNOT_TELL


class ExperimentLimits(View):
    """What the limits of its spec say of an experiment, as it was stored at its end."""

    experiment_id: int
    judged_at: datetime | None = Field(description="null: its spec sets no limits")
    counts: LimitCounts
    trouble: str = Field(description="why it could not be judged by them; empty: it was")
    rows: list[LimitRow] = Field(description="broken ones first; at most 2000")
    in_line: str = Field(description="all of it in one line; empty: no limit is of it")
