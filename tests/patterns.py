"""Patterns of the tree, wherever they are written, and texts that may keep one busy."""

from __future__ import annotations

import ast
import importlib
import pkgutil
import re
import re._parser as parser  # type: ignore[import-not-found, unused-ignore]
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from mitigauge.core.settings import REPOSITORY

# Programs of ours: what can be imported of them, and what lies beside.
PACKAGES = ("mitigauge", "cli", "api", "pipelines")
FOLDERS = (*PACKAGES, "workloads", "lab", "ansible", "bench")
WAYS = ("match", "search", "fullmatch", "finditer", "findall", "sub", "subn", "split")
# Keywords by which pydantic, typer and FastAPI are given a pattern; they look for it anywhere.
KEYWORDS = {"pattern", "regex", "formed"}
# Runs that no pattern has to name, to be slow on.
RUNS = (" ", "\t", "\n", "0", "a", "-", "(", "a ", "0 ", "- ", "a\n", " \n", "/a", "a.")
MOST_ATOMS = 60
# Characters kept of what comes before a part, and times that a part is written where it must be.
LONGEST_BEFORE, MOST_REPEATS = 200, 50

Text = str | bytes


@dataclass
class Used:
    """A pattern, where it is written, and how it is applied."""

    place: str
    compiled: re.Pattern[Any]
    ways: set[str] = field(default_factory=set)


@dataclass(frozen=True)
class Written:
    """A pattern in a file. *name*: of the variable that holds it; *way*: of a call, if any."""

    line: int
    name: str
    pattern: Text
    flags: int
    way: str


def constant(node: ast.expr, names: dict[str, Text]) -> Text | None:
    """A text that is put together of constants, names that are known, and patterns by name."""
    match node:
        case ast.Constant(value=str() | bytes() as text):
            return text
        case ast.Name(id=name) | ast.Attribute(value=ast.Name(id=name), attr="pattern"):
            return names.get(name)
        case ast.Call(func=ast.Attribute(attr="escape"), args=[_]):
            # Whatever it is, it stands for itself.
            return "esc"
        case ast.BinOp(op=ast.Add()):
            return _added(node, names)
        case ast.JoinedStr(values=values):
            return _joined(values, names)
    return None


def _added(node: ast.BinOp, names: dict[str, Text]) -> Text | None:
    one, other = constant(node.left, names), constant(node.right, names)
    if isinstance(one, str) and isinstance(other, str):
        return one + other
    return one + other if isinstance(one, bytes) and isinstance(other, bytes) else None


def _joined(values: Sequence[ast.expr], names: dict[str, Text]) -> str:
    parts = []
    for value in values:
        inner = value.value if isinstance(value, ast.FormattedValue) else value
        text = constant(inner, names)
        # What is not known here is a word.
        parts.append(text if isinstance(text, str) else "word")
    return "".join(parts)


def _assigned(tree: ast.AST) -> Iterator[tuple[str, ast.expr]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
            for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                if isinstance(target, ast.Name):
                    yield target.id, node.value


def _names_of(tree: ast.AST) -> dict[str, Text]:
    """Variable → its text, or that of the pattern that it holds."""
    names: dict[str, Text] = {}
    for name, value in _assigned(tree):
        text = constant(value, names)
        if text is None and isinstance(value, ast.Call) and value.args:
            text = constant(value.args[0], names)
        if text is not None:
            names[name] = text
    return names


def _flags_of(call: ast.Call) -> int:
    """Flags named anywhere among the arguments behind the pattern."""
    flags = 0
    for argument in (*call.args[1:], *(keyword.value for keyword in call.keywords)):
        for node in ast.walk(argument):
            match node:
                case ast.Attribute(value=ast.Name(id="re"), attr=name):
                    flags |= int(getattr(re, name, 0))
    return flags


def patterns_in(tree: ast.AST) -> Iterator[Written]:
    """All patterns that a file writes."""
    names = _names_of(tree)
    owners = {id(node): name for name, value in _assigned(tree) for node in ast.walk(value)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            yield from _in_call(node, owners.get(id(node), ""), names)


def _in_call(node: ast.Call, owner: str, names: dict[str, Text]) -> Iterator[Written]:
    match node.func:
        case ast.Attribute(value=ast.Name(id="re"), attr=way) if node.args:
            text = constant(node.args[0], names) if way in ("compile", *WAYS) else None
            if text is not None:
                used = "" if way == "compile" else way
                yield Written(node.lineno, owner, text, _flags_of(node), used)
    for keyword in node.keywords:
        text = constant(keyword.value, names) if keyword.arg in KEYWORDS else None
        if text is not None:
            yield Written(keyword.value.lineno, "", text, 0, "search")


def imported() -> Iterator[tuple[str, re.Pattern[Any]]]:
    """(name, pattern) of modules that were imported: in them, in their classes and containers."""
    for name, module in sorted(sys.modules.items()):
        # Ansible itself has the name of a folder of ours.
        file = getattr(module, "__file__", None) or ""
        is_ours = file.startswith(str(REPOSITORY)) and "site-packages" not in file
        if name.partition(".")[0] in FOLDERS and is_ours:
            for attribute, value in sorted(vars(module).items()):
                for each in _held(value, 3):
                    yield f"{name}.{attribute}", each


def _folder(of: type) -> str:
    # A class that stands for another one may have a property of this name.
    return str(of.__module__).partition(".")[0]


def _held(value: object, depth: int) -> Iterator[re.Pattern[Any]]:
    inner: Sequence[object] = ()
    if isinstance(value, re.Pattern):
        yield value
    elif isinstance(value, dict):
        inner = (*value.keys(), *value.values())
    elif isinstance(value, tuple | list | set | frozenset):
        inner = tuple(value)
    elif isinstance(value, type) and _folder(value) in FOLDERS:
        inner = tuple(vars(value).values())
    for each in inner if depth else ():
        yield from _held(each, depth - 1)


def applied(text: str) -> dict[str, set[str]]:
    """Variable → the ways in which a file applies it, if it is a pattern."""
    ways: dict[str, set[str]] = {}
    for name, way in re.findall(r"\b([A-Za-z_]\w*+)\.(\w++)", text):
        if way in WAYS:
            ways.setdefault(name, set()).add(way)
    return ways


def files() -> list[Path]:
    """Programs in Python, in order."""
    found = [path for folder in FOLDERS for path in (REPOSITORY / folder).rglob("*.py")]
    return sorted(path for path in found if "node_modules" not in path.parts)


def _import_all() -> None:
    for name in PACKAGES:
        package = importlib.import_module(name)
        for info in pkgutil.walk_packages(package.__path__, f"{name}."):
            # Programs run where they are imported; what cannot be imported is read as text.
            if not info.name.rpartition(".")[2].startswith("_"):
                with suppress(Exception):
                    importlib.import_module(info.name)


@cache
def all_patterns() -> dict[tuple[Text, int], Used]:
    """By pattern and flags, each with every way in which its name is applied."""
    _import_all()
    found: dict[tuple[Text, int], Used] = {}
    sources = {path: path.read_text("utf-8") for path in files()}
    everywhere: dict[str, set[str]] = {}
    for text in sources.values():
        for name, ways in applied(text).items():
            everywhere.setdefault(name, set()).update(ways)
    for path, text in sources.items():
        calls = {**everywhere, **applied(text)}
        for each in patterns_in(ast.parse(text)):
            # What does not compile is a piece that is put into others.
            with suppress(re.error):
                compiled = re.compile(each.pattern, each.flags)
                place = f"{path.relative_to(REPOSITORY)}:{each.line}"
                used = found.setdefault((compiled.pattern, compiled.flags), Used(place, compiled))
                used.ways.update({each.way} if each.way else calls.get(each.name, set()))
    for name, compiled in imported():
        ways = everywhere.get(name.rpartition(".")[2], set())
        found.setdefault((compiled.pattern, compiled.flags), Used(name, compiled, set(ways)))
    return found


def attacks(compiled: re.Pattern[Any]) -> list[tuple[str, str]]:
    """(head, what is repeated behind it) of texts that may keep a pattern busy."""
    parsed = parser.parse(compiled.pattern, compiled.flags & ~re.UNICODE)
    found: dict[tuple[str, str], None] = {}
    for before, unit in list(_atoms(parsed, ""))[:MOST_ATOMS]:
        if unit:
            found[before, unit] = None
            found["", unit] = None
    for unit in (*RUNS, sample(parsed)):
        if unit:
            found["", unit] = None
    return list(found)


def _atoms(parsed: Any, before: str) -> Iterator[tuple[str, str]]:
    """(what comes before, a text that fits) of each part of a pattern."""
    for operation, argument in parsed:
        yield before, sample([(operation, argument)])
        for inner in _inner(str(operation), argument):
            yield before, sample(inner)
            yield from _atoms(inner, before)
        before = (before + sample([(operation, argument)]))[-LONGEST_BEFORE:]


def _inner(name: str, argument: Any) -> list[Any]:
    """The patterns that a part is made of."""
    if name.endswith("REPEAT"):
        return [argument[2]]
    if name == "BRANCH":
        return list(argument[1])
    if name in ("ASSERT", "ASSERT_NOT"):
        return [argument[1]]
    return {"SUBPATTERN": [argument[-1]] if isinstance(argument, tuple) else [],
            "ATOMIC_GROUP": [argument]}.get(name, [])  # fmt: skip


def sample(parsed: Any) -> str:
    """A text that fits a pattern, what repeats as often as it must, at least once."""
    return "".join(_sample(str(operation), argument) for operation, argument in parsed)


def _sample(name: str, argument: Any) -> str:
    if name == "LITERAL":
        return chr(argument)
    if name in ("ANY", "NOT_LITERAL"):
        return "b" if argument == ord("a") else "a"
    if name == "IN":
        return _of_set(argument)
    if name.startswith("ASSERT"):
        return ""
    inner = "".join(sample(each) for each in _inner(name, argument)[:1])
    return inner * max(1, min(int(argument[0]), MOST_REPEATS)) if "REPEAT" in name else inner


# A character of each kind that a set may name by a letter.
KINDS = {"SPACE": " ", "DIGIT": "0", "WORD": "a", "NOT_WORD": " "}


def _of_set(items: Any) -> str:
    if any(str(name) == "NEGATE" for name, _ in items):
        others = [item for item in items if str(item[0]) != "NEGATE"]
        return next((c for c in "a0 -x.\"'" if not any(_has(item, c) for item in others)), "~")
    name, value = items[0]
    if str(name) == "CATEGORY":
        return KINDS.get(str(value).removeprefix("CATEGORY_"), "a")
    return chr(value[0] if str(name) == "RANGE" else value)


def _has(item: tuple[Any, Any], letter: str) -> bool:
    name, value = item
    if str(name) == "LITERAL":
        return bool(chr(value) == letter)
    if str(name) == "RANGE":
        return bool(value[0] <= ord(letter) <= value[1])
    kind = str(value)
    fits = {
        "SPACE": letter.isspace(),
        "DIGIT": letter.isdigit(),
        "WORD": letter.isalnum() or letter == "_",
    }
    named = next((fit for ending, fit in fits.items() if kind.endswith(ending)), False)
    return not named if "NOT_" in kind else named
