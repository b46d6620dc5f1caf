"""What single rooms may import, beyond the order of the wings that `make check` holds to."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[2]
# With a clock, a network, a process or chance of its own, a figure could not be worked out again.
IMPURE = {"sqlalchemy", "psycopg", "httpx", "fastapi", "structlog", "ruamel", "socket"} | {
    "subprocess", "time", "random",
}  # fmt: skip
OURS = {"mitigauge", "api", "cli", "pipelines", "lab"}


def imports_of(text: str) -> Iterator[str]:
    """Names of modules that a file imports, also within functions; relative ones are left out."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            yield from (each.name for each in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            yield node.module or ""


def imported(folder: str) -> set[tuple[str, str]]:
    """(file, module) of all imports below a folder."""
    files = sorted((REPOSITORY / folder).rglob("*.py"))
    assert files
    return {
        (str(path.relative_to(REPOSITORY)), name)
        for path in files
        if "overlay" not in path.parts
        for name in imports_of(path.read_text(encoding="utf-8"))
    }


def is_within(name: str, room: str) -> bool:
    return name == room or name.startswith(f"{room}.")


def test_the_contract_with_hosts_is_of_the_standard_library_alone() -> None:
    foreign = {
        (path, name)
        for path, name in imported("mitigauge/core/wire")
        if name.partition(".")[0] not in sys.stdlib_module_names
    }
    assert foreign == set()


def test_statistics_are_pure() -> None:
    impure = {
        (path, name)
        for path, name in imported("mitigauge/core/stats")
        if name.partition(".")[0] in IMPURE
    }
    assert impure == set()


def test_the_lab_knows_what_everything_is_said_in_and_nothing_else_of_the_service() -> None:
    others = {
        (path, name)
        for path, name in imported("lab")
        if name.partition(".")[0] in OURS
        and not is_within(name, "lab")
        and not is_within(name, "mitigauge.core")
    }
    assert others == set()


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("def f():\n    import numpy.linalg, os", ["numpy.linalg", "os"]),
        ("from time import sleep", ["time"]),
        ("from .case import Case", []),
    ],
)
def test_imports_are_seen_wherever_they_stand(text: str, names: list[str]) -> None:
    assert list(imports_of(text)) == names
