"""Turn what `run` left in a case's directory into the one result schema.

Every count stands there by name and as a sum, which must agree. Standard library only.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from _kit import parsing, results, threads
from _kit.parsing import ParseError, whole
from _kit.thread_names import MOST_NAMES
from _kit.wire.result import Direction
from _kit.wire.threads import LONGEST_NAME
from sched_trace import LOAD, MOST_GAPS, Count

MOST_PROCESSORS = 1 << 16
KEYS = tuple(asdict(Count()))
# Wake-ups of a task beyond one for each token: at its start, and at its end.
SPARE_WAKEUPS = 16
NS = 1e9


@dataclass(frozen=True)
class Case:
    """What every iteration must agree with."""

    tasks: int
    passes: int
    processors: int


@dataclass(frozen=True)
class Load:
    """The load's own tasks in one iteration, and beside them all threads of the host by name."""

    window_ns: int
    count: Count
    names: dict[str, Count]

    @property
    def wakeups_per_s(self) -> float:
        """Wake-ups in a second of the window."""
        return self.count.wakeups / (self.window_ns / NS)

    @property
    def wait_us(self) -> float:
        """Mean microseconds from a wake-up until the task runs."""
        return self.count.wait_ns / self.count.waits / 1000

    @property
    def run_percent(self) -> float:
        """Part of the window in which one of the tasks had the processor."""
        return 100 * self.count.run_ns / self.window_ns

    @property
    def by_name(self) -> tuple[float, list[tuple[str, threads.Activity]]]:
        """Seconds of the window, and what the threads of each name did in it."""
        return self.window_ns / NS, [
            (
                name,
                threads.Activity(
                    count.threads, count.wakeups, count.run_ns, count.wait_ns + count.preempted_ns
                ),
            )
            for name, count in self.names.items()
        ]


def counts_of(row: dict[str, Any], file: str, where: str) -> Count:
    """The counts in a row, each one a whole number."""
    return Count(**{key: whole(row, f"{file}: {where}", key, 0) for key in KEYS})


def named_counts(told: dict[str, Any], file: str) -> dict[str, Count]:
    """Name → counts; each name is there once, and the sums are those of the rows."""
    rows = parsing.field(told, file, "names", list)
    if len(rows) > MOST_NAMES:
        raise ParseError(f"{file}: names: more than {MOST_NAMES}")
    found: dict[str, Count] = {}
    for number, row in enumerate(rows):
        if not isinstance(row, dict):
            raise ParseError(f"{file}: names: {number}: holds no JSON object")
        name: str = parsing.field(row, f"{file}: names: {number}", "name", str)
        if name in found or len(name) > LONGEST_NAME:
            raise ParseError(f"{file}: names: {name!r:.80}: found twice, or too long")
        found[name] = counts_of(row, file, f"names: {number}")
    total = counts_of(parsing.field(told, file, "total", dict), file, "total")
    for key in KEYS:
        added = sum(getattr(count, key) for count in found.values())
        if added != getattr(total, key):
            raise ParseError(
                f"{file}: total.{key}: {getattr(total, key)}, but the names' is {added}"
            )
    return found


def window_of(told: dict[str, Any], file: str) -> int:
    """Nanoseconds from the load's begin to its end, which stand there twice."""
    began, ended = (whole(told, file, name, 0) for name in ("began_ns", "ended_ns"))
    window = whole(told, file, "window_ns", 1)
    if ended - began != window:
        raise ParseError(f"{file}: window_ns: {window} is not the time from began to ended")
    return window


def refuse_impossible(load: Load, file: str, case: Case) -> None:
    """What such a ring on one processor cannot have done."""
    count = load.count
    if count.threads != case.tasks:
        raise ParseError(f"{file}: {LOAD}: {count.threads} threads, but the case has {case.tasks}")
    if not 0 < count.waits <= count.wakeups:
        raise ParseError(f"{file}: {LOAD}: waits: {count.waits} of {count.wakeups} wake-ups")
    if count.wakeups > case.passes + SPARE_WAKEUPS * case.tasks:
        raise ParseError(f"{file}: {LOAD}: wakeups: more than {case.passes} tokens explain")
    # A wait or a run is ended by a switch; the last of them may end beyond the window.
    if count.waits > count.switches + case.tasks:
        raise ParseError(f"{file}: {LOAD}: waits: more than {count.switches} switches explain")
    if count.run_ns < 1 or count.run_ns > load.window_ns:
        raise ParseError(f"{file}: {LOAD}: run_ns: {count.run_ns} in {load.window_ns} ns")


def read_load(path: Path, case: Case) -> Load:
    """One warm-up or iteration; ParseError where it contradicts itself or the case."""
    told, file = parsing.read_object(path), path.name
    window_ns = window_of(told, file)
    if (passes := whole(told, file, "passes", 1)) != case.passes:
        raise ParseError(f"{file}: passes: {passes}, but the case asked {case.passes}")
    found = named_counts(told, file)
    if LOAD not in found:
        raise ParseError(f"{file}: names: {LOAD} is missing")
    idle_ns, unknown_ns = (whole(told, file, name, 0) for name in ("idle_ns", "unknown_ns"))
    used_ns = sum(count.run_ns for count in found.values()) + idle_ns + unknown_ns
    if used_ns > window_ns * case.processors:
        raise ParseError(f"{file}: run_ns: {used_ns} is more than all processors have")
    load = Load(window_ns, found[LOAD], found)
    refuse_impossible(load, file, case)
    if whole(told, file, "gaps", 0) > MOST_GAPS * load.count.switches:
        raise ParseError(f"{file}: gaps: too many events are missing")
    return load


def parse(directory: Path) -> dict[str, Any]:
    """Result of the case in `directory`; ParseError if a file is not as promised."""
    case = parsing.checked_case(directory, through=str, tasks=int, tokens=int, rounds=int)
    record = parsing.read_object(directory / parsing.RUN_RECORD)
    tasks = whole(case, parsing.CASE, "parameters.tasks", 2)
    passes = tasks * whole(case, parsing.CASE, "parameters.rounds", 1)
    processors = whole(record, parsing.RUN_RECORD, "processors", 1, MOST_PROCESSORS)
    known = Case(tasks, passes, processors)
    pace = results.pace_of(record, case["iterations"])

    def loads(kind: str, numbers: Iterable[int]) -> list[Load]:
        return [read_load(directory / f"{kind}-{number:02}.json", known) for number in numbers]

    warmup = loads("warmup", range(1, case["warmup"] + 1))
    counted, disturbed = loads("iteration", pace.counted), loads("iteration", pace.disturbed)

    def metric(unit: str, direction: Direction, value: Callable[[Load], float]) -> dict[str, Any]:
        return results.metric(
            unit, direction, [value(load) for load in warmup], [value(load) for load in counted],
            disturbed=[value(load) for load in disturbed],
        )  # fmt: skip

    metrics = {
        "wakeups": metric("1/s", "higher", lambda load: load.wakeups_per_s),
        "wait": metric("us", "lower", lambda load: load.wait_us),
        "run_share": metric("%", "higher", lambda load: load.run_percent),
    }
    by_name = threads.table([load.by_name for load in counted], lambda name: name == LOAD)
    return results.result(
        "wakeups", case, record, metrics, **pace.told(),
        operations=passes * case["iterations"], threads=by_name,
    )  # fmt: skip


if __name__ == "__main__":
    sys.exit(parsing.main(parse, sys.argv[1:]))
