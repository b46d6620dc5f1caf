"""The one result schema, put together from what a workload's parser read."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from _kit.parsing import RUN_RECORD, ParseError, field
from _kit.wire.limits import LARGEST_WHOLE, MOST_ITERATIONS
from _kit.wire.result import SCHEMA, Described, Direction, MetricValues, Pace, RunFacts
from _kit.wire.run_record import GUEST, PACE, TOOLS


def metric(
    unit: str, direction: Direction, warmup: list[float], values: list[float], **more: list[float]
) -> dict[str, Any]:
    """One metric: `direction` is which is better; *more* may be `disturbed`."""
    always = MetricValues(unit=unit, direction=direction, warmup=warmup, values=values)
    return {**always, **more}


def result(
    workload: str,
    case: Mapping[str, Any],
    record: dict[str, Any],
    metrics: Mapping[str, Any],
    **more: Any,
) -> dict[str, Any]:
    """The result of `case`; `record` is run.json, `more` are `pace` and `operations`."""
    described = Described(
        schema=SCHEMA,
        workload=workload,
        case_id=case["case_id"],
        parameters=case["parameters"],
        started_at=field(record, RUN_RECORD, "started_at", str),
        finished_at=field(record, RUN_RECORD, "finished_at", str),
        metrics=metrics,
    )
    facts = RunFacts(
        lab_faults=field(record, RUN_RECORD, "lab_faults", list),
        tools=field(record, RUN_RECORD, TOOLS, dict),
        guest=field(record, RUN_RECORD, GUEST, dict) if GUEST in record else {},
    )
    return {**described, **more, **facts}


def timed_result(
    workload: str,
    case: Mapping[str, Any],
    record: dict[str, Any],
    name: str,
    nanoseconds: Callable[[str], float],
    *,
    work: int,
    more: Mapping[str, tuple[str, Direction, Callable[[str], float]]] | None = None,
) -> dict[str, Any]:
    """The result of a case with one metric: nanoseconds for each of `work` things an iteration.

    `nanoseconds` reads one pass by the stem of its file, `warmup-01` or `iteration-01`. `more` are
    metrics of the same passes: unit, better direction, and what reads one pass.
    """
    pace = pace_of(record, case["iterations"])
    read: dict[str, tuple[str, Direction, Callable[[str], float]]] = {
        name: ("ns", "lower", nanoseconds), **(more or {})
    }  # fmt: skip

    def values(kind: str, numbers: Iterable[int], of: Callable[[str], float]) -> list[float]:
        return [of(f"{kind}-{number:02}") for number in numbers]

    metrics = {
        each: metric(
            unit,
            direction,
            values("warmup", range(1, case["warmup"] + 1), of),
            values("iteration", pace.counted, of),
            disturbed=values("iteration", pace.disturbed, of),
        )
        for each, (unit, direction, of) in read.items()
    }
    operations = work * case["iterations"]
    return result(workload, case, record, metrics, **pace.told(), operations=operations)


@dataclass(frozen=True)
class PaceRecord:
    """Which iterations count, and how slow the processor was beside each of them."""

    counted: list[int]
    slowdowns: list[float]
    limit: float

    @property
    def disturbed(self) -> list[int]:
        """Numbers of the iterations that do not count."""
        counted = set(self.counted)
        return [n for n in range(1, len(self.slowdowns) + 1) if n not in counted]

    def told(self) -> dict[str, Any]:
        """The result's `pace`; nothing where the loop was not timed."""
        if not self.limit:
            return {}
        pace = Pace(
            limit=self.limit,
            values=[self.slowdowns[number - 1] for number in self.counted],
            disturbed=[self.slowdowns[number - 1] for number in self.disturbed],
        )
        return {PACE: pace}


def pace_of(record: dict[str, Any], iterations: int) -> PaceRecord:
    """What run.json says of the pace; where it says nothing, all iterations count."""
    if PACE not in record:
        return PaceRecord(list(range(1, iterations + 1)), [1.0] * iterations, 0.0)
    numbers = field(record, RUN_RECORD, f"{PACE}.counted", list)
    slowdowns = field(record, RUN_RECORD, f"{PACE}.slowdowns", list)
    limit = field(record, RUN_RECORD, f"{PACE}.limit", float)
    if len(slowdowns) > MOST_ITERATIONS:
        raise ParseError(f"{RUN_RECORD}: pace.slowdowns: more than {MOST_ITERATIONS}")
    for value in [limit, *slowdowns]:
        is_number = isinstance(value, (float, int)) and not isinstance(value, bool)
        # A whole number may be too large to be asked whether it is finite.
        if not is_number or not 1 <= value <= LARGEST_WHOLE:
            raise ParseError(f"{RUN_RECORD}: pace: {value!r:.40} is not a finite number from 1 up")
    known = all(type(number) is int and 1 <= number <= len(slowdowns) for number in numbers)
    if not known or len(numbers) != iterations or len(set(numbers)) != iterations:
        raise ParseError(
            f"{RUN_RECORD}: pace.counted: {numbers!r:.200} are not {iterations} of "
            f"{len(slowdowns)} iterations"
        )
    return PaceRecord(sorted(numbers), slowdowns, limit)
