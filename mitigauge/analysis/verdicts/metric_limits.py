"""Limits on metrics, and whether an experiment keeps them. Pure.

A limit is kept where the whole 95 % interval lies on its good side, broken where all of it lies
beyond, and else it cannot be told. The interval of a level is Student's t over boots; that of a
change against the baseline is the verdict's own.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from pydantic import Field

from mitigauge.core.field_types import Closed, Name
from mitigauge.core.stats import special
from mitigauge.core.stats.bounds import Bound
from mitigauge.core.stats.terms import INTERVAL_LEVEL, Direction
from mitigauge.measurement.experiments.metric_limit import MetricLimit

FEWEST_BOOTS = 2


class Kept(StrEnum):
    """What is said of a limit."""

    KEPT = "pass"
    BROKEN = "fail"
    CANNOT_TELL = "cannot_tell"


class Limits(Closed):
    """A file of limits, whose lines a spec has under ``limits``."""

    limits: Name
    lines: tuple[MetricLimit, ...] = Field(min_length=1, max_length=500)


@dataclass(frozen=True, slots=True)
class Bounds:
    """A figure with its 95 % interval; None: it has none.

    *bound*: what a change says of the true one, where the hardware's own events cost nothing.
    """

    value: float
    low: float | None
    high: float | None
    bound: Bound = Bound.EXACT


def level_of(boots: Sequence[float]) -> Bounds | None:
    """Mean of boots; None without any."""
    if not boots:
        return None
    n, mean = len(boots), math.fsum(boots) / len(boots)
    if n < FEWEST_BOOTS:
        return Bounds(mean, None, None)
    spread = math.sqrt(math.fsum((each - mean) ** 2 for each in boots) / (n - 1))
    reach = float(special.stdtrit(n - 1, 0.5 + INTERVAL_LEVEL / 2)) * spread / math.sqrt(n)
    return Bounds(mean, mean - reach, mean + reach)


def judged_level(of: MetricLimit, level: Bounds | None) -> Kept:
    """A level against *at_most* or *at_least*."""
    if level is None or level.low is None or level.high is None:
        return Kept.CANNOT_TELL
    if of.at_most is not None:
        return _judged(level.low, level.high, of.at_most)
    assert of.at_least is not None
    return _judged(-level.high, -level.low, -of.at_least)


def judged_change(of: MetricLimit, change: Bounds | None, direction: Direction) -> Kept:
    """A change in percent of the baseline against *worse_by_percent*."""
    if change is None or change.low is None or change.high is None:
        return Kept.CANNOT_TELL
    assert of.worse_by_percent is not None
    above = change.bound in (Bound.AT_LEAST, Bound.NOTHING)
    below = change.bound in (Bound.AT_MOST, Bound.NOTHING)
    low, high = -math.inf if below else change.low, math.inf if above else change.high
    worse = (low, high) if direction == "lower" else (-high, -low)
    return _judged(*worse, of.worse_by_percent)


def _judged(low: float, high: float, limit: float) -> Kept:
    if high <= limit:
        return Kept.KEPT
    return Kept.BROKEN if low > limit else Kept.CANNOT_TELL
