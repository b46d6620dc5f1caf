"""Turn what `run` left in a case's directory into the one result schema.

`python parse.py DIR` prints the result as JSON. Anything missing, cut off or
not a finite number ends with status 1 and a line that names file and field.
Standard library only.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from _kit import parsing, results, seal
from _kit.counts import counts, per_operation, unit_of
from _kit.parsing import ParseError, only, positive, read_text
from _kit.wire.limits import MOST_ITERATIONS
from _kit.wire.result import Direction

# How many calls fit the time is tried beforehand, on a machine that may be busy just then.
LEAST_OF_FITTED = 1 / 3


def time_per_call_ns(path: Path, test: str, loops: int) -> float:
    """Nanoseconds per call in perf's output.

    `usecs/op` is the total in microseconds over the loops with six decimals; the
    total's line has milliseconds only. Both must agree to the total's rounding.
    """
    text = read_text(path)
    ran = only(r"^# Running '?syscall/(\w+)'? benchmark:", text, path.name, "benchmark")
    if ran != test:
        raise ParseError(f"{path.name}: benchmark: {ran!r:.40}, but the case asked {test!r}")
    executed = only(r"^# Executed ([\d,]+) \w+\(\) calls$", text, path.name, "calls")
    if executed.replace(",", "") != str(loops):
        raise ParseError(f"{path.name}: calls: {executed:.40}, but the case asked {loops}")
    total_s = only(r"^ *Total time: (\S+) \[sec\]$", text, path.name, "Total time")
    per_call_us = only(r"^ *(\S+) usecs/op$", text, path.name, "usecs/op")
    only(r"^ *(\S+) ops/sec$", text, path.name, "ops/sec")
    # Few calls may take less than the millisecond that is shown.
    total = 0.0 if total_s == "0.000" else positive(total_s, path.name, "Total time")
    per_call = positive(per_call_us, path.name, "usecs/op")
    # Half a millisecond in the total, half a picosecond in each call, and perf cuts off.
    if abs(per_call * loops / 1e6 - total) > 0.0011 + loops * 1e-12:
        raise ParseError(
            f"{path.name}: usecs/op: {per_call_us:.40} × {loops} calls is not the total of "
            f"{total_s:.40} s"
        )
    return per_call * 1000


def require_fitted(seconds: float, parameters: dict[str, Any], file: str) -> None:
    """Refuse a pass that was over long before the time that its calls were to take."""
    asked = parameters.get("seconds", 1)
    if not parameters.get("loops") and seconds < LEAST_OF_FITTED * asked:
        raise ParseError(f"{file}: Total time: {seconds:.3g} s, but the case asked {asked} s")


def counters(
    directory: Path, case: dict[str, Any], record: dict[str, Any], loops: int
) -> dict[str, tuple[str, Direction, Callable[[str], float]]]:
    """The counters that every pass of the case has; none where it was not asked for them."""
    if case["parameters"].get("counters", "no") != "yes" or "counters" not in record:
        return {}
    start = counts(directory / "start.csv")
    stems = sorted(path.stem for path in directory.glob("*-[0-9]*.txt"))
    if len(stems) > MOST_ITERATIONS:
        raise ParseError(f"more than {MOST_ITERATIONS} passes")
    read = {stem: per_operation(counts(directory / f"{stem}.csv"), start, loops) for stem in stems}
    common = set.intersection(*(set(found) for found in read.values())) if read else set()

    def reader(metric: str) -> Callable[[str], float]:
        return lambda stem: read[stem][metric]

    return {metric: (*unit_of(metric), reader(metric)) for metric in sorted(common)}


def raw_files(directory: Path) -> list[str]:
    """What `run` left of its passes: perf's output, and what it counted beside them."""
    found = [*directory.glob("*-[0-9]*.txt"), *directory.glob("*.csv")]
    return sorted(path.name for path in found)


def parse(directory: Path) -> dict[str, Any]:
    """Result of the case in `directory`; ParseError if a file is not as promised."""
    case = parsing.checked_case(directory, test=str)
    record = parsing.read_object(directory / parsing.RUN_RECORD)
    loops = parsing.whole(record, parsing.RUN_RECORD, "loops", 1)
    test = case["parameters"]["test"]
    parsing.require_loops(case, loops)

    def nanoseconds(stem: str) -> float:
        file = f"{stem}.txt"
        found = time_per_call_ns(directory / file, test, loops)
        require_fitted(found * loops / 1e9, case["parameters"], file)
        return found

    result = results.timed_result(
        "syscall", case, record, "time_per_call", nanoseconds, work=loops,
        more=counters(directory, case, record, loops),
    )  # fmt: skip
    # Last, so that what is wrong with a file is said before that it was changed.
    seal.require_whole(directory, record, raw_files(directory))
    return result


if __name__ == "__main__":
    sys.exit(parsing.main(parse, sys.argv[1:]))
