"""The one result schema: what a workload's parser prints of a pass."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Literal, TypedDict

from .details import PassDetails
from .threads import Threads

Schema = Literal["mitigauge.result/1"]
SCHEMA: Final[Schema] = "mitigauge.result/1"
# Which is better.
Direction = Literal["lower", "higher"]


class MetricValues(TypedDict):
    """One metric's values, in order."""

    unit: str
    direction: Direction
    warmup: list[float]
    values: list[float]


class Metric(MetricValues, total=False):
    """Also the values that others had to replace."""

    disturbed: list[float]


class LabFault(TypedDict):
    """Something of the lab that went wrong and was tried again."""

    kind: str
    attempt: int
    detail: str


class Pace(TypedDict):
    """A fixed loop timed beside each iteration, over the loop's fastest time on the host."""

    limit: float
    values: list[float]
    disturbed: list[float]


class Described(TypedDict):
    """Which pass it is of, and what it measured."""

    schema: Schema
    workload: str
    case_id: str
    parameters: Mapping[str, Any]
    started_at: str
    finished_at: str
    metrics: Mapping[str, Metric]


class RunFacts(TypedDict):
    """What it repeats of run.json."""

    lab_faults: list[LabFault]
    tools: Mapping[str, str]
    guest: Mapping[str, str]


class Result(Described, RunFacts, total=False):
    """What it may have besides."""

    operations: float
    pace: Pace
    threads: Threads
    details: list[PassDetails]
