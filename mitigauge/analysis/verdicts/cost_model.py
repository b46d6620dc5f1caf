"""What exits explain of a measured change: rate × cost per exit, beside the change itself. Pure.

A virtual processor that leaves r times a second, at c seconds each, spends f = r·c of its time on
exits. Per unit of work the other arm takes ρ times the baseline's time, so that its exits take
f'·ρ of the baseline's time per unit, and

    predicted = f'·ρ − f = (r'ρ − r)·c + r'ρ·(c' − c)

is the change that exits alone make: the first part since there are more of them, the second since
each is dearer. What is left of ρ − 1 is not of the exits: what the monitor does in user space with
one of them, caches, waiting. Everything is worked out within blocks, from boots of both arms, and
its interval is Student's t over the blocks: boots are what is replicated.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from mitigauge.core.stats import special
from mitigauge.core.stats.terms import INTERVAL_LEVEL, Direction

NS = 1e-9
FEWEST_BLOCKS = 2


@dataclass(frozen=True, slots=True)
class Side:
    """One boot of one arm: what its case did, and what an exit cost in it."""

    value: float
    """Of the case's metric."""
    exits: Sequence[tuple[float, float]]
    """Of each kind: exits a second, and nanoseconds of one."""
    vcpus: float = 1.0
    """Virtual processors that share the exits."""

    @property
    def rate(self) -> float:
        """Exits a second."""
        return sum(rate for rate, _ in self.exits)

    @property
    def share(self) -> float:
        """Part of a virtual processor's time that its exits take."""
        return sum(rate * cost for rate, cost in self.exits) * NS / self.vcpus

    @property
    def cost_ns(self) -> float | None:
        """Nanoseconds of an exit, mean over its kinds as they came; None where none came."""
        return self.share * self.vcpus / (NS * self.rate) if self.rate > 0 else None


@dataclass(frozen=True, slots=True)
class Estimate:
    """A mean over blocks with its interval, in percent of the baseline's time per unit of work."""

    percent: float
    low: float
    high: float

    @property
    def is_clear(self) -> bool:
        """Whether its interval leaves out nothing at all."""
        return self.low > 0 or self.high < 0


@dataclass(frozen=True, slots=True)
class CostModel:
    """What exits explain of one arm's change against the baseline."""

    blocks: int
    rate: float
    base_rate: float
    cost_ns: float | None
    base_cost_ns: float | None
    share_percent: float
    """Of the arm's time that its exits take."""
    base_share_percent: float
    by_rate: Estimate
    by_cost: Estimate
    predicted: Estimate
    measured: Estimate
    rest: Estimate

    @property
    def explained(self) -> float | None:
        """Predicted over measured, in percent; None where no change was measured."""
        if not self.measured.is_clear:
            return None
        return 100.0 * self.predicted.percent / self.measured.percent


def cost_model(blocks: Sequence[tuple[Side, Side]], direction: Direction) -> CostModel | None:
    """The model of (baseline, arm) by block; None for fewer than two blocks.

    *direction*: whether the metric's value is a time (lower is better) or work over time.
    """
    usable = [pair for pair in blocks if all(_is_usable(side) for side in pair)]
    if len(usable) < FEWEST_BLOCKS:
        return None
    rows = [_changes(base, arm, direction) for base, arm in usable]
    by_rate, by_cost, measured = ([100.0 * each for each in of] for of in zip(*rows, strict=True))
    predicted = [sum(both) for both in zip(by_rate, by_cost, strict=True)]
    bases, arms = zip(*usable, strict=True)
    return CostModel(
        blocks=len(usable),
        rate=_mean([arm.rate for arm in arms]),
        base_rate=_mean([base.rate for base in bases]),
        cost_ns=_mean_known([arm.cost_ns for arm in arms]),
        base_cost_ns=_mean_known([base.cost_ns for base in bases]),
        share_percent=100.0 * _mean([arm.share for arm in arms]),
        base_share_percent=100.0 * _mean([base.share for base in bases]),
        by_rate=_estimate(by_rate),
        by_cost=_estimate(by_cost),
        predicted=_estimate(predicted),
        measured=_estimate(measured),
        rest=_estimate([all_ - of for all_, of in zip(measured, predicted, strict=True)]),
    )


def _is_usable(side: Side) -> bool:
    numbers = [side.value, side.vcpus, *(n for pair in side.exits for n in pair)]
    return all(map(math.isfinite, numbers)) and side.value > 0 and side.vcpus > 0


def _changes(base: Side, arm: Side, direction: Direction) -> tuple[float, float, float]:
    """Of the baseline's time per unit of work: by more exits, by dearer ones, and measured."""
    slower = arm.value / base.value if direction == "lower" else base.value / arm.value
    # What the arm's exits would take at the baseline's cost; a kind that the baseline never had
    # cost there what it costs here.
    known = [cost for _, cost in base.exits]
    at_base_cost = sum(
        rate * (known[kind] if kind < len(known) else cost)
        for kind, (rate, cost) in enumerate(arm.exits)
    )
    with_base_cost = at_base_cost * NS / arm.vcpus * slower
    return with_base_cost - base.share, arm.share * slower - with_base_cost, slower - 1.0


def _estimate(values: Sequence[float]) -> Estimate:
    mean = statistics.fmean(values)
    error = statistics.stdev(values) / math.sqrt(len(values))
    reach = float(special.stdtrit(len(values) - 1, 0.5 + INTERVAL_LEVEL / 2)) * error
    return Estimate(mean, mean - reach, mean + reach)


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def _mean_known(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return _mean(known) if known else None
