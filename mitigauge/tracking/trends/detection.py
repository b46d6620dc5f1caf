"""From a trend's values to its changes, in the words and units that are stored. Pure."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import numpy as np

from mitigauge.core.natural_order import natural_order
from mitigauge.core.stats.boot_interval import by_factors
from mitigauge.core.stats.change_points import Change, Course, courses
from mitigauge.tracking.trends.causes import Circumstances, causes_between
from mitigauge.tracking.trends.repository import ValueRow
from mitigauge.tracking.trends.schemas import Cause, ChangeKind

# A change of the rules lets all changes be looked for again.
RULES = 1
SPARKLINE = 40
# Values on each side that tell what a change was measured on.
_SIDE = 6


@dataclass(frozen=True, slots=True)
class Terms:
    """What of a trend its changes depend on."""

    id: int
    workload: str
    case: str
    unit: str
    direction: str
    delta_percent: float


@dataclass(frozen=True, slots=True)
class ChangePoint:
    """A change as it is to be stored; levels in the metric's unit."""

    trend_id: int
    kind: ChangeKind
    verdict: str
    before: float
    after: float
    effect_percent: float | None
    ci_low_percent: float | None
    ci_high_percent: float | None
    p: float
    values_before: int
    values_after: int
    at: datetime
    earliest_at: datetime
    latest_at: datetime
    until: datetime | None
    run_before: int
    run_after: int
    arm_before: int
    arm_after: int
    hosts: Sequence[str]
    causes: Sequence[Cause]

    def columns(self) -> dict[str, Any]:
        """By the names of the table's columns."""
        return {name: getattr(self, name) for name in self.__slots__}


@dataclass(frozen=True, slots=True)
class Read:
    """All that is said of a trend now."""

    terms: Terms
    values: Sequence[ValueRow]
    changes: Sequence[ChangePoint]
    levels: Sequence[tuple[int, int, float]]
    outliers: Sequence[int]

    @property
    def level(self) -> float | None:
        """Of the values since the last change."""
        return self.levels[-1][2] if self.levels else None

    @property
    def sparkline(self) -> list[float]:
        """The newest values in percent of the level; empty where it is 0."""
        if not self.level:
            return []
        return [round(100.0 * v.value / self.level, 2) for v in self.values[-SPARKLINE:]]


@dataclass(frozen=True, slots=True)
class _Scaled:
    """Values on the scale on which they are compared, and the way back."""

    y: np.ndarray[Any, np.dtype[np.float64]]
    smallest: float
    back: Callable[[float], float]
    percent: Callable[[float, float], float | None]


def read_all(trends: Sequence[tuple[Terms, Sequence[ValueRow]]]) -> list[Read]:
    """What each trend did; thousands of one length cost little more than a few."""
    scaled = [_scale(terms, values) for terms, values in trends]
    found = courses([s.y for s in scaled], smallest=[s.smallest for s in scaled])
    return [
        _read(terms, values, scale, course)
        for (terms, values), scale, course in zip(trends, scaled, found, strict=True)
    ]


def _scale(terms: Terms, values: Sequence[ValueRow]) -> _Scaled:
    raw = np.array([value.value for value in values], dtype=np.float64)
    share = terms.delta_percent / 100.0
    if by_factors(terms.unit, raw.tolist()):
        return _Scaled(
            np.log(raw),
            math.log1p(share),
            lambda y: math.exp(min(y, 709.78)),
            lambda difference, _before: 100.0 * math.expm1(min(difference, 600.0)),
        )
    magnitude = float(np.abs(raw).max(initial=0.0)) or 1.0
    usual = float(np.abs(raw / magnitude).mean()) if raw.size else 1.0
    return _Scaled(
        raw / magnitude,
        share * usual,
        lambda y: y * magnitude,
        lambda difference, before: 100.0 * difference / abs(before) if before else None,
    )


def _read(terms: Terms, values: Sequence[ValueRow], scale: _Scaled, course: Course) -> Read:
    return Read(
        terms,
        values,
        [_change_point(terms, values, scale, change) for change in course.changes],
        [(first, end, scale.back(mean)) for first, end, mean in course.levels],
        course.outliers,
    )


def _change_point(
    terms: Terms, values: Sequence[ValueRow], scale: _Scaled, change: Change
) -> ChangePoint:
    before, after = values[change.at - 1], values[change.at]
    end = change.at + change.values_after
    larger = change.difference > 0
    return ChangePoint(
        trend_id=terms.id,
        kind=ChangeKind.LASTING if change.until is None else ChangeKind.WENT_AWAY,
        verdict="better" if larger == (terms.direction == "higher") else "worse",
        before=scale.back(change.before),
        after=scale.back(change.after),
        effect_percent=scale.percent(change.difference, change.before),
        ci_low_percent=scale.percent(change.low, change.before),
        ci_high_percent=scale.percent(change.high, change.before),
        p=change.p,
        values_before=change.values_before,
        values_after=change.values_after,
        at=after.at,
        earliest_at=values[change.earliest].at,
        latest_at=values[change.latest].at,
        until=None if change.until is None else values[change.until].at,
        run_before=before.run_id,
        run_after=after.run_id,
        arm_before=before.arm_id,
        arm_after=after.arm_id,
        hosts=sorted({value.host for value in values[change.at : end]}, key=natural_order),
        causes=causes_between(
            _measured(values[max(change.earliest - _SIDE, 0) : change.earliest]),
            _measured(values[change.latest : change.latest + _SIDE]),
            terms.workload,
        ),
    )


def _measured(values: Iterable[ValueRow]) -> list[Circumstances]:
    return [Circumstances(value.host, value.context) for value in values]
