"""One effect: a difference with its interval, what was decided of it, and how it is written."""

from __future__ import annotations

from enum import StrEnum
from typing import Protocol, Self

from pydantic import BaseModel, ConfigDict, Field

from mitigauge.core.stats.bounds import Bound

PERCENT = "percent"
# What a row may keep beside its effect, under the same name.
FURTHER = ("n", "p", "q", "verdict", "bound", "note")


class PercentEffect(Protocol):
    """Whatever keeps an effect in percent: rows of tables, verdicts, pages."""

    @property
    def effect_percent(self) -> float | None:
        """Signed as measured."""

    @property
    def ci_low_percent(self) -> float | None:
        """Of the 95 % interval."""

    @property
    def ci_high_percent(self) -> float | None:
        """Of the 95 % interval."""


class Verdict(StrEnum):
    """What the numbers say about one arm against the baseline."""

    BETTER = "better"
    WORSE = "worse"
    SAME = "same"
    UNDECIDED = "undecided"


class CellState(StrEnum):
    """What there is to say of an arm for one case and metric."""

    BASELINE = "baseline"
    MEASURED = "measured"
    NOT_EFFECTIVE = "not_effective"
    NO_DATA = "no_data"


class Effect(BaseModel):
    """A difference from a baseline, by default in percent of it, signed as measured."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    value: float
    low: float | None = Field(None, description="of the 95 % interval; null: there is none")
    high: float | None = None
    unit: str = Field(PERCENT, description="`percent`: of the baseline")
    n: int | None = Field(None, description="boots, or blocks, that it rests on")
    p: float | None = None
    q: float | None = Field(None, description="false discovery rate, where many are looked at")
    verdict: Verdict | None = None
    mde: float | None = Field(None, description="smallest detectable effect, in the same unit")
    bound: Bound = Field(Bound.EXACT, description="what the value says of the true difference")
    note: str = ""

    @property
    def digits(self) -> int:
        """Decimals that the value and its interval deserve."""
        return digits_for(self.low, self.high)

    @property
    def interval(self) -> tuple[float, float] | None:
        """Both ends, where there are any."""
        return None if self.low is None or self.high is None else (self.low, self.high)

    @classmethod
    def of(cls, row: PercentEffect) -> Self | None:
        """The effect that a row, verdict or page keeps in percent; None where it keeps none."""
        if row.effect_percent is None:
            return None
        further = {name: getattr(row, name) for name in FURTHER if hasattr(row, name)}
        return cls(
            value=row.effect_percent,
            low=row.ci_low_percent,
            high=row.ci_high_percent,
            mde=getattr(row, "mde_percent", None),
            **{name: value for name, value in further.items() if value is not None},
        )


def digits_for(low: float | None, high: float | None) -> int:
    """Decimals that an effect deserves: two when its interval is narrower than 1.

    An end just off zero must not read as zero, since it decides the verdict: one more then.
    """
    if low is None or high is None:
        return 1
    digits = 2 if high - low < 1 else 1
    if max(abs(low), abs(high)) >= 1000:
        digits = 0
    return digits + any(end and not round(end, digits) for end in (low, high))
