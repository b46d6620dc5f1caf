"""The threat model names tests that exist, and has a line for each connection of the service."""

from __future__ import annotations

import ast
import re
from functools import cache

import pytest

from mitigauge.core.settings import REPOSITORY
from tests.unit.docs.pages import page, section, spans

PAGE = page("docs/threat-model.md")
HEADING = "Who is at the other end"
# What no row may be without: each is a connection, or a way in.
CONNECTIONS = (
    "PostgreSQL", "S3", "hosts, by SSH", "guest", "Redfish", "IPMI", "PDU", "QMP",
    "consoles by SSH", "consoles over TCP", "mail server", "webhooks", "list archives", "mails →",
    "Debian mirrors", "guest images", "git trees", "browsers → service", "proxy →",
)  # fmt: skip
NONE_OF_OURS = "none of ours"


def rows() -> list[list[str]]:
    """The cells of each row of the table of connections."""
    lines = [line for line in section(PAGE, HEADING).splitlines() if line.startswith("| ")]
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines[1:]]


@cache
def defined_in(path: str) -> set[str]:
    """Names of the tests that a file defines, in classes too."""
    tree = ast.parse((REPOSITORY / path).read_text("utf-8"))
    return {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}


@cache
def every_test() -> set[str]:
    files = (REPOSITORY / "tests").rglob("test_*.py")
    return {name for file in files for name in defined_in(str(file.relative_to(REPOSITORY)))}


def test_every_connection_has_its_row() -> None:
    firsts = [row[0] for row in rows()]
    assert [name for name in CONNECTIONS if not any(name in first for first in firsts)] == []


@pytest.mark.parametrize("row", rows(), ids=lambda row: row[0][:40])
def test_a_row_names_tests_that_exist_or_says_that_nobody_checks(row: list[str]) -> None:
    assert len(row) == 4
    assert all(row)
    named = re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", row[3])
    assert named or row[3].startswith(NONE_OF_OURS)
    assert [f"{file}::{name}" for file, name in named if name not in defined_in(file)] == []
    # Nothing else stands there that could pass for a test.
    assert row[3].count("::") == len(named)


def test_tests_that_the_page_names_alone_exist() -> None:
    named = {span for span in spans(PAGE) if re.fullmatch(r"test_\w+", span)}
    assert len(named) > 5
    assert named - every_test() == set()
