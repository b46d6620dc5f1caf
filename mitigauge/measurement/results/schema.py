"""The one result schema: reading what a case gave, and refusing what cannot be a result. Pure."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Annotated, Any

import orjson
from pydantic import (
    AfterValidator,
    AwareDatetime,
    BaseModel,
    ConfigDict,
    Field,
    ValidationError,
)
from pydantic_core import PydanticCustomError

from mitigauge.core.errors import InvalidInput
from mitigauge.core.hostile_text import clean_text
from mitigauge.core.wire.limits import LARGEST_VALUE, MOST_ITERATIONS
from mitigauge.core.wire.result import SCHEMA, Direction, Schema
from mitigauge.measurement.experiments.metric import CaseMetric
from mitigauge.measurement.results.details import BootDetails, PassDetails
from mitigauge.measurement.results.threads import ThreadsBody

# Iterations of a workload that tells details of each.
MAX_DETAILED = 100
# Words of a host: of a tool, its version, a unit.
LONGEST_WORD = 200
LONGEST_DETAIL = 20_000
MOST_METRICS = 100
MOST_TOOLS = 50
# Of a complaint, which may repeat what the host wrote.
LONGEST_LINE = 500
EARLIEST, LATEST = datetime(1970, 1, 1, tzinfo=UTC), datetime(2200, 1, 1, tzinfo=UTC)


class _Closed(BaseModel):
    model_config = ConfigDict(extra="forbid")


def _bounded(value: float) -> float:
    if not abs(value) <= LARGEST_VALUE:
        raise PydanticCustomError(
            "bounded",
            "{value} is not a finite number of at most {largest} in size",
            {"value": repr(value), "largest": LARGEST_VALUE},
        )
    return value


def _possible(moment: datetime) -> datetime:
    if not EARLIEST <= moment < LATEST:
        raise PydanticCustomError("moment", "it is not between the years 1970 and 2200")
    return moment


# Strict: a truth value or a text is no number, though Python would make it one.
Value = Annotated[float, Field(strict=True), AfterValidator(_bounded)]
Word = Annotated[str, Field(max_length=LONGEST_WORD), AfterValidator(clean_text)]
Moment = Annotated[AwareDatetime, AfterValidator(_possible)]


class MetricBody(_Closed):
    """One metric's values, in order."""

    unit: str
    direction: Direction
    warmup: list[Value] = Field(default_factory=list, max_length=MOST_ITERATIONS)
    values: list[Value] = Field(min_length=1, max_length=MOST_ITERATIONS)
    disturbed: list[Value] = Field(
        default_factory=list,
        max_length=MOST_ITERATIONS,
        description="iterations taken again, since the processor was slowed beside them",
    )


class LabFault(_Closed):
    """Something of the lab that went wrong and was tried again."""

    kind: Annotated[str, Field(max_length=100), AfterValidator(clean_text)]
    attempt: int = Field(0, ge=0, le=1_000_000)
    detail: Annotated[str, Field(max_length=LONGEST_DETAIL), AfterValidator(clean_text)] = ""


Slowdown = Annotated[Value, Field(ge=1)]


class PaceBody(_Closed):
    """A fixed loop timed beside each iteration, over the loop's fastest time on the host."""

    limit: Slowdown
    values: list[Slowdown] = Field(max_length=MOST_ITERATIONS)
    disturbed: list[Slowdown] = Field(max_length=MOST_ITERATIONS)


class ResultBody(_Closed):
    """What one case gave within one boot."""

    version: Schema = Field(alias="schema")
    workload: Word
    case_id: Word
    parameters: dict[str, Any]
    started_at: Moment
    finished_at: Moment
    metrics: dict[str, MetricBody] = Field(max_length=MOST_METRICS)
    operations: Annotated[Value, Field(gt=0)] | None = Field(
        None, description="work done by all measured iterations, where the workload counts it"
    )
    lab_faults: list[LabFault] = Field(default_factory=list, max_length=100)
    tools: dict[Word, Word] = Field(default_factory=dict, max_length=MOST_TOOLS)
    pace: PaceBody | None = None
    threads: ThreadsBody | None = Field(
        None, description="what threads did by name, of workloads that count their wake-ups"
    )
    guest: dict[Word, Word] = Field(
        default_factory=dict,
        max_length=MOST_TOOLS,
        description="what the case's guest got of what its arm sets, as the guest itself shows it",
    )
    details: list[PassDetails] = Field(
        default_factory=list,
        max_length=MAX_DETAILED,
        description="of each measured iteration, where the workload declares details",
    )


@dataclass(frozen=True, slots=True)
class ReadResult:
    """A result as it was read, with the digest by which the same body is known again."""

    body: ResultBody
    digest: str
    details: BootDetails | None = None
    """What the passes tell besides their metrics, brought to the boot."""


def body_digest(body: bytes) -> str:
    """SHA-256 by which the same upload is known again."""
    return hashlib.sha256(body).hexdigest()


def read_result(body: bytes) -> ReadResult:
    """Parse a result; its texts are cleaned, its numbers finite and at most 1e100 in size.

    Raises :class:`InvalidInput` naming the field; JSON has no NaN.
    """
    try:
        data = orjson.loads(body)
    except orjson.JSONDecodeError as error:
        raise InvalidInput(
            f"the body is not whole, valid JSON: {error}",
            hint="NaN and Infinity are no JSON; send the body again if it was cut off.",
        ) from error
    try:
        return ReadResult(ResultBody.model_validate(data), body_digest(body))
    except ValidationError as error:
        lines = [
            f"{'.'.join(map(str, p['loc'])) or 'body'}: {p['msg']}"[:LONGEST_LINE]
            for p in error.errors()[:20]
        ]
        raise InvalidInput(
            clean_text("\n".join(lines)),
            hint=f"The schema is {SCHEMA}. A value that cannot be right is reported as a failure.",
        ) from error


def check_against_case(
    result: ResultBody,
    *,
    workload: str,
    case_id: int,
    metrics: Mapping[str, CaseMetric],
    iterations: int,
    parameters: Mapping[str, Any],
    warmup: int,
    guest: Mapping[str, str],
) -> None:
    """Raise :class:`InvalidInput` unless the result is of this case, whole and in its units.

    *parameters*, *warmup* and *guest* are what was asked of the pass.
    """
    if result.workload != workload or result.case_id != str(case_id):
        raise InvalidInput(
            f"the result is of {result.workload} case {result.case_id}, "
            f"expected {workload} case {case_id}",
            hint="Upload it under its own case.",
        )
    if result.parameters != parameters:
        raise InvalidInput(
            f"the result is of parameters {_quoted(result.parameters)}, "
            f"the plan asks for {_quoted(parameters)}",
            hint="parse.py repeats the parameters of case.json.",
        )
    for name, wanted in guest.items():
        if (got := result.guest.get(name)) != wanted:
            raise InvalidInput(
                f"the guest was to get {name} = {wanted}; it has {_quoted(got)}",
                hint="The mode was not in force in the guest: nothing of this case is counted.",
            )
    always = {name for name, declared in metrics.items() if not declared.counter}
    missing = sorted(always - set(result.metrics))
    unknown = sorted(set(result.metrics) - set(metrics))
    if missing or unknown:
        raise InvalidInput(
            f"missing metrics: {', '.join(missing) or 'none'}; "
            f"unknown metrics: {clean_text(', '.join(unknown))[:200] or 'none'}",
            hint=f"The case reports {', '.join(sorted(metrics))}.",
        )
    _check_threads(result, metrics)
    for name, given in result.metrics.items():
        declared = metrics[name]
        if (given.unit, given.direction) != (declared.unit, declared.direction):
            raise InvalidInput(
                f"metrics.{name}: {_quoted(given.unit)}, {given.direction} is better; declared are "
                f"{declared.unit}, {declared.direction} is better",
                hint="Convert in the workload's parse.py.",
            )
        if len(given.values) != iterations:
            raise InvalidInput(
                f"metrics.{name}: {len(given.values)} iterations, the plan asks for {iterations}",
                hint="A result cut short is reported as failed, not uploaded in part.",
            )
        if len(given.warmup) != warmup:
            raise InvalidInput(
                f"metrics.{name}: {len(given.warmup)} warm-ups, the plan asks for {warmup}",
                hint="A result cut short is reported as failed.",
            )
        _check_domain(name, given, declared)
        _check_pace(name, given, result.pace)


def _check_domain(name: str, given: MetricBody, declared: CaseMetric) -> None:
    kinds = {"values": given.values, "warmup": given.warmup, "disturbed": given.disturbed}
    for kind, values in kinds.items():
        outside = declared.possible.first_outside(values)
        if outside:
            number, reason = outside
            raise InvalidInput(
                f"metrics.{name}.{kind}: number {number} of {len(values)}: {reason}",
                hint="Nothing that was measured gives such a value; look at the case's raw files.",
            )


def _quoted(value: object) -> str:
    return ascii(value)[:200]


def _check_threads(result: ResultBody, metrics: Mapping[str, CaseMetric]) -> None:
    if result.threads is not None and not any(metric.threads for metric in metrics.values()):
        raise InvalidInput(
            "the result has a table of threads, and no metric of the case is of threads",
            hint="Say `threads: true` of that metric in workload.yml.",
        )


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
