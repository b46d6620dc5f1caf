"""The figures of a cover letter, looked at as its readers will look at them. Pure.

Tables are found as they stand in mails: rows of cells between ``|``, or columns with two or more
blanks between them, under a line of dashes or not.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

LARGEST_CHARACTERS = 1 << 20
MOST_ROWS = 2000
_NUMBER = re.compile(r"[-+−]?\d[\d,]*(?:\.\d+)?(?:e[-+]?\d+)?", re.IGNORECASE)
_RULE = re.compile(r"[\s|+=:-]*[-=]{3,}[\s|+=:-]*")
_UNIT = re.compile(
    r"%|\b(?:[kMGT]?bit(?:s)?(?:/s|ps)?|[KMGT]i?B(?:/s)?|[nmµu]?s|sec(?:onds)?|cycles?|ns/op"
    r"|ops?(?:/s)?|IOPS|Hz|[kMG]?req/s|exits?(?:/s)?|score)\b"
)
_BASELINE = re.compile(
    r"\b(?:baseline|relative to|compared (?:to|with)|versus|vs\.?|against"
    r"|over (?:the )?(?:base|unpatched|vanilla|mitigations?=off|no mitigation)"
    r"|unpatched|without (?:the|this) (?:patch|series))\b",
    re.IGNORECASE,
)
_DIRECTION = re.compile(
    r"\b(?:(?:higher|lower|more|less|bigger|smaller) is (?:better|worse)"
    r"|(?:negative|positive) (?:means|is|are)"
    r"|improvements?|regressions?|slow(?:er|down)|fast(?:er)?|overhead|loss|gain|drop)\b",
    re.IGNORECASE,
)
_SPREAD = re.compile(
    r"±|\+/-|\[\s*[-+]?\d[^\]]*,\s*[-+]?\d[^\]]*\]"
    r"|std ?dev|stdev|confidence|interval|\bCI\b|variance|noise|\bp ?[<=]",
    re.IGNORECASE,
)
_COUNT = re.compile(
    r"\bn ?= ?\d+|\b\d+ (?:runs?|boots?|iterations|times|samples|repeats|reboots)\b"
    r"|average of \d+",
    re.IGNORECASE,
)
# What `git format-patch` adds below a letter: ` kernel/fork.c | 12 +++---`.
_DIFFSTAT = re.compile(r"\s?\S[^|]{0,300}\|\s*(?:\d+ [+-]+|Bin .{0,60})\s*")
_REVISION = re.compile(r"\bv\d+\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Row:
    """One row: its line in the text (from 1), its label, and its other cells."""

    line: int
    label: str
    cells: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Table:
    """One table; *header*: the cells of its first line that has no figures."""

    line: int
    header: tuple[str, ...]
    rows: tuple[Row, ...]


@dataclass(frozen=True, slots=True)
class Finding:
    """What a reader will ask. *line* counts from 1; 0: the whole text."""

    line: int
    kind: str
    text: str


def findings(text: str, earlier: Mapping[str, str] | None = None) -> list[Finding]:
    """All that is to be asked of the tables in *text*, by line.

    *earlier*: texts of earlier revisions by name; rows that stand in one of them with the same
    figures were not measured again, or nobody can tell.
    """
    text = text[:LARGEST_CHARACTERS]
    tables = list(tables_in(text))
    if not tables:
        return [Finding(0, "no table", "There is no table of figures in this text.")]
    found = [*_of_text(text, tables)]
    for table in tables:
        found += _of_table(table)
    for name, older in (earlier or {}).items():
        found += _unchanged(tables, name, older)
    return sorted(found, key=lambda each: (each.line, each.kind))


def tables_in(text: str) -> Iterator[Table]:
    """The tables of a text, in order."""
    block: list[tuple[int, tuple[str, ...]]] = []
    for number, line in enumerate(text.splitlines(), 1):
        if _DIFFSTAT.fullmatch(line):
            continue
        if _RULE.fullmatch(line) and line.strip():
            continue
        cells = _cells(line)
        if cells:
            block.append((number, cells))
            continue
        yield from _table(block)
        block = []
    yield from _table(block)


def _cells(line: str) -> tuple[str, ...]:
    """The cells of a row; none where a line is no row."""
    bare = line.strip().lstrip(">").strip()
    if bare.startswith("|") and bare.count("|") >= 3:
        return tuple(cell.strip() for cell in bare.strip("|").split("|"))
    parts = tuple(part for part in re.split(r"\s{2,}|\t", bare) if part)
    return parts if len(parts) >= 2 else ()


def _table(block: Sequence[tuple[int, tuple[str, ...]]]) -> Iterator[Table]:
    """The table of lines that stand together; none where too few of them have figures."""
    header: tuple[str, ...] = ()
    rows = []
    for number, cells in block[:MOST_ROWS]:
        if any(_NUMBER.match(cell) for cell in cells[1:]):
            rows.append(Row(number, cells[0], cells[1:]))
        elif not rows:
            header = cells
    if len(rows) >= 2:
        yield Table(block[0][0], header, tuple(rows))


def _of_text(text: str, tables: Sequence[Table]) -> Iterator[Finding]:
    line = tables[0].line
    if not _BASELINE.search(text):
        yield Finding(
            line, "baseline", "Nothing says what the figures are relative to: name the baseline "
            "(kernel and mode) above the table.",
        )  # fmt: skip
    if not _DIRECTION.search(text):
        yield Finding(
            line, "direction", "Nothing says which way is better: write `higher is better`, or "
            "what a negative figure means.",
        )  # fmt: skip
    if not _SPREAD.search(text):
        yield Finding(
            line, "interval", "No figure has an interval or a deviation: a reader cannot tell it "
            "from noise.",
        )  # fmt: skip
    if not _COUNT.search(text):
        yield Finding(line, "count", "Nothing says how many runs or boots stand behind a figure.")


def _of_table(table: Table) -> Iterator[Finding]:
    heads = " ".join(table.header)
    bare = [r for r in table.rows if not any(_UNIT.search(cell) for cell in (r.label, *r.cells))]
    if bare and not _UNIT.search(heads):
        yield Finding(bare[0].line, "unit", f"{bare[0].label!r} has no unit, nor has its column.")
    first: dict[str, int] = {}
    for row in table.rows:
        label = " ".join(row.label.split()).lower()
        if label in first:
            yield Finding(
                row.line, "repeated row", f"{row.label!r} stands in line {first[label]} already: "
                "what is the difference?",
            )  # fmt: skip
        first.setdefault(label, row.line)
        numbers = [cell for cell in row.cells if _NUMBER.match(cell)]
        if len(row.cells) < len(table.rows[0].cells) or len(numbers) < len(row.cells):
            yield Finding(
                row.line, "missing figure", f"{row.label!r} has fewer figures than columns."
            )


def _unchanged(tables: Sequence[Table], name: str, older: str) -> Iterator[Finding]:
    """Rows with the very figures of an earlier revision."""
    before = {
        (plain_label(row.label), row.cells) for table in tables_in(older) for row in table.rows
    }
    rows = [row for table in tables for row in table.rows]
    same = [row for row in rows if (plain_label(row.label), row.cells) in before]
    if not same:
        return
    if len(same) == len(rows):
        yield Finding(
            rows[0].line, "not measured again", f"All {len(rows)} rows have the figures of {name}: "
            "was the series measured again since?",
        )  # fmt: skip
        return
    for row in same:
        yield Finding(row.line, "not measured again", f"{row.label!r} has the figures of {name}.")


def plain_label(label: str) -> str:
    return " ".join(_REVISION.sub("", label).split()).lower()
