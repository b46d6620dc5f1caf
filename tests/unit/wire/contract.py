"""The facts of the contract with hosts, and a search for sources that define one of them again."""

from __future__ import annotations

import ast
import importlib
import operator
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal, get_args, get_origin, is_typeddict

from mitigauge.core.settings import REPOSITORY

WIRE = REPOSITORY / "mitigauge/core/wire"
# Both sides, and whatever else is programmed here.
SIDES = ("workloads", "ansible", "mitigauge", "pipelines", "api", "cli", "lab")
# Where what passes between them is written or read: a number from TELLING_NUMBER up is taken for a
# limit by its value alone here, but for the size of a buffer. Any other one is by its value and a
# word of its name.
BOUNDARY = (
    "workloads/_kit", "ansible/roles/workload", "mitigauge/measurement/collectors",
    "mitigauge/measurement/results",
    "mitigauge/analysis/profiles/capture", "pipelines/steps",
)  # fmt: skip
TELLING_NUMBER, BUFFER = 8192, 1 << 16
# Words of names that limits of anything have.
COMMON_WORDS = {"most", "longest", "largest", "highest", "least", "limit", "bytes", "s", "of", "a"}
# A collection is a fact's where so many of its texts are, and so many of the fact's are in it.
LEAST_SHARED, PART_OF_LITERAL, PART_OF_FACT = 3, 2 / 3, 0.6
OPERATORS: Mapping[type, Callable[[Any, Any], Any]] = {
    ast.LShift: operator.lshift, ast.Sub: operator.sub, ast.Mult: operator.mul,
    ast.Pow: operator.pow, ast.Add: operator.add,
}  # fmt: skip


@dataclass(frozen=True)
class Facts:
    """What a source of either side may use, and not write."""

    texts: Mapping[str | bytes, str]
    """File names, names of events and variables, patterns → which constant holds it."""
    numbers: Mapping[str, float]
    names: Mapping[str, frozenset[str]]
    """Names of columns and collectors, and of the fields of each shape."""


@cache
def facts() -> Facts:
    """All of the contract's facts."""
    texts: dict[str | bytes, str] = {}
    numbers: dict[str, float] = {}
    names: dict[str, frozenset[str]] = {}
    for path in sorted(WIRE.glob("[a-z]*.py")):
        module = importlib.import_module(f"mitigauge.core.wire.{path.stem}")
        for name, value in vars(module).items():
            where = f"{path.stem}.{name}"
            if is_typeddict(value) and value.__module__ == module.__name__:
                names[where] = frozenset(value.__annotations__)
            elif get_origin(value) is Literal:
                names[where] = frozenset(get_args(value))
            elif name.isupper():
                _take(where, value, texts, numbers, names)
    return Facts(texts, numbers, {key: of for key, of in names.items() if len(of) >= LEAST_SHARED})


def _take(
    where: str,
    value: object,
    texts: dict[str | bytes, str],
    numbers: dict[str, float],
    names: dict[str, frozenset[str]],
) -> None:
    if isinstance(value, re.Pattern):
        texts[value.pattern] = where
    elif isinstance(value, str | bytes):
        if isinstance(value, bytes) or re.search(r"[:/.]\w|^MITIGAUGE_", value):
            texts[value] = where
    elif isinstance(value, int | float):
        numbers[where] = value
    elif isinstance(value, Mapping):
        names[where] = _strings(value) or _strings(value.values())
    elif isinstance(value, tuple | frozenset):
        names[where] = _strings(value)
        texts.update((one, where) for one in value if isinstance(one, bytes))


def _strings(values: Iterable[object]) -> frozenset[str]:
    return frozenset(one for one in values if isinstance(one, str))


MADE = {REPOSITORY / "mitigauge" / "client" / name for name in ("operations.py", "shapes.py")}


def sources() -> Iterator[Path]:
    """Every program of either side but the contract itself, and what is made of the API."""
    for side in SIDES:
        for path in sorted((REPOSITORY / side).rglob("*")):
            is_program = path.suffix == ".py" or path.name == "run"
            if is_program and path.is_file() and not path.is_relative_to(WIRE) and path not in MADE:
                yield path


def defined_again(source: str, place: str = BOUNDARY[0]) -> dict[str, int]:
    """What the source at *place* writes itself of the facts → the line on which it stands."""
    telling = TELLING_NUMBER if place.startswith(BOUNDARY) else float("inf")
    return {
        again: getattr(node, "lineno", 0)
        for node in ast.walk(ast.parse(source))
        for again in (*_texts(node), *_numbers(node, telling), *_names(node))
    }


def _texts(node: ast.AST) -> Iterator[str]:
    """A file's name is one behind a directory, too."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str | bytes):
        value = node.value
        last = value.rpartition("/")[2] if isinstance(value, str) else value
        if value in facts().texts or last in facts().texts:
            yield f"{value!r}"


def _numbers(node: ast.AST, telling: float) -> Iterator[str]:
    """Constants that are assigned, and arguments."""
    for name, value in _given(node):
        number = _number(value)
        known = {fact for fact, limit in facts().numbers.items() if limit == number}
        by_value = number is not None and number >= telling and number != BUFFER
        if (known and by_value) or any(_share_a_word(name, fact) for fact in known):
            yield f"{name or 'argument'} = {number:g}"


def _share_a_word(name: str, fact: str) -> bool:
    words, of_fact = (
        set(one.lower().split("_")) - COMMON_WORDS for one in (name, fact.partition(".")[2])
    )
    return bool(words & of_fact)


def _given(node: ast.AST) -> Iterator[tuple[str, ast.expr]]:
    """Name and value; an argument of what makes a field goes by the field's name."""
    match node:
        case ast.AnnAssign(target=ast.Name(id=name), value=ast.Call(args=[first, *_])):
            yield name, first
        case ast.Assign(targets=[ast.Name(id=name)], value=value):
            yield name, value
        case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value):
            yield name, value
        case ast.keyword(arg=str(name), value=value):
            yield name, value
        case ast.Call(args=parts) | ast.Compare(comparators=parts):
            yield from (("", part) for part in parts)


def _number(node: ast.expr) -> float | None:
    """The number that an expression without names is."""
    match node:
        case ast.Constant(value=int() | float() as value) if not isinstance(value, bool):
            return value
        case ast.BinOp(left=left, op=op, right=right) if type(op) in OPERATORS:
            a, b = _number(left), _number(right)
            if a is not None and b is not None and abs(a) < 1e6 and abs(b) < 100:
                return float(OPERATORS[type(op)](a, b))
    return None


def _names(node: ast.AST) -> Iterator[str]:
    """Collections of texts, keys of mappings, fields of classes."""
    written = frozenset(_written(node))
    if not written:
        return
    for known in facts().names.values():
        shared = len(written & known)
        if (
            shared >= LEAST_SHARED
            and shared >= PART_OF_LITERAL * len(written)
            and shared >= PART_OF_FACT * len(known)
        ):
            what = getattr(node, "name", "")
            yield what or ", ".join(sorted(written))


def _written(node: ast.AST) -> Iterator[str]:
    match node:
        case ast.Tuple(elts=parts) | ast.List(elts=parts) | ast.Set(elts=parts):
            yield from _constants(parts)
        case ast.Dict(keys=keys, values=values):
            named = list(_constants([key for key in keys if key is not None]))
            yield from named or _constants(values)
        case ast.ClassDef(body=body):
            fields = [one for one in body if isinstance(one, ast.AnnAssign)]
            yield from (one.target.id for one in fields if isinstance(one.target, ast.Name))


def _constants(nodes: list[ast.expr]) -> Iterator[str]:
    for node in nodes:
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value
