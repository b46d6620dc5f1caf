"""Functions are named by verbs or by what they give, see CONTRIBUTING.md."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
FOLDERS = ("mitigauge", "api", "cli", "lab", "pipelines")
SAY_NOTHING = {
    "asked", "begun", "beside", "done", "found", "given", "kept", "learnt", "made", "said", "shown",
    "told", "wanted",
}  # fmt: skip


def functions_of(text: str) -> Iterator[tuple[str, int]]:
    """(name, line) of all functions and methods."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node.name, node.lineno


def test_no_function_has_a_participle_alone_for_its_name() -> None:
    found = [
        f"{path.relative_to(REPOSITORY)}:{line} {name}"
        for folder in FOLDERS
        for path in sorted((REPOSITORY / folder).rglob("*.py"))
        for name, line in functions_of(path.read_text(encoding="utf-8"))
        if name.lstrip("_") in SAY_NOTHING
    ]
    assert found == []


def test_methods_and_functions_within_functions_are_seen() -> None:
    text = "class A:\n  def _said(self):\n    async def told(): ..."
    assert list(functions_of(text)) == [("_said", 2), ("told", 3)]
