"""One value for each arm, case and metric of a run, from its boots' means. Pure."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import orjson

from mitigauge.core.stats.boot_interval import boot_interval
from mitigauge.measurement.experiments.metric import CaseMetric

# A host's clock may be off by so much before it is said.


@dataclass(frozen=True, slots=True)
class RunCase:
    """A case of the run's comparison."""

    id: int
    workload: str
    title: str
    parameters: Mapping[str, Any]
    metrics: Mapping[str, CaseMetric]

    @property
    def key(self) -> str:
        """The same for the same parameters, whatever the case is called."""
        text = orjson.dumps(dict(self.parameters), option=orjson.OPT_SORT_KEYS)
        return hashlib.sha256(text).hexdigest()


@dataclass(frozen=True, slots=True)
class RunArm:
    """An arm with the boots of the run that count."""

    id: int
    mode: str
    line: str
    boots: Sequence[int]


@dataclass(frozen=True, slots=True)
class Value:
    """One value of a trend to come."""

    arm: RunArm
    case: RunCase
    metric: str
    declared: CaseMetric
    value: float
    low: float | None
    high: float | None
    boots: int


def values_of(
    arms: Iterable[RunArm],
    cases: Iterable[RunCase],
    means: Mapping[tuple[int, int, str], float],
) -> list[Value]:
    """Every value that the run has; *means* by (boot, case, metric) in the metric's unit."""
    cases = list(cases)
    return [
        _value(arm, case, metric, declared, found)
        for arm in arms
        for case in cases
        for metric, declared in case.metrics.items()
        if (found := [m for b in arm.boots if (m := means.get((b, case.id, metric))) is not None])
    ]


def _value(
    arm: RunArm, case: RunCase, metric: str, declared: CaseMetric, means: Sequence[float]
) -> Value:
    over = boot_interval(means, declared.unit)
    return Value(arm, case, metric, declared, over.mean, over.low, over.high, over.boots)


def line_of(series_id: int | None, patches: Sequence[str], base: str, profile: str) -> str:
    """What a kernel that was built here is a kernel of: its series, its patches, or its base.

    Revisions of a series are one line. What was built from patches of no series is a line of its
    own, by the digests of all of them: a label is anybody's word, and says nothing of the code.
    """
    if series_id is not None:
        return f"series {series_id}"
    if patches:
        return f"patches {hashlib.sha256(' '.join(patches).encode()).hexdigest()[:16]}"
    return f"built from {base}, {profile}" if profile else f"built from {base}"
