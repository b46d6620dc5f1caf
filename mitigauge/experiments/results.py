"""The one result schema: reading what a case gave, and refusing what cannot be a result. Pure."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Any, Literal

import orjson
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from mitigauge.errors import InvalidInput

SCHEMA = "mitigauge.result/1"
MAX_ITERATIONS = 10_000


class _Closed(BaseModel):
    model_config = ConfigDict(extra="forbid")


class MetricBody(_Closed):
    """One metric's values, in order."""

    unit: str
    direction: Literal["lower", "higher"]
    warmup: list[float] = Field(default_factory=list, max_length=MAX_ITERATIONS)
    values: list[float] = Field(min_length=1, max_length=MAX_ITERATIONS)
    disturbed: list[float] = Field(
        default_factory=list,
        max_length=MAX_ITERATIONS,
        description="iterations taken again, since the processor was slowed beside them",
    )


class LabFault(_Closed):
    """Something of the lab that went wrong and was tried again."""

    kind: str = Field(max_length=100)
    attempt: int = 0
    detail: str = Field("", max_length=20_000)


Slowdown = Annotated[float, Field(ge=1, allow_inf_nan=False)]


class PaceBody(_Closed):
    """A fixed loop timed beside each iteration, over the loop's fastest time on the host."""

    limit: Slowdown
    values: list[Slowdown] = Field(max_length=MAX_ITERATIONS)
    disturbed: list[Slowdown] = Field(max_length=MAX_ITERATIONS)


class ResultBody(_Closed):
    """What one case gave within one boot."""

    version: Literal["mitigauge.result/1"] = Field(alias="schema")
    workload: str
    case_id: str
    parameters: dict[str, Any]
    started_at: datetime
    finished_at: datetime
    metrics: dict[str, MetricBody]
    operations: float | None = Field(
        None,
        gt=0,
        allow_inf_nan=False,
        strict=True,
        description="work done by all measured iterations, where the workload counts it",
    )
    lab_faults: list[LabFault] = Field(default_factory=list, max_length=100)
    tools: dict[str, str] = Field(default_factory=dict)
    pace: PaceBody | None = None


def body_digest(body: bytes) -> str:
    """SHA-256 by which the same upload is known again."""
    return hashlib.sha256(body).hexdigest()


def read_result(body: bytes) -> ResultBody:
    """Parse a result. Raises :class:`InvalidInput` naming the field; JSON has no NaN."""
    try:
        data = orjson.loads(body)
    except orjson.JSONDecodeError as error:
        raise InvalidInput(
            f"the body is not whole, valid JSON: {error}",
            hint="NaN and Infinity are no JSON; send the body again if it was cut off.",
        ) from error
    try:
        result = ResultBody.model_validate(data)
    except ValidationError as error:
        lines = [
            f"{'.'.join(map(str, p['loc'])) or 'body'}: {p['msg']}" for p in error.errors()[:20]
        ]
        raise InvalidInput("\n".join(lines), hint=f"The schema is {SCHEMA}.") from error
    _require_finite(result)
    return result


def _require_finite(result: ResultBody) -> None:
    for name, metric in result.metrics.items():
        for kind, values in (
            ("values", metric.values),
            ("warmup", metric.warmup),
            ("disturbed", metric.disturbed),
        ):
            for index, value in enumerate(values):
                if not math.isfinite(value):
                    raise InvalidInput(
                        f"metrics.{name}.{kind}.{index}: {value} is not a finite number",
                        hint="Leave the result out and report the case as failed.",
                    )


def check_against_case(
    result: ResultBody,
    *,
    workload: str,
    case_id: int,
    metrics: Mapping[str, Mapping[str, Any]],
    iterations: int,
) -> None:
    """Raise :class:`InvalidInput` unless the result is of this case, whole and in its units."""
    if result.workload != workload or result.case_id != str(case_id):
        raise InvalidInput(
            f"the result is of {result.workload} case {result.case_id}, "
            f"expected {workload} case {case_id}",
            hint="Upload it under its own case.",
        )
    missing = sorted(set(metrics) - set(result.metrics))
    unknown = sorted(set(result.metrics) - set(metrics))
    if missing or unknown:
        raise InvalidInput(
            f"missing metrics: {', '.join(missing) or 'none'}; "
            f"unknown metrics: {', '.join(unknown) or 'none'}",
            hint=f"The case reports {', '.join(sorted(metrics))}.",
        )
    for name, declared in metrics.items():
        given = result.metrics[name]
        if (given.unit, given.direction) != (declared["unit"], declared["direction"]):
            raise InvalidInput(
                f"metrics.{name}: {given.unit}, {given.direction} is better; declared are "
                f"{declared['unit']}, {declared['direction']} is better",
                hint="Convert in the workload's parse.py.",
            )
        if len(given.values) != iterations:
            raise InvalidInput(
                f"metrics.{name}: {len(given.values)} iterations, the plan asks for {iterations}",
                hint="A result cut short is reported as failed, not uploaded in part.",
            )
        _check_pace(name, given, result.pace)


def _check_pace(name: str, given: MetricBody, pace: PaceBody | None) -> None:
    if pace is None and given.disturbed:
        raise InvalidInput(
            f"metrics.{name}: {len(given.disturbed)} disturbed iterations, and no pace says why",
            hint="Only a gate that sees no value may set an iteration aside.",
        )
    if pace and (len(pace.values), len(pace.disturbed)) != (
        len(given.values),
        len(given.disturbed),
    ):
        raise InvalidInput(
            f"pace: {len(pace.values)} values and {len(pace.disturbed)} disturbed, but metric "
            f"{name} has {len(given.values)} and {len(given.disturbed)}",
            hint="It has one slowdown for each iteration.",
        )
