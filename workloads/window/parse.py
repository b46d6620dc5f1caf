"""Turn what `run` left in a case's directory into the one result schema. Standard library only."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from _kit import parsing, results
from _kit.parsing import ParseError, number, whole

MOST_SECONDS = 3600.0
MOST_THREADS = 1 << 22
# A processor can do no more of either in a second.
MOST_A_SECOND = 1e9
METRICS = {"wakeups": ("1/s", "lower"), "exits_per_second": ("1/s", "lower")}


def sample(path: Path, asked_s: int) -> dict[str, float]:
    """Metric → value of one window."""
    told, file = parsing.read_object(path), path.name
    seconds = number(told, file, "seconds", most=MOST_SECONDS)
    if seconds < asked_s:
        raise ParseError(f"{file}: seconds: {seconds:g}, but the case asked {asked_s}")
    whole(told, file, "threads", 1, MOST_THREADS)
    found = {"wakeups": whole(told, file, "wakeups", 0) / seconds}
    if "exits" in told:
        found["exits_per_second"] = whole(told, file, "exits", 0) / seconds
    for name, value in found.items():
        if value > MOST_A_SECOND:
            raise ParseError(f"{file}: {name}: {value:g} in a second is not possible")
    return found


def parse(directory: Path) -> dict[str, Any]:
    """Result of the case in `directory`; ParseError if a file is not as promised."""
    case = parsing.checked_case(directory, load=str, threads=str, seconds=int)
    record = parsing.read_object(directory / "run.json")
    asked_s = whole(case, "case.json", "parameters.seconds", 1)

    def samples(kind: str, count: int) -> list[dict[str, float]]:
        paths = [directory / f"{kind}-{index:02}.json" for index in range(1, count + 1)]
        return [sample(path, asked_s) for path in paths]

    warmup, iterations = samples("warmup", case["warmup"]), samples("iteration", case["iterations"])
    metrics = {
        name: results.metric(
            *METRICS[name], [w[name] for w in warmup], [i[name] for i in iterations]
        )
        for name in METRICS
        # Exits that KVM told of in some windows and not in others are absent.
        if all(name in one for one in (*warmup, *iterations))
    }
    return results.result("window", case, record, metrics)


if __name__ == "__main__":
    sys.exit(parsing.main(parse, sys.argv[1:]))
