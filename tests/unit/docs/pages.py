"""The project's Markdown pages, taken apart for the tests that compare them with the code."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from mitigauge.core.settings import REPOSITORY

_FENCE = re.compile(r"( *)(```+)([\w-]*)\n(.*?\n)?\1\2 *(?:\n|\Z)", re.DOTALL)
_SPAN = re.compile(r"`([^`\n]+(?:\n[^`\n]+)?)`")
# A line that holds nothing but a path in backticks names the file that the next block holds.
_NAMED = re.compile(r"^`([\w./-]+)`\n\n\Z", re.MULTILINE)


@dataclass(frozen=True)
class Block:
    """One fenced block: its language and text, and the file that the line above it names."""

    language: str
    text: str
    file: str
    section: str


def page(relative: str) -> str:
    """A page's text; *relative* to the repository."""
    return (REPOSITORY / relative).read_text("utf-8")


def pages() -> dict[str, str]:
    """Every page for people by its path: docs/, README files, and those at the top."""
    found = [
        *REPOSITORY.glob("*.md"),
        *REPOSITORY.glob("docs/**/*.md"),
        *REPOSITORY.glob("ansible/**/README.md"),
        *REPOSITORY.glob("workloads/**/README.md"),
        REPOSITORY / "web" / "README.md",
    ]
    return {str(path.relative_to(REPOSITORY)): path.read_text("utf-8") for path in sorted(found)}


@cache
def blocks(text: str) -> list[Block]:
    """The fenced blocks of a page, in order."""
    found = []
    for match in _FENCE.finditer(text):
        before = text[: match.start()]
        named = _NAMED.search(before)
        headings = re.findall(r"^#{1,6} (.+)$", _FENCE.sub("\n", before), re.MULTILINE)
        found.append(
            Block(
                language=match[3],
                text=match[4] or "",
                file=named[1] if named else "",
                section=headings[-1] if headings else "",
            )
        )
    return found


def spans(text: str) -> list[str]:
    """Everything in single backticks outside of fenced blocks, each on one line."""
    return [" ".join(span.split()) for span in _SPAN.findall(_FENCE.sub("\n", text))]


def section(text: str, heading: str) -> str:
    """What stands below a heading, up to the next one of its level or above."""
    lines = text.splitlines()
    [start] = [n for n, line in enumerate(lines) if line.lstrip("#").strip() == heading]
    level = len(lines[start]) - len(lines[start].lstrip("#"))
    end = next(
        (n for n in range(start + 1, len(lines)) if re.match(rf"#{{1,{level}}} ", lines[n])),
        len(lines),
    )
    return "\n".join(lines[start + 1 : end])


def code_of(*folders: str) -> dict[Path, str]:
    """Python sources below *folders* by path."""
    return {
        path: path.read_text("utf-8")
        for folder in folders
        for path in sorted((REPOSITORY / folder).rglob("*.py"))
    }
