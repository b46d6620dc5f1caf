"""What readers of a cover letter's tables of percentages will ask. Pure.

A table is read where there is no doubt what it is: rows between ``|``, or columns with two or more
blanks between them, under one heading, with a percentage in every cell. Of what benchmarks print
otherwise (times, histograms, a deviation in a column of its own) nothing is told.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

LARGEST_CHARACTERS = 1 << 20
# A longer line is no row of a table that a person reads, and is skipped.
LONGEST_LINE = 400
MOST_ROWS = 200
# Each pattern reads a line once, from its beginning or from one word on.
_CELL = re.compile(r"[-+−]?\d{1,6}(?:\.\d{1,6})?\s?%(?:\s*(?:±|\+/-|\[|\().{0,60})?")
_RULE = frozenset("|+=:- ")
_SPREAD = re.compile(
    r"±|\+/-|\[\s?[-+−]?\d|std ?dev|stdev|std ?err|deviation|confidence|interval|\bC[IV]\b"
    r"|varia|noise|\bp ?[<=]",
    re.IGNORECASE,
)
_COUNT = re.compile(
    r"\bn ?= ?\d|(?<!\d)\d{1,6} (?:\w{1,20} )?"
    r"(?:runs?|boots?|iterations?|times|samples?|repeats|repetitions|reboots)\b"
    r"|\b(?:average|mean|median) (?:of|over) \w",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Row:
    """One row: its line in the text (from 1), its label, and its other cells."""

    line: int
    label: str
    cells: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Finding:
    """What a reader will ask. *line* counts from 1."""

    line: int
    kind: str
    text: str


def findings(text: str) -> list[Finding]:
    """All that is to be asked of the tables in *text*, by line; nothing where none is read."""
    text = text[:LARGEST_CHARACTERS]
    tables = list(tables_in(text))
    if not tables:
        return []
    line = tables[0][0].line
    found = [repeated for table in tables for repeated in _repeated(table)]
    if not _SPREAD.search(text):
        found.append(
            Finding(
                line, "interval", "No figure has an interval or a deviation: a reader cannot tell "
                "it from noise.",
            )
        )  # fmt: skip
    if not _COUNT.search(text):
        found.append(
            Finding(line, "count", "Nothing says how many runs or boots stand behind a figure.")
        )
    return sorted(found, key=lambda each: (each.line, each.kind))


def tables_in(text: str) -> Iterator[list[Row]]:
    """The rows of each table that is surely read, in order."""
    block: list[Row] = []
    for number, line in enumerate(text.splitlines(), 1):
        bare = line[:LONGEST_LINE].strip(" \t>")
        if len(line) <= LONGEST_LINE and bare and _RULE.issuperset(bare):
            continue
        cells = _cells(bare) if len(line) <= LONGEST_LINE else ()
        if len(cells) >= 2:
            block.append(Row(number, cells[0], cells[1:]))
            continue
        yield from _table(block)
        block = []
    yield from _table(block)


def _cells(bare: str) -> tuple[str, ...]:
    """The cells of a row; fewer than two where the line is none."""
    if bare.startswith("|"):
        return tuple(cell.strip() for cell in bare[1:].removesuffix("|").split("|"))
    return tuple(part for part in re.split(r"\t|  +", bare) if part)


def _table(block: Sequence[Row]) -> Iterator[list[Row]]:
    """The rows below the heading; nothing where a line has another form than the others."""
    if not 3 <= len(block) <= MOST_ROWS:
        return
    heading, *rows = block
    is_alike = all(len(row.cells) == len(heading.cells) for row in rows)
    has_heading = not any(_CELL.fullmatch(cell) for cell in heading.cells)
    if is_alike and has_heading and all(_is_figures(row.cells) for row in rows):
        yield rows


def _is_figures(cells: Sequence[str]) -> bool:
    """Percentages; a cell between bars may be empty."""
    return any(cells) and all(not cell or _CELL.fullmatch(cell) for cell in cells)


def _repeated(rows: Sequence[Row]) -> Iterator[Finding]:
    first: dict[str, int] = {}
    for row in rows:
        label = " ".join(row.label.split()).lower()
        if label in first:
            yield Finding(
                row.line, "repeated row", f"{row.label!r} stands in line {first[label]} already: "
                "what is the difference?",
            )  # fmt: skip
        first.setdefault(label, row.line)
