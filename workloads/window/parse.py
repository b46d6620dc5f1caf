"""Turn what `run` left in a case's directory into the one result schema. Standard library only."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from _kit import parsing, results, seal, threads
from _kit.parsing import ParseError, number, whole
from _kit.thread_names import MOST_NAMES
from _kit.wire.result import Direction
from _kit.wire.threads import LONGEST_NAME

MOST_SECONDS = 3600.0
MOST_THREADS = 1 << 22
# A processor can do no more of either in a second.
MOST_A_SECOND = 1e9
METRICS: dict[str, tuple[str, Direction]] = {
    "wakeups": ("1/s", "lower"),
    "exits_per_second": ("1/s", "lower"),
}


@dataclass(frozen=True)
class Sample:
    """One window."""

    seconds: float
    metrics: dict[str, float]
    names: list[tuple[str, threads.Activity]]


def sample(path: Path, asked_s: int, prefix: str) -> Sample:
    """One window; ParseError where it contradicts itself or the case."""
    told, file = parsing.read_object(path), path.name
    seconds = number(told, file, "seconds", most=MOST_SECONDS)
    if seconds < asked_s:
        raise ParseError(f"{file}: seconds: {seconds:g}, but the case asked {asked_s}")
    counted = whole(told, file, "threads", 1, MOST_THREADS)
    wakeups = whole(told, file, "wakeups", 0)
    names = named(told, file)
    own = [activity for name, activity in names if name.startswith(prefix)]
    if (counted, wakeups) != (sum(a.threads for a in own), sum(a.wakeups for a in own)):
        raise ParseError(f"{file}: wakeups: not those of the names that begin with {prefix:.40}")
    metrics = {"wakeups": wakeups / seconds}
    if "exits" in told:
        metrics["exits_per_second"] = whole(told, file, "exits", 0) / seconds
    for name, value in metrics.items():
        if value > MOST_A_SECOND:
            raise ParseError(f"{file}: {name}: {value:g} in a second is not possible")
    return Sample(seconds, metrics, names)


def named(told: dict[str, Any], file: str) -> list[tuple[str, threads.Activity]]:
    """What the threads of each name did."""
    rows = parsing.field(told, file, "names", list)
    if len(rows) > MOST_NAMES:
        raise ParseError(f"{file}: names: more than {MOST_NAMES}")
    found: dict[str, threads.Activity] = {}
    for place, row in enumerate(rows):
        where = f"{file}: names: {place}"
        if not isinstance(row, dict):
            raise ParseError(f"{where}: holds no JSON object")
        name: str = parsing.field(row, where, "name", str)
        if name in found or len(name) > LONGEST_NAME:
            raise ParseError(f"{where}: name: {name!r:.80}: found twice, or too long")
        found[name] = threads.Activity(
            whole(row, where, "threads", 1, MOST_THREADS),
            whole(row, where, "wakeups", 0),
            time_ns(row, where, "run_ns"),
            time_ns(row, where, "wait_ns"),
        )
    return list(found.items())


def time_ns(row: dict[str, Any], where: str, name: str) -> int | None:
    """Nanoseconds; None where the host's kernel keeps none."""
    if row.get(name, 0) is None:
        return None
    return whole(row, where, name, 0)


def parse(directory: Path) -> dict[str, Any]:
    """Result of the case in `directory`; ParseError if a file is not as promised."""
    case = parsing.checked_case(directory, load=str, threads=str, seconds=int)
    record = parsing.read_object(directory / parsing.RUN_RECORD)
    asked_s = whole(case, parsing.CASE, "parameters.seconds", 1)
    prefix = case["parameters"]["threads"]

    def samples(kind: str, count: int) -> list[Sample]:
        names = [f"{kind}-{index:02}.json" for index in range(1, count + 1)]
        seal.require_whole(directory, record, names)
        return [sample(directory / name, asked_s, prefix) for name in names]

    warmup, iterations = samples("warmup", case["warmup"]), samples("iteration", case["iterations"])
    metrics = {
        name: results.metric(
            *METRICS[name],
            [one.metrics[name] for one in warmup],
            [one.metrics[name] for one in iterations],
        )
        for name in METRICS
        # Exits that KVM told of in some windows and not in others are absent.
        if all(name in one.metrics for one in (*warmup, *iterations))
    }
    by_name = threads.table(
        [(one.seconds, one.names) for one in iterations], lambda name: name.startswith(prefix)
    )
    return results.result("window", case, record, metrics, threads=by_name)


if __name__ == "__main__":
    sys.exit(parsing.main(parse, sys.argv[1:]))
