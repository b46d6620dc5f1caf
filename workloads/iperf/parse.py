"""Turn what `run` left in a case's directory into the one result schema.

`python parse.py DIR` prints the result as JSON. Anything missing, cut off or
not a finite number ends with status 1 and a line that names file and field.
Standard library only.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any, NoReturn

SCHEMA = "mitigauge.result/1"
# A result holds no more values, and none that is larger.
MOST_ITERATIONS = 10_000
LARGEST = 1e100


class ParseError(ValueError):
    """A raw file is not what `run` promises; the text names file and field."""


def read_object(path: Path) -> dict[str, Any]:
    """The JSON object in `path`; NaN and infinities, which JSON has not, are refused."""

    def refuse(constant: str) -> NoReturn:
        raise ParseError(f"{path.name}: {constant} is not a number")

    try:
        content = json.loads(path.read_text(), parse_constant=refuse)
    except FileNotFoundError:
        raise ParseError(f"{path.name}: missing") from None
    except UnicodeDecodeError as error:
        raise ParseError(f"{path.name}: not text: {error}") from None
    except ParseError:
        raise
    except (ValueError, RecursionError) as error:
        raise ParseError(f"{path.name}: not JSON, perhaps cut off: {error}") from None
    except OSError as error:
        raise ParseError(f"{path.name}: {error.strerror}") from None
    if not isinstance(content, dict):
        raise ParseError(f"{path.name}: holds no JSON object")
    return content


def field(content: dict[str, Any], file: str, name: str, *kinds: type) -> Any:
    """`content[name]`, where a dot in `name` steps into an object, if of one of `kinds`."""
    value: Any = content
    for step in name.split("."):
        if not isinstance(value, dict) or step not in value:
            raise ParseError(f"{file}: {name}: missing")
        value = value[step]
    if not isinstance(value, kinds) or isinstance(value, bool):
        wanted = " or ".join(kind.__name__ for kind in kinds)
        raise ParseError(f"{file}: {name}: {value!r:.200} is not {wanted}")
    return value


def number(content: dict[str, Any], file: str, name: str) -> float:
    """The finite number called `name` (with dots, as in `field`), not below 0."""
    value = field(content, file, name, int, float)
    # A whole number may be too large to be asked whether it is finite.
    if not 0 <= value <= LARGEST:
        raise ParseError(f"{file}: {name}: {value!r:.40} is not a finite number from 0 up")
    return float(value)


def sample(path: Path, case: dict[str, Any]) -> dict[str, float]:
    """Metric → value of one iperf3 test, in the units of workload.yml."""
    raw = read_object(path)
    if "error" in raw:
        raise ParseError(f"{path.name}: error: iperf3 reported {raw['error']!r:.500}")
    asked = case["parameters"]
    seen = {
        "start.test_start.protocol": asked["protocol"].upper(),
        "start.test_start.num_streams": asked["parallel"],
        "start.test_start.reverse": int(asked["direction"] == "guest-to-host"),
    }
    for name, expected in seen.items():
        value = field(raw, path.name, name, type(expected))
        if value != expected:
            told = f"{value!r:.200}, but the case asked {expected!r}"
            raise ParseError(f"{path.name}: {name}: {told}")
    throughput = number(raw, path.name, "end.sum_received.bits_per_second")
    if throughput == 0:
        raise ParseError(f"{path.name}: end.sum_received.bits_per_second: nothing was received")
    if asked["protocol"] == "tcp":
        retransmits = number(raw, path.name, "end.sum_sent.retransmits")
        return {"throughput": throughput, "retransmits": retransmits}
    loss = number(raw, path.name, "end.sum_received.lost_percent")
    if loss > 100:
        raise ParseError(f"{path.name}: end.sum_received.lost_percent: {loss} is above 100")
    jitter_ms = number(raw, path.name, "end.sum_received.jitter_ms")
    return {"throughput": throughput, "loss": loss, "jitter": jitter_ms / 1000}


METRICS = {
    "throughput": ("bit/s", "higher"),
    "retransmits": ("count", "lower"),
    "loss": ("percent", "lower"),
    "jitter": ("s", "lower"),
}


def checked_case(directory: Path) -> dict[str, Any]:
    """case.json with the fields that the rest relies on."""
    case = read_object(directory / "case.json")
    field(case, "case.json", "case_id", str)
    for name, kind in (("protocol", str), ("direction", str), ("parallel", int)):
        field(case, "case.json", f"parameters.{name}", kind)
    for name, least in (("iterations", 1), ("warmup", 0)):
        if not least <= field(case, "case.json", name, int) <= MOST_ITERATIONS:
            raise ParseError(f"case.json: {name}: not from {least} to {MOST_ITERATIONS}")
    return case


def parse(directory: Path) -> dict[str, Any]:
    """Result of the case in `directory`; ParseError if a file is not as promised."""
    case = checked_case(directory)
    record = read_object(directory / "run.json")
    warmup = [
        sample(directory / f"warmup-{index:02}.json", case)
        for index in range(1, case["warmup"] + 1)
    ]
    iterations = [
        sample(directory / f"iteration-{index:02}.json", case)
        for index in range(1, case["iterations"] + 1)
    ]
    return {
        "schema": SCHEMA,
        "workload": "iperf",
        "case_id": case["case_id"],
        "parameters": case["parameters"],
        "started_at": field(record, "run.json", "started_at", str),
        "finished_at": field(record, "run.json", "finished_at", str),
        "metrics": {
            name: {
                "unit": METRICS[name][0],
                "direction": METRICS[name][1],
                "warmup": [one[name] for one in warmup],
                "values": [one[name] for one in iterations],
            }
            for name in iterations[0]
        },
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
