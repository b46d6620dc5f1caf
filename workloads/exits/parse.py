"""Turn what `run` left in a case's directory into the one result schema."""

from __future__ import annotations

import sys
from collections.abc import Iterable
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
    return parsing.whole(told, path.name, "nanoseconds", 1) / exits


def parse(directory: Path) -> dict[str, Any]:
    """Result of the case in `directory`; ParseError if a file is not as promised."""
    case = parsing.checked_case(directory, to=str, exits=int)
    exits = parsing.whole(case, "case.json", "parameters.exits", 1)
    record = parsing.read_object(directory / "run.json")
    pace = results.pace_of(record, case["iterations"])

    def values(kind: str, numbers: Iterable[int]) -> list[float]:
        return [time_per_exit_ns(directory / f"{kind}-{n:02}.json", exits) for n in numbers]

    metric = results.metric(
        "ns",
        "lower",
        values("warmup", range(1, case["warmup"] + 1)),
        values("iteration", pace.counted),
        disturbed=values("iteration", pace.disturbed),
    )
    return results.result(
        "exits",
        case,
        record,
        {"time_per_exit": metric},
        **pace.told(),
        operations=exits * case["iterations"],
    )


if __name__ == "__main__":
    sys.exit(parsing.main(parse, sys.argv[1:]))
