"""Turn what `run` left in a case's directory into the one result schema."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from _kit import parsing, results


def time_per_exit_ns(path: Path, exits: int) -> float:
    """Nanoseconds per exit of one iteration."""
    told = parsing.read_object(path)
    made = parsing.whole(told, path.name, "exits", 1)
    if made != exits:
        raise parsing.ParseError(f"{path.name}: exits: {made}, but the case asked {exits}")
    nanoseconds = parsing.whole(told, path.name, "nanoseconds", 1)
    began, ended = (parsing.whole(told, path.name, name, 0) for name in ("began_ns", "ended_ns"))
    if ended - began != nanoseconds:
        raise parsing.ParseError(
            f"{path.name}: nanoseconds: {nanoseconds} is not the time from began to ended"
        )
    return nanoseconds / exits


def parse(directory: Path) -> dict[str, Any]:
    """Result of the case in `directory`; ParseError if a file is not as promised."""
    case = parsing.checked_case(directory, to=str, exits=int)
    exits = parsing.whole(case, parsing.CASE, "parameters.exits", 1)
    record = parsing.read_object(directory / parsing.RUN_RECORD)

    def nanoseconds(stem: str) -> float:
        return time_per_exit_ns(directory / f"{stem}.json", exits)

    return results.timed_result("exits", case, record, "time_per_exit", nanoseconds, work=exits)


if __name__ == "__main__":
    sys.exit(parsing.main(parse, sys.argv[1:]))
