"""What a host measured beside what a lab host counted of the same arms. Pure.

Each case has a level of its own that prices do not explain: rows are differences from the case's
mean over its arms, so that it falls out.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from mitigauge.analysis.prices.estimation import MeasuredChange

# Of a level, where boots are alike to the digit: no clock is better.
LEAST_ERROR = 1e-4


@dataclass(frozen=True, slots=True)
class ArmLevel:
    """One arm of a case: events and instructions an operation, and ns an operation by boot."""

    arm: str
    events: Mapping[str, float]
    boots: Sequence[float]

    @property
    def mean(self) -> float:
        """Of the boots, in ns."""
        return sum(self.boots) / len(self.boots)


@dataclass(frozen=True, slots=True)
class CaseLevels:
    """A case in the arms that both hosts have; the baseline is the first."""

    case: str
    arms: Sequence[ArmLevel]

    @property
    def spread(self) -> float | None:
        """Standard deviation of boots within arms, ns; None where each arm has one boot."""
        df = sum(len(arm.boots) - 1 for arm in self.arms)
        if df < 1:
            return None
        squares = sum((value - arm.mean) ** 2 for arm in self.arms for value in arm.boots)
        level = sum(arm.mean for arm in self.arms) / len(self.arms)
        return max(math.sqrt(squares / df), LEAST_ERROR * level)


def changes(cases: Sequence[CaseLevels]) -> list[MeasuredChange]:
    """The rows that prices are estimated from; of cases with at least two boots in an arm."""
    return [row for case in cases for row in _rows(case)]


def _rows(case: CaseLevels) -> list[MeasuredChange]:
    spread = case.spread
    if spread is None or len(case.arms) < 2:
        return []
    events = {event for arm in case.arms for event in arm.events}
    means = {event: _mean([arm.events.get(event, 0.0) for arm in case.arms]) for event in events}
    level = _mean([arm.mean for arm in case.arms])
    return [
        MeasuredChange(
            {event: arm.events.get(event, 0.0) - means[event] for event in events},
            arm.mean - level,
            spread / math.sqrt(len(arm.boots)),
        )
        for arm in case.arms
    ]


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)
