"""Turn what `run` left in a case's directory into the one result schema.

`python parse.py DIR` prints the result as JSON. Anything missing, cut off or
not a finite number ends with status 1 and a line that names file and field.
Standard library only.
"""

from __future__ import annotations

import json
import math
import re
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

SCHEMA = "mitigauge.result/1"
# A result holds no more; JSON's whole numbers are exact up to LARGEST.
MOST_ITERATIONS = 10_000
# As workload.yml has it.
MOST_RUNS = 99
LARGEST = 1 << 53


class ParseError(ValueError):
    """A raw file is not what `run` promises; the text names file and field."""


def read_object(path: Path) -> dict[str, Any]:
    """The JSON object in `path`."""
    try:
        content = json.loads(path.read_text())
    except FileNotFoundError:
        raise ParseError(f"{path.name}: missing") from None
    except UnicodeDecodeError as error:
        raise ParseError(f"{path.name}: not text: {error}") from None
    except (ValueError, RecursionError) as error:
        raise ParseError(f"{path.name}: not JSON, perhaps cut off: {error}") from None
    except OSError as error:
        raise ParseError(f"{path.name}: {error.strerror}") from None
    if not isinstance(content, dict):
        raise ParseError(f"{path.name}: holds no JSON object")
    return content


def field(content: dict[str, Any], file: str, name: str, kind: type) -> Any:
    """`content[name]`, where a dot in `name` steps into an object, if it is a `kind`."""
    value: Any = content
    for step in name.split("."):
        if not isinstance(value, dict) or step not in value:
            raise ParseError(f"{file}: {name}: missing")
        value = value[step]
    if not isinstance(value, kind) or isinstance(value, bool):
        raise ParseError(f"{file}: {name}: {value!r:.200} is not {kind.__name__}")
    return value


def only(pattern: str, text: str, file: str, name: str) -> str:
    """The group of `pattern` in `text`, where it must match once."""
    found: list[str] = re.findall(pattern, text, re.MULTILINE)
    if len(found) != 1:
        raise ParseError(f"{file}: {name}: found {len(found)} times, not once")
    return found[0]


def time_per_call_ns(path: Path, test: str, loops: int) -> float:
    """Nanoseconds per call in perf's output.

    `usecs/op` is the total in microseconds over the loops with six decimals; the
    total's line has milliseconds only. Both must agree to the total's rounding.
    """
    try:
        text = path.read_text()
    except FileNotFoundError:
        raise ParseError(f"{path.name}: missing") from None
    except (UnicodeDecodeError, OSError) as error:
        raise ParseError(f"{path.name}: not text: {error}") from None
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


def whole(content: dict[str, Any], file: str, name: str, least: int, most: int = LARGEST) -> int:
    """The whole number called `name` (with dots, as in `field`), from `least` to `most`."""
    value: int = field(content, file, name, int)
    if not least <= value <= most:
        raise ParseError(f"{file}: {name}: not from {least} to {most}")
    return value


def positive(text: str, file: str, name: str) -> float:
    """The finite number above 0 that `text` spells."""
    try:
        value = float(text)
    except ValueError:
        raise ParseError(f"{file}: {name}: {text!r:.40} is not a number") from None
    if not math.isfinite(value) or value <= 0:
        raise ParseError(f"{file}: {name}: {text!r:.40} is not a finite number above 0")
    return value


def checked_case(directory: Path) -> dict[str, Any]:
    """case.json with the fields that the rest relies on."""
    case = read_object(directory / "case.json")
    field(case, "case.json", "case_id", str)
    field(case, "case.json", "parameters.test", str)
    whole(case, "case.json", "iterations", 1, MOST_ITERATIONS)
    whole(case, "case.json", "warmup", 0, MOST_ITERATIONS)
    return case


@dataclass(frozen=True)
class Pace:
    """Which iterations count, and how slow the processor was beside each of them."""

    counted: list[int]
    slowdowns: list[float]
    limit: float

    @property
    def disturbed(self) -> list[int]:
        """Numbers of the iterations that do not count."""
        counted = set(self.counted)
        return [n for n in range(1, len(self.slowdowns) + 1) if n not in counted]

    def told(self) -> dict[str, Any]:
        """The result's `pace`; nothing where the loop was not timed."""
        if not self.limit:
            return {}
        return {
            "pace": {
                "limit": self.limit,
                "values": [self.slowdowns[number - 1] for number in self.counted],
                "disturbed": [self.slowdowns[number - 1] for number in self.disturbed],
            }
        }


def pace_of(record: dict[str, Any], iterations: int) -> Pace:
    """What run.json says of the pace; a profiled pass says nothing, and all of it counts."""
    if "pace" not in record:
        return Pace(list(range(1, iterations + 1)), [1.0] * iterations, 0.0)
    numbers = field(record, "run.json", "pace.counted", list)
    slowdowns = field(record, "run.json", "pace.slowdowns", list)
    limit = field(record, "run.json", "pace.limit", float)
    if len(slowdowns) > MOST_ITERATIONS:
        raise ParseError(f"run.json: pace.slowdowns: more than {MOST_ITERATIONS}")
    for value in [limit, *slowdowns]:
        number = isinstance(value, float | int) and not isinstance(value, bool)
        # A whole number may be too large to be asked whether it is finite.
        if not number or not 1 <= value <= LARGEST:
            raise ParseError(f"run.json: pace: {value!r:.40} is not a finite number from 1 up")
    known = all(type(number) is int and 1 <= number <= len(slowdowns) for number in numbers)
    if not known or len(numbers) != iterations or len(set(numbers)) != iterations:
        raise ParseError(
            f"run.json: pace.counted: {numbers!r:.200} are not {iterations} of "
            f"{len(slowdowns)} iterations"
        )
    return Pace(sorted(numbers), slowdowns, limit)


def runs_of(case: dict[str, Any]) -> int:
    """Runs to an iteration; one where the case does not say."""
    if "best_of" not in case["parameters"]:
        return 1
    return whole(case, "case.json", "parameters.best_of", 1, MOST_RUNS)


def files_of(directory: Path, iteration: str, runs: int) -> Iterator[Path]:
    """What perf said in each run of an iteration."""
    if runs == 1:
        yield directory / f"{iteration}.txt"
        return
    for run in range(1, runs + 1):
        yield directory / f"{iteration}.{run:02}.txt"


def parse(directory: Path) -> dict[str, Any]:
    """Result of the case in `directory`; ParseError if a file is not as promised."""
    case = checked_case(directory)
    record = read_object(directory / "run.json")
    loops = whole(record, "run.json", "loops", 1)
    test, best_of = case["parameters"]["test"], runs_of(case)

    def values(kind: str, numbers: Iterable[int]) -> list[float]:
        return [
            min(
                time_per_call_ns(path, test, loops)
                for path in files_of(directory, f"{kind}-{number:02}", best_of)
            )
            for number in numbers
        ]

    pace = pace_of(record, case["iterations"])
    return {
        "schema": SCHEMA,
        "workload": "syscall",
        "case_id": case["case_id"],
        "parameters": case["parameters"],
        "started_at": field(record, "run.json", "started_at", str),
        "finished_at": field(record, "run.json", "finished_at", str),
        "metrics": {
            "time_per_call": {
                "unit": "ns",
                "direction": "lower",
                "warmup": values("warmup", range(1, case["warmup"] + 1)),
                "values": values("iteration", pace.counted),
                "disturbed": values("iteration", pace.disturbed),
            }
        },
        **pace.told(),
        "operations": loops * best_of * case["iterations"],
        "lab_faults": field(record, "run.json", "lab_faults", list),
        "tools": field(record, "run.json", "tools", dict),
    }


def main(arguments: list[str]) -> int:
    """Print the result of the named directory; the status is 1 if there is none."""
    if len(arguments) != 1:
        print("usage: parse.py DIR", file=sys.stderr)
        return 2
    try:
        result = parse(Path(arguments[0]))
    except ParseError as error:
        print(f"{arguments[0]}: {error}", file=sys.stderr)
        return 1
    json.dump(result, sys.stdout, indent=1, allow_nan=False)
    print()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
