"""Turn what `run` left in a case's directory into the one result schema."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from _kit import parsing, results, seal
from _kit.parsing import ParseError

# Ways whose calls are timed one by one, with something else between them.
ONE_BY_ONE = ("warm", "cold-l1", "cold-l2")


def time_per_operation_ns(path: Path, way: str, operations: int) -> float:
    """Nanoseconds per operation of one pass."""
    told = parsing.read_object(path)
    made = parsing.whole(told, path.name, "operations", 1)
    if made != operations:
        raise ParseError(f"{path.name}: operations: {made}, but run.json says {operations}")
    nanoseconds = parsing.whole(told, path.name, "nanoseconds", 1)
    began, ended = (parsing.whole(told, path.name, name, 0) for name in ("began_ns", "ended_ns"))
    within = nanoseconds <= ended - began if way in ONE_BY_ONE else nanoseconds == ended - began
    if not within:
        raise ParseError(
            f"{path.name}: nanoseconds: {nanoseconds} is not the time from began to ended"
        )
    return nanoseconds / operations


def parse(directory: Path) -> dict[str, Any]:
    """Result of the case in `directory`; ParseError if a file is not as promised."""
    case = parsing.checked_case(directory, way=str)
    record = parsing.read_object(directory / parsing.RUN_RECORD)
    operations = parsing.whole(record, parsing.RUN_RECORD, "loops", 1)
    way = case["parameters"]["way"]

    def nanoseconds(stem: str) -> float:
        return time_per_operation_ns(directory / f"{stem}.json", way, operations)

    result = results.timed_result(
        "entries", case, record, "time_per_operation", nanoseconds, work=operations
    )
    seal.require_whole(
        directory, record, sorted(path.name for path in directory.glob("*-[0-9]*.json"))
    )
    return result


if __name__ == "__main__":
    sys.exit(parsing.main(parse, sys.argv[1:]))
