"""A cover letter's own figures beside what was measured: reproduced, contradicted, or not measured.

A row is set beside a case where the words of its label, and of its table's first heading, name the
case's workload and give no parameter another value; a column is set beside an arm where its heading
names the arm or its mode. Where several cases or arms may be meant, the figure is set beside none.
Pure.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from mitigauge.analysis.claims.comparison import Finding, weigh
from mitigauge.analysis.claims.outcome import ClaimOutcome
from mitigauge.reporting.letters.reply.cover_letter import (
    LARGEST_CHARACTERS,
    Row,
    Table,
    plain_label,
    tables_in,
)
from mitigauge.reporting.pages.schemas import (
    ArmView,
    CellView,
    ComparisonView,
    ExperimentView,
    RowView,
)

# Rows of a letter that are looked at; longer tables are no table that a person reads.
MOST_ROWS = 200
_PERCENT = re.compile(r"([-+−]?\d{1,6}(?:\.\d{1,6})?)\s?%")
_WORD = re.compile(r"\d+(?:\.\d+)?|[a-z]+")

# A label is read so far; nobody names a case in more.
LONGEST_LABEL = 300

Parameters = Mapping[str, object]


class _Label:
    """The words of a label, and the numbers that stand beside a parameter's name."""

    def __init__(self, text: str) -> None:
        self.in_order = _WORD.findall(text[:LONGEST_LABEL].lower())
        self.words = frozenset(self.in_order)
        self._numbers: dict[str, set[str]] = {}

    def numbers_for(self, name: str) -> set[str]:
        """Numbers beside the name or its beginning: ``4-vCPU``, ``4 vCPUs``, ``P16``."""
        if name not in self._numbers:
            self._numbers[name] = set(self._neighbours(name.lower()))
        return self._numbers[name]

    def _neighbours(self, name: str) -> Iterator[str]:
        for before, after in pairwise(self.in_order):
            # A single letter is a name only before its number, as in P16.
            if before[0].isdigit() and len(after) > 1 and _begins(name, after):
                yield before
            if after[0].isdigit() and before.isalpha() and _begins(name, before):
                yield after

    def has(self, name: str, value: object) -> bool:
        """Whether it gives the parameter that value."""
        if isinstance(value, bool) or value is None:
            return False
        if isinstance(value, int | float):
            return f"{value:g}" in self.numbers_for(name)
        return set(_WORD.findall(str(value).lower())) <= self.words


@dataclass(frozen=True, slots=True)
class LetterClaim:
    """One figure of a letter, in percent of its baseline, and what was measured for it.

    *since*: the first of the revisions before this one that have the very same figures; empty:
    none has.
    """

    line: int
    label: str
    column: str
    percent: float
    outcome: ClaimOutcome
    reason: str
    cell: CellView | None = None
    case: str = ""
    host: str = ""
    since: str = ""


def claims_beside(
    letter: str,
    earlier: Sequence[tuple[str, str]],
    view: ExperimentView,
    parameters: Mapping[int, Parameters],
) -> list[LetterClaim]:
    """Every percentage of the letter's tables beside *view*, in the letter's order.

    *earlier*: label and letter of the revisions before, oldest first. *parameters* are by case id.
    """
    before = [(name, _figures(text)) for name, text in earlier]
    found: list[LetterClaim] = []
    rows = 0
    for table in tables_in(letter[:LARGEST_CHARACTERS]):
        for row in table.rows:
            rows += 1
            if rows > MOST_ROWS:
                return found
            since = _since(row, before)
            found += _of_row(table, row, since, view, parameters)
    return found


def _of_row(
    table: Table,
    row: Row,
    since: str,
    view: ExperimentView,
    parameters: Mapping[int, Parameters],
) -> Iterator[LetterClaim]:
    heads = table.header[1:] if len(table.header) == len(row.cells) + 1 else ()
    said = _Label(f"{table.header[0] if table.header else ''} {row.label}")
    named = _named(said, view, parameters)
    for index, text in enumerate(row.cells):
        figure = _PERCENT.fullmatch(text.strip())
        if figure is None:
            continue
        percent = float(figure.group(1).replace("−", "-"))
        column = heads[index] if heads else ""
        for answer in _answers(percent, _places(named, column), view):
            yield replace(
                answer, line=row.line, label=row.label, column=column, percent=percent, since=since
            )


@dataclass(frozen=True, slots=True)
class _Place:
    row: RowView
    cell: CellView


def _answers(
    percent: float, places: Sequence[_Place], view: ExperimentView
) -> Iterator[LetterClaim]:
    """What each host says of the one cell that is meant, or why none is."""
    unclear = ""
    if not places:
        unclear = "no case and arm of this experiment is named so"
    elif len({(each.row.case_id, each.row.metric, each.cell.arm_id) for each in places}) > 1:
        unclear = f"{len(places)} cells of this experiment may be meant"
    if unclear:
        yield LetterClaim(0, "", "", percent, ClaimOutcome.NOT_MEASURED, unclear)
        return
    for place in places:
        facts = view.host_facts.get(place.row.host)
        finding = Finding(
            emulated=facts.emulated if facts else False,
            processor=facts.processor if facts else "",
            state=place.cell.state,
            low=place.cell.ci_low_percent,
            high=place.cell.ci_high_percent,
            note=place.cell.note,
        )
        outcome, reason = weigh(percent, percent, "", finding)
        yield LetterClaim(
            0, "", "", percent, outcome, reason, place.cell, place.row.case, place.row.host
        )


def _named(
    said: _Label, view: ExperimentView, parameters: Mapping[int, Parameters]
) -> list[tuple[ComparisonView, RowView]]:
    """Primary rows of the cases that *said* may name."""
    rows = [
        (comparison, row)
        for comparison in view.comparisons
        for row in comparison.rows
        if row.primary and row.workload in said.words
    ]
    values = _values([parameters.get(row.case_id, {}) for _, row in rows])
    return [
        (comparison, row)
        for comparison, row in rows
        if _may_name(said, parameters.get(row.case_id, {}), values)
    ]


def _places(named: Sequence[tuple[ComparisonView, RowView]], column: str) -> list[_Place]:
    """Cells of the rows in the arms that *column* names."""
    return [
        _Place(row, cell)
        for comparison, row in named
        for arm, cell in zip(comparison.arms, row.cells, strict=True)
        if not arm.is_baseline and not arm.is_aa and _is_arm(column, arm, comparison)
    ]


def _values(cases: Sequence[Parameters]) -> dict[str, list[object]]:
    """The values that the cases have of each parameter."""
    values: dict[str, list[object]] = {}
    for case in cases:
        for name, value in case.items():
            known = values.setdefault(name, [])
            if value not in known:
                known.append(value)
    return values


def _may_name(said: _Label, case: Parameters, values: Mapping[str, Sequence[object]]) -> bool:
    """Whether *said* gives no parameter another value than the case's.

    A parameter that *said* leaves open fits each of its values; one that it gives fits one.
    """
    for name, value in case.items():
        if said.has(name, value):
            continue
        if isinstance(value, int | float) and said.numbers_for(name):
            return False
        if any(said.has(name, other) for other in values[name]):
            return False
    return True


def _begins(name: str, word: str) -> bool:
    return name.startswith(word) or name.rstrip("s") == word.rstrip("s")


def _is_arm(column: str, arm: ArmView, comparison: ComparisonView) -> bool:
    """Whether a heading names the arm or its mode. Without one it is the only arm there is."""
    others = [each for each in comparison.arms if not each.is_baseline and not each.is_aa]
    if not column:
        return len(others) == 1
    heading = _stems(column)
    return any(
        stems and stems <= heading
        for stems in (_stems(arm.name), _stems(arm.mode.partition("/")[2]))
    )


def _stems(text: str) -> set[str]:
    """Words without their endings: ``BHB clearing`` and ``bhb-clear`` are the same."""
    return {word.removesuffix("ing").removesuffix("ed") for word in _WORD.findall(text.lower())}


def _figures(letter: str) -> set[tuple[str, tuple[str, ...]]]:
    return {
        (plain_label(row.label), row.cells)
        for table in tables_in(letter[:LARGEST_CHARACTERS])
        for row in table.rows
    }


def _since(row: Row, before: Sequence[tuple[str, set[tuple[str, tuple[str, ...]]]]]) -> str:
    """The first of an unbroken line of revisions, up to this one, with the row's figures."""
    since = ""
    for name, figures in reversed(before):
        if (plain_label(row.label), row.cells) not in figures:
            break
        since = name
    return since
