"""Sentences of the product: each stands where the table says, and has its test."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

import pytest

from mitigauge.core.settings import REPOSITORY
from mitigauge.core.yaml_file import parse_yaml

TABLE = REPOSITORY / "tests" / "sentences.yml"
ROWS: list[dict[str, str]] = parse_yaml(TABLE.read_text(), str(TABLE)).data["sentences"]


@cache
def functions(file: Path) -> frozenset[str]:
    tree = ast.parse(file.read_text())
    return frozenset(node.name for node in tree.body if isinstance(node, ast.FunctionDef))


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["says"][:40])
def test_a_sentence_stands_there_and_a_test_fails_where_it_is_false(row: dict[str, str]) -> None:
    assert set(row) == {"says", "in", "false", "test"}
    assert row["says"] in (REPOSITORY / row["in"]).read_text()
    file, _, function = row["test"].partition("::")
    assert function in functions(REPOSITORY / "tests" / file)


def test_no_sentence_stands_twice() -> None:
    said = [(row["says"], row["in"]) for row in ROWS]
    assert len(said) == len(set(said)) >= 80
