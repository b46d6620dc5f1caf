"""Turn what `run` left in a case's directory into the one result schema."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from _kit import parsing, results, seal
from _kit.parsing import ParseError
from printed import TESTS, cycles_in


def cycles(path: Path, test: str) -> float:
    """Cycles an operation of one pass."""
    try:
        return float(cycles_in(parsing.read_text(path), test))
    except ValueError as error:
        raise ParseError(f"{path.name}: {error}") from None


def parse(directory: Path) -> dict[str, Any]:
    """Result of the case in `directory`; ParseError if a file is not as promised."""
    case = parsing.checked_case(directory, test=str)
    record = parsing.read_object(directory / parsing.RUN_RECORD)
    test = case["parameters"]["test"]
    if test not in TESTS:
        raise ParseError(f"{parsing.CASE}: parameters.test: {test!r:.60} is none of the tests")
    pace = results.pace_of(record, case["iterations"])

    def values(kind: str, numbers: Iterable[int]) -> list[float]:
        return [cycles(directory / f"{kind}-{number:02}.log", test) for number in numbers]

    told = results.metric(
        "cycles/op", "lower", values("warmup", range(1, case["warmup"] + 1)),
        values("iteration", pace.counted), disturbed=values("iteration", pace.disturbed),
    )  # fmt: skip
    names = sorted(path.name for path in directory.glob("*-[0-9]*.log"))
    seal.require_whole(directory, record, names)
    metrics = {"cycles_per_operation": told}
    result: dict[str, Any] = results.result("vmexit", case, record, metrics, **pace.told())
    return result


if __name__ == "__main__":
    sys.exit(parsing.main(parse, sys.argv[1:]))
