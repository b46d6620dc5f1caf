"""Reading what `run` left: every field is checked, and what is wrong is named."""

from __future__ import annotations

import json
import math
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

from _kit.wire import case as cases
from _kit.wire import run_record
from _kit.wire.limits import LARGEST_VALUE, LARGEST_WHOLE, MOST_ITERATIONS

# Tools end a little early or late, and what is under way then is waited for.
LEAST_OF_TIME, MOST_OF_TIME, SPARE_S = 0.9, 1.5, 5.0

CASE, RUN_RECORD = cases.FILE, run_record.FILE


class ParseError(ValueError):
    """A raw file is not what `run` promises; the text names file and field."""


def read_text(path: Path) -> str:
    """The text in `path`."""
    try:
        return path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise ParseError(f"{path.name}: missing") from None
    except UnicodeDecodeError as error:
        raise ParseError(f"{path.name}: not text: {error}") from None
    except OSError as error:
        raise ParseError(f"{path.name}: {error.strerror}") from None


def read_object(path: Path) -> dict[str, Any]:
    """The JSON object in `path`; NaN and infinities, which JSON has not, are refused."""

    def refuse(constant: str) -> NoReturn:
        raise ParseError(f"{path.name}: {constant} is not a number")

    text = read_text(path)
    try:
        content = json.loads(text, parse_constant=refuse)
    except ParseError:
        raise
    except (ValueError, RecursionError) as error:
        raise ParseError(f"{path.name}: not JSON, perhaps cut off: {error}") from None
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


def number(content: dict[str, Any], file: str, name: str, *, most: float = LARGEST_VALUE) -> float:
    """The finite number called `name` (with dots, as in `field`), from 0 to `most`."""
    value = field(content, file, name, int, float)
    # A whole number may be too large to be asked whether it is finite.
    if not 0 <= value <= most:
        raise ParseError(f"{file}: {name}: {value!r:.40} is not a finite number from 0 up")
    return float(value)


def whole(
    content: dict[str, Any], file: str, name: str, least: int, most: int = LARGEST_WHOLE
) -> int:
    """The whole number called `name` (with dots, as in `field`), from `least` to `most`."""
    value: int = field(content, file, name, int)
    if not least <= value <= most:
        raise ParseError(f"{file}: {name}: not from {least} to {most}")
    return value


def require_loops(case: dict[str, Any], loops: int) -> None:
    """Refuse another number of loops than the case asked; 0 asks for what fits the time."""
    asked = case["parameters"].get("loops", 0)
    if asked and asked != loops:
        raise ParseError(f"{RUN_RECORD}: loops: {loops}, but the case asked {asked}")


def require_time(seconds: float, asked: float, file: str, name: str) -> None:
    """Refuse a run that took much less or much longer than the `asked` seconds."""
    if not LEAST_OF_TIME * asked <= seconds <= MOST_OF_TIME * asked + SPARE_S:
        raise ParseError(f"{file}: {name}: {seconds:g} s, but the case asked {asked:g} s")


def positive(text: str, file: str, name: str) -> float:
    """The finite number above 0 that `text` spells."""
    try:
        value = float(text)
    except ValueError:
        raise ParseError(f"{file}: {name}: {text!r:.40} is not a number") from None
    if not math.isfinite(value) or value <= 0:
        raise ParseError(f"{file}: {name}: {text!r:.40} is not a finite number above 0")
    return value


def only(pattern: str, text: str, file: str, name: str) -> str:
    """The group of `pattern` in `text`, where it must match once."""
    found: list[str] = re.findall(pattern, text, re.MULTILINE)
    if len(found) != 1:
        raise ParseError(f"{file}: {name}: found {len(found)} times, not once")
    return found[0]


def checked_case(directory: Path, **parameters: type) -> dict[str, Any]:
    """case.json with the fields that the rest relies on, and `parameters` of these types."""
    case = read_object(directory / CASE)
    field(case, CASE, "case_id", str)
    for name, kind in parameters.items():
        field(case, CASE, f"parameters.{name}", kind)
    whole(case, CASE, "iterations", 1, MOST_ITERATIONS)
    whole(case, CASE, "warmup", 0, MOST_ITERATIONS)
    return case


def main(parse: Callable[[Path], dict[str, Any]], arguments: list[str]) -> int:
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
