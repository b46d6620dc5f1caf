"""What every `run` does: read its case, keep `case.json` and `run.json`, say how it ended."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from _kit.wire import case as cases
from _kit.wire import clock, job, run_record


class CaseError(Exception):
    """The case cannot be run here; the text says why."""


def now() -> str:
    """The time as RFC 3339, UTC."""
    return datetime.now(timezone.utc).isoformat(timespec="milliseconds")


def counted_time() -> bool:
    """Whether this host's clock counts instructions, as MITIGAUGE_CLOCK says.

    Nothing that shares its machine then shows in a figure.
    """
    return os.environ.get(job.CLOCK_VARIABLE) == clock.COUNTED


def processor() -> int:
    """The processor to pin to: MITIGAUGE_CPU, else the last that the job may use."""
    allowed = os.sched_getaffinity(0)
    asked = os.environ.get(job.CPU_VARIABLE, "")
    if not asked:
        # Not the first: processor 0 takes most interrupts.
        return max(allowed)
    if not asked.isdigit() or int(asked) not in allowed:
        known = ", ".join(str(cpu) for cpu in sorted(allowed))
        raise CaseError(f"{job.CPU_VARIABLE} is {asked!r}, not one of the allowed: {known}")
    return int(asked)


def one_of(parameters: dict[str, Any], name: str, allowed: tuple[Any, ...]) -> None:
    """Refuse a parameter that is none of the allowed values."""
    if parameters.get(name) not in allowed:
        known = ", ".join(str(value) for value in allowed)
        raise CaseError(f"parameter {name} is {parameters.get(name)!r}, not one of: {known}")


def whole(parameters: dict[str, Any], name: str, least: int, most: int) -> None:
    """Refuse a parameter that is no whole number from `least` to `most`."""
    value = parameters.get(name)
    if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
        raise CaseError(f"parameter {name} is {value!r}, not a whole number from {least} to {most}")


def read_case(path: Path) -> dict[str, Any]:
    """The case that `path` holds."""
    try:
        case = json.loads(path.read_text())
    except (OSError, ValueError) as error:
        raise CaseError(f"{path}: {error}") from None
    if not isinstance(case, dict) or not isinstance(case.get("parameters"), dict):
        raise CaseError(f"{path}: holds no case")
    return case


def main(
    workload: str,
    check: Callable[[dict[str, Any]], dict[str, Any]],
    run_case: Callable[[dict[str, Any], Path, dict[str, Any]], int],
    arguments: list[str],
) -> int:
    """Run the case file into the output directory; returns the status to exit with.

    `check` returns the case's parameters, every one filled in, or raises :class:`CaseError`.
    `run_case` gets the case, the output directory and the record that becomes `run.json`,
    which is written on failure too; it returns the status.
    """
    if len(arguments) != 2:
        print("usage: run CASE.json OUTPUT_DIR", file=sys.stderr)
        return 2
    output = Path(arguments[1])
    begun = run_record.Begun(workload=workload, started_at=now(), lab_faults=[])
    record: dict[str, Any] = {**begun}
    status = 1
    try:
        case = read_case(Path(arguments[0]))
        case["parameters"] = check(case["parameters"])
        output.mkdir(parents=True, exist_ok=True)
        (output / cases.FILE).write_text(json.dumps(case, indent=1))
        status = run_case(case, output, record)
    except CaseError as error:
        print(error, file=sys.stderr)
    finally:
        record |= {"finished_at": now(), "exit_code": status}
        if output.is_dir():
            (output / run_record.FILE).write_text(json.dumps(record, indent=1))
    return status
