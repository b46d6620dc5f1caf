"""Turn what `run` left in a case's directory into the one result schema.

`python parse.py DIR` prints the result as JSON. Anything missing, cut off or
not a finite number ends with status 1 and a line that names file and field.
Standard library only.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from _kit import parsing, results
from _kit.parsing import ParseError, only, positive, read_text


def pipe_ns(path: Path, loops: int) -> float:
    """Nanoseconds of a message there and back, from `perf bench sched pipe`."""
    text = read_text(path)
    only(r"^# Running '?(sched/pipe)'? benchmark:", text, path.name, "benchmark")
    executed = only(r"^# Executed (\d+) pipe operations between two", text, path.name, "operations")
    if executed != str(loops):
        raise ParseError(f"{path.name}: operations: {executed:.40}, but the case asked {loops}")
    total = positive(only(r"^ *Total time: (\S+) \[sec\]$", text, path.name, "Total time"),
                     path.name, "Total time")  # fmt: skip
    each = positive(only(r"^ *(\S+) usecs/op$", text, path.name, "usecs/op"), path.name, "usecs/op")
    only(r"^ *(\S+) ops/sec$", text, path.name, "ops/sec")
    # Half a millisecond in the total, half a picosecond in each, and perf cuts off.
    if abs(each * loops / 1e6 - total) > 0.0011 + loops * 1e-12:
        raise ParseError(f"{path.name}: usecs/op: {each!r:.40} × {loops} is not {total!r:.40} s")
    return each * 1000


def futex_ns(path: Path, seconds: int) -> float:
    """Nanoseconds of a wait that ends at once, from `perf bench futex hash` with one thread."""
    text = read_text(path)
    only(r"^# Running '?(futex/hash)'? benchmark:", text, path.name, "benchmark")
    said = only(r"^Averaged (\d+) operations/sec", text, path.name, "operations/sec")
    ran = only(r", total secs = (\d+)$", text, path.name, "total secs")
    if ran != str(seconds):
        raise ParseError(f"{path.name}: total secs: {ran:.40}, but the case asked {seconds}")
    return 1e9 / positive(said, path.name, "operations/sec")


def fault_ns(path: Path, loops: int) -> float:
    """Nanoseconds of a first write to a page."""
    content = parsing.read_object(path)
    pages = parsing.whole(content, path.name, "pages", 1)
    if pages != loops:
        raise ParseError(f"{path.name}: pages: {pages}, but the case asked {loops}")
    seconds = parsing.number(content, path.name, "seconds", most=1e6)
    if seconds <= 0:
        raise ParseError(f"{path.name}: seconds: {seconds!r} is not above 0")
    return seconds * 1e9 / pages


def parse(directory: Path) -> dict[str, Any]:
    """Result of the case in `directory`; ParseError if a file is not as promised."""
    case = parsing.checked_case(directory, test=str)
    record = parsing.read_object(directory / parsing.RUN_RECORD)
    test = case["parameters"]["test"]
    loops = parsing.whole(record, parsing.RUN_RECORD, "loops", 0)
    seconds = case["parameters"].get("seconds", 1)
    parsing.require_loops(case, loops)

    def nanoseconds(stem: str) -> float:
        path = directory / f"{stem}.txt"
        if test == "pipe":
            return pipe_ns(path, loops)
        return futex_ns(path, seconds) if test == "futex" else fault_ns(path, loops)

    result = results.timed_result(
        "paths", case, record, "time_per_operation", nanoseconds, work=loops
    )
    if test == "futex":
        each = result["metrics"]["time_per_operation"]["values"]
        result["operations"] = round(sum(seconds * 1e9 / ns for ns in each))
    return result


if __name__ == "__main__":
    sys.exit(parsing.main(parse, sys.argv[1:]))
