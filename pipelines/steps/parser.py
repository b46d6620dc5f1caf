"""A pass of a case: what was asked of it, and its raw output through the workload's parser."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import orjson

from mitigauge.core.errors import InvalidInput
from mitigauge.core.wire import case as wire
from mitigauge.core.wire import run_record
from mitigauge.core.wire.limits import LARGEST_WHOLE
from mitigauge.measurement.catalog import Catalog
from mitigauge.measurement.experiments.tables import Case
from mitigauge.measurement.results.details import of_boot
from mitigauge.measurement.results.schema import ReadResult, check_against_case, read_result
from mitigauge.measurement.workloads.details import Details
from mitigauge.storage.files.confinement import Limits, run_confined

PARSER_LIMITS = Limits(seconds=60.0, memory_bytes=400 << 20, output_bytes=8 << 20)
# run.json is read on our side only for what a profiled pass repeats.
LONGEST_RECORD = 4 << 20


@dataclass(frozen=True, slots=True)
class PassOrder:
    """What a pass was asked to do, by the plan and whatever the host says of it."""

    case: Case
    parameters: Mapping[str, Any]
    warmup: int
    profiled: bool = False
    guest: Mapping[str, str] = field(default_factory=dict)
    """What the case's guest was to get."""

    def to_json(self) -> bytes:
        """case.json, as a workload's parser reads it."""
        case = self.case
        return orjson.dumps(
            wire.PassCase(
                case_id=str(case.id),
                workload=case.workload,
                parameters=dict(self.parameters),
                iterations=case.iterations,
                warmup=self.warmup,
                timeout_s=case.timeout_s,
                profile_hz=case.profile_hz,
                profile_guest=case.profile_guest,
                profiled=self.profiled,
                guest=dict(self.guest),
            )
        )


def timed_pass(case: Case, guest: Mapping[str, str] | None = None) -> PassOrder:
    """The pass whose values count; *guest*: what its guest was to get."""
    return PassOrder(case, case.parameters, case.warmup, guest=guest or {})


def profiled_pass(first: PassOrder, timed: Path) -> PassOrder:
    """The pass after *first*: no warm-up, and as much work as the one that left *timed*.

    A workload that scales its work to the host says in run.json's `repeat_with` how much that
    was. Raises :class:`InvalidInput` where that is no value of one of the case's parameters.
    """
    case = first.case
    asked = replace(first, warmup=0, profiled=True)
    path = timed / run_record.FILE
    if not path.is_file():
        return asked
    fixed = _repeated(path)
    for name, value in fixed.items():
        if not _alike(value, case.parameters.get(name)):
            raise InvalidInput(
                f"{run_record.FILE}: {run_record.REPEAT_WITH}: {ascii(name)[:100]}: "
                f"{ascii(value)[:100]} is no value of the case's parameters",
                hint="It fixes the work of the profiled pass; see the workload's run.",
            )
    return replace(asked, parameters={**case.parameters, **fixed})


def _repeated(path: Path) -> dict[str, Any]:
    """What run.json says under `repeat_with`; nothing where it says nothing."""
    fixed = _record(path).get(run_record.REPEAT_WITH)
    return fixed if isinstance(fixed, dict) else {}


def _record(path: Path) -> dict[str, Any]:
    """run.json, where it holds an object. Raises :class:`InvalidInput`."""
    if path.stat().st_size > LONGEST_RECORD:
        raise InvalidInput(
            f"{run_record.FILE} has more than {LONGEST_RECORD} bytes",
            hint="See the workload's run.",
        )
    try:
        record = orjson.loads(path.read_bytes())
    except orjson.JSONDecodeError as error:
        raise InvalidInput(
            f"{run_record.FILE}: not JSON: {error}", hint="See the raw files."
        ) from error
    return record if isinstance(record, dict) else {}


def measured_window(directory: Path) -> tuple[float, float] | None:
    """From the first measured iteration to the end of the last, on the host's monotonic clock.

    In seconds; None where run.json does not say.
    """
    path = directory / run_record.FILE
    try:
        told = _record(path).get(run_record.MEASURED) if path.is_file() else None
    except InvalidInput:
        return None
    times: list[float] = []
    for pair in run_record.windows(told):
        match pair:
            case [int() | float() as began, int() | float() as ended]:
                times += [float(began), float(ended)] if 0 <= began < ended < LARGEST_WHOLE else []
    return (min(times), max(times)) if times else None


def _alike(value: object, planned: object) -> bool:
    """Whether *value* could stand in the place of the *planned* one."""
    if isinstance(value, bool) or planned is None:
        return False
    if isinstance(value, int | float) and isinstance(planned, int | float):
        return abs(value) <= LARGEST_WHOLE
    return value == planned


def result_in(directory: Path, asked: PassOrder, catalog: Catalog) -> ReadResult:
    """The result of the pass that left *directory*.

    Raises :class:`InvalidInput` with the parser's complaint, for what is no result, and for
    one of another case, with other parameters or another number of values than was asked.
    """
    known = catalog.workloads.get(asked.case.workload)
    return checked(parsed(directory, asked, catalog), asked, known.details if known else None)


def checked(body: bytes, asked: PassOrder, declared: Details | None = None) -> ReadResult:
    """*body* as the result of what was asked, with the details that its workload *declared*.

    Raises :class:`InvalidInput` as `result_in`.
    """
    result = read_result(body)
    case = asked.case
    check_against_case(
        result.body,
        workload=case.workload,
        case_id=case.id,
        metrics=case.metrics,
        iterations=case.iterations,
        parameters=asked.parameters,
        warmup=asked.warmup,
        guest=asked.guest,
    )
    return replace(result, details=of_boot(declared, result.body.details, case.iterations))


def parsed(directory: Path, asked: PassOrder, catalog: Catalog) -> bytes:
    """What parse.py prints for *directory*. Raises :class:`InvalidInput` with its complaint.

    It reads what was asked from a case.json of ours: a host that may write that file could
    ask for more memory than there is.
    """
    described = directory / wire.FILE
    if described.is_dir():
        shutil.rmtree(described)
    described.unlink(missing_ok=True)
    described.write_bytes(asked.to_json())
    return run_confined(
        catalog.workload_directory(asked.case.workload) / "parse.py",
        [directory],
        name="parse.py",
        limits=PARSER_LIMITS,
    )
