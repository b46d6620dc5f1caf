"""Commands that pages show exist, with their options."""

from __future__ import annotations

import inspect
import re
import shlex
from collections.abc import Iterator
from functools import cache
from typing import Any

import pytest
import typer

from cli.main import build
from tests.unit.docs.pages import blocks, code_of, pages, spans

PAGES = pages()
_SHOWN = re.compile(r"(?:^|[\s(`|])(?:\.venv/bin/)?mitigauge ((?:[^|`#>;&\n]|\|(?=\S))+)")


@cache
def root() -> Any:
    """The whole command."""
    takes = inspect.signature(build).parameters
    return typer.main.get_command(build([]) if takes else build())  # type: ignore[call-arg]


def shown(text: str) -> Iterator[str]:
    """What stands behind ``mitigauge`` on a page, wherever it is set in code."""
    for block in blocks(text):
        if block.language in ("", "sh", "console"):
            for line in block.text.replace("\\\n", " ").splitlines():
                yield from _SHOWN.findall(line)
    for span in spans(text):
        yield from _SHOWN.findall(span)


def words(command: str) -> list[str]:
    """The words of a command, without what marks a word as optional."""
    plain = re.sub(r"[\[\]…]", " ", command)
    try:
        return shlex.split(plain)
    except ValueError:
        return plain.split()


def fault(command: str) -> str:
    """What of a command does not exist; empty where all of it does."""
    found = root()
    context = found.make_context("mitigauge", [], resilient_parsing=True)
    path = "mitigauge"
    for word in words(command):
        if word.startswith("-"):
            option = word.split("=")[0]
            if option not in ("--help", *options_of(found)):
                return f"{command}: {path} has no {option}"
        elif hasattr(found, "get_command"):
            step = found.get_command(context, word.rstrip(".,:;"))
            if step is None:
                return f"{command}: {path} has no {word}"
            found, path = step, f"{path} {word}"
    return ""


def options_of(command: Any) -> list[str]:
    return [word for option in command.params for word in (*option.opts, *option.secondary_opts)]


def test_the_check_finds_what_does_not_exist() -> None:
    assert fault("experiment submit FILE --check") == ""
    assert "has no submitt" in fault("experiment submitt FILE")
    assert "has no --checked" in fault("experiment submit FILE --checked")


@pytest.mark.parametrize("name", PAGES)
def test_commands_on_a_page_exist(name: str) -> None:
    assert [wrong for command in shown(PAGES[name]) if (wrong := fault(command))] == []


def test_the_pages_show_most_groups() -> None:
    """A pattern that finds nothing would let everything pass."""
    groups = {words(command)[0] for text in PAGES.values() for command in shown(text)}
    assert {"experiment", "lab", "host", "profile", "token", "db", "serve", "worker"} <= groups


def test_commands_in_messages_exist() -> None:
    """Hints name the way out, so it has to be there."""
    wrong = []
    for path, text in code_of("mitigauge", "cli", "api", "pipelines", "lab").items():
        for command in re.findall(r"`mitigauge ([a-z][^`{}]*)`", text):
            plain = " ".join(command.replace('"', " ").split())
            if problem := fault(plain):
                wrong.append(f"{path.name}: {problem}")
    assert wrong == []
