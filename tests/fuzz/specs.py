"""Malformed specs: one at a time, from real ones and from what is known to hurt parsers."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any

from mitigauge.core.errors import InvalidInput
from mitigauge.core.settings import REPOSITORY
from mitigauge.core.yaml_file import parse_yaml
from mitigauge.measurement.catalog import Catalog
from mitigauge.measurement.experiments.spec import read_spec
from mitigauge.measurement.experiments.spec_faults import KnownHost
from mitigauge.measurement.experiments.spec_model import ExperimentSpec, cases_of
from tests.specs import markers

CATALOG = Catalog()
HOSTS = {
    "lab": {
        "lab-amd": KnownHost("lab-amd", frozenset({"kvm"})),
        "lab-intel": KnownHost("lab-intel", frozenset()),
    }
}
SEEDS = [path.read_text("utf-8") for path in sorted(REPOSITORY.glob("experiments/*.yml"))]
# Pieces that mean something to a YAML parser, to Python's numbers, or to a database.
PIECES = [
    *("&a ", "*a", "<<: *a", "!!python/object/apply:os.system ['true']", "!x ", "---\n", "...\n"),
    *(
        "%YAML 1.1\n",
        "%TAG ! x:\n",
        "? ",
        "- ",
        ": ",
        "|\n",
        ">-\n  ",
        "{",
        "}",
        "[",
        "]",
        "'",
        '"',
    ),
    *("\0", "\x1b[2J", "\x85", "\u2028", "\ufeff", "\ud800", "\t", "\r", "#", ",", "@", "`"),
    *(".nan", "-.inf", "1e400", "9" * 50, "9" * 5000, "0x" + "f" * 60, "1_000", "2026-01-01"),
    *("null", "~", "true", "off", '"\\0"', '"\\ud800"', '"\\x9b"', "''", "=", "<<", "é", "😀"),
]
VALUES: list[Any] = [
    *(None, True, False, 0, -1, 1, 2**31, 2**63, 2**200, 10**400, 0.5, -0.0, 1e308),
    *("", " ", "off", "a" * 64, "a" * 11_000, "../../etc/passwd", "a/b/c", "all", "*", "٣"),
    *([], {}, [[]], [{}], {"": ""}, {"a": {"a": {"a": {}}}}, [1] * 2000, list(range(2000))),
]


def once(random: random.Random, scratch: Path) -> str:
    """Read one malformed spec with the real catalogue: ``refused`` or ``taken``.

    Whatever else is raised than a refusal is a fault of ours, as is a marker that was obeyed.
    """
    canary = scratch / "evaluated"
    text = random.choice(MAKERS)(random, canary)
    try:
        spec = read_spec(text, name="fuzz.yml", catalog=CATALOG, hosts=HOSTS)
        _require_cases(spec)
    except InvalidInput as refused:
        _require_short(str(refused))
        return "refused"
    finally:
        if canary.exists():
            raise AssertionError("a marker in a spec was evaluated")
    return "taken"


def _require_cases(spec: ExperimentSpec) -> None:
    """What was taken can be made into cases, as a submission does."""
    for comparison in spec.comparisons:
        for wanted in comparison.workloads:
            workload = CATALOG.workloads[wanted.workload]
            for case in cases_of(workload, wanted):
                if (
                    not 0 <= workload.seconds_of(case, 1000) < 1e12
                    or len(workload.title_of(case)) > 500
                ):
                    raise AssertionError(f"a case of no measure: {case}")


def _require_short(message: str) -> None:
    if len(message) > 10_000 or not all(c.isprintable() or c == "\n" for c in message):
        raise AssertionError(f"a refusal of {len(message)} characters: {message[:200]!r}")


def _bytes_changed(random: random.Random, _: Path) -> str:
    """A real spec with some bytes flipped, cut, doubled or put in."""
    data = bytearray(random.choice(SEEDS).encode())
    for _unused in range(random.choice((1, 1, 2, 5, 30))):
        at = random.randrange(len(data))
        match random.randrange(4):
            case 0:
                data[at] = random.randrange(256)
            case 1:
                del data[at : at + random.randrange(1, 40)]
            case 2:
                data[at:at] = data[at : at + random.randrange(1, 200)]
            case _:
                data[at:at] = bytes(random.randrange(256) for _ in range(random.randrange(1, 9)))
        data = data or bytearray(b"a")
    return data.decode("utf-8", random.choice(("replace", "surrogateescape", "ignore")))


def _pieces_put_in(random: random.Random, _: Path) -> str:
    """A real spec with pieces of YAML where they do not belong."""
    text = random.choice(SEEDS)
    for _unused in range(random.choice((1, 1, 2, 4))):
        at = random.randrange(len(text) + 1)
        text = text[:at] + random.choice(PIECES) + text[at + random.choice((0, 0, 1, 20)) :]
    return text


def _structure_changed(random: random.Random, canary: Path) -> str:
    """A real spec whose values are other ones, or elsewhere, or missing."""
    document = parse_yaml(random.choice(SEEDS), "seed").data
    for _unused in range(random.choice((1, 1, 2, 3))):
        places = list(_places(document))
        if not places:
            break
        holder, key = random.choice(places)
        match random.randrange(5):
            case 0:
                del holder[key]
            case 1:
                other, there = random.choice(places)
                holder[key] = deepcopy(other[there])
            case 2:
                holder[key] = random.choice(markers(canary))
            case 3 if isinstance(holder, dict):
                holder[random.choice([*PIECES, *markers(canary), "name", "kernel"])] = deepcopy(
                    holder[key]
                )
            case _:
                holder[key] = deepcopy(random.choice(VALUES))
    return _written(document)


def _places(node: Any) -> Iterator[tuple[Any, Any]]:
    """All (mapping or list, key or position) in *node*."""
    if isinstance(node, dict | list):
        for key in list(node) if isinstance(node, dict) else range(len(node)):
            yield node, key
            yield from _places(node[key])


def _written(value: Any) -> str:
    """*value* in YAML's flow style, unquoted as often as not."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_written(k)}: {_written(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(_written(item) for item in value) + "]"
    if isinstance(value, str):
        escaped = value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
        return f'"{escaped}"' if len(value) % 3 else value or '""'
    return "null" if value is None else str(value).lower()


def _bomb(random: random.Random, _: Path) -> str:
    """A short or long text that multiplies, nests, or goes on."""
    many = random.choice((3, 19, 21, 200, 3000))
    unit = random.choice(
        ("[", "{a: ", "- ", "? ", "[1,", "{a: 1, b: [", "'", "&a [", "!!x {", "|\n ")
    )
    match random.randrange(5):
        case 0:
            rows = ["a: &a0 [x]"]
            rows += [f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 9)}]" for i in range(1, 9)]
            bomb = "\n".join(rows)
        case 1:
            bomb = "x: " + unit * many
        case 2:
            bomb = "\n".join(" " * i + "- a:" for i in range(min(many, 300)))
        case 3:
            axes = ", ".join(
                f"{name}: {list(range(min(many, 999)))}" for name in ("loops", "seconds")
            )
            return random.choice(SEEDS).replace("{test: basic, loops: 200000}", f"{{{axes}}}")
        case _:
            bomb = "".join(f"k{i}: {unit}\n" for i in range(many))
    return random.choice(SEEDS) + bomb + "\n"


def _a_marker_in(random: random.Random, canary: Path) -> str:
    """A real spec with a template or a command in place of one of its words."""
    text = random.choice(SEEDS)
    words = [word for word in text.split() if word.isalnum()]
    word, marker = random.choice(words), random.choice(markers(canary))
    quoted = marker.replace("'", "''").replace("\n", " ")
    return text.replace(word, random.choice((marker, f"'{quoted}'", f"[{word}, '{quoted}']")))


MAKERS: list[Callable[[random.Random, Path], str]] = [
    _bytes_changed,
    _pieces_put_in,
    _structure_changed,
    _bomb,
    _a_marker_in,
]
