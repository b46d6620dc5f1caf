"""Tables as plain text of at most 78 columns, for a mailing list. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from mitigauge.core.documents import units
from mitigauge.core.documents.cell_text import (
    answer_parts,
    cell_words,
    claim_labels,
    claims_words,
    lone_parts,
    quantity_words,
    value_words,
)
from mitigauge.core.documents.grid import text_grid
from mitigauge.core.documents.plain_text import indented, neutralise, paragraph, width
from mitigauge.core.documents.table import (
    Answer,
    Cell,
    DataTable,
    Quantity,
    TableColumn,
    TableNote,
    TableSection,
    TableView,
)

COLUMNS = 78
# Characters of names in a table that is too wide.
SHORT = 16


def table_text(view: TableView) -> str:
    """The whole view, titled."""
    return "\n".join([*paragraph(view.title, COLUMNS), *table_lines(view)]) + "\n"


def table_lines(view: TableView) -> Iterator[str]:
    """The view's notes and sections, each after an empty line."""
    for note in view.notes:
        yield ""
        yield from paragraph(note, COLUMNS)
    for section in view.sections:
        yield ""
        yield from section_lines(section)
    if view.more:
        yield ""
        yield from paragraph(view.more, COLUMNS)


def section_lines(section: TableSection) -> Iterator[str]:
    """One section: its title, what the figures mean, its tables."""
    yield from paragraph(section.title, COLUMNS)
    if section.meaning:
        yield from paragraph(section.meaning, COLUMNS)
    for table in section.tables:
        yield ""
        if table.caption:
            yield from paragraph(table.caption, COLUMNS)
        yield from _grids(table)
        yield from _notes(table.notes)
    yield from _notes(section.notes)


def _notes(notes: Sequence[TableNote]) -> Iterator[str]:
    for note in notes:
        head = f"{note.label}: " if note.label else "  "
        yield from indented(head, neutralise(note.text), COLUMNS)


def _grids(table: DataTable) -> Iterator[str]:
    arms = [place for place, column in enumerate(table.columns) if column.arm is not None]
    if not arms:
        yield from _flat(table)
        return
    baseline, *others = arms
    pairs = [[baseline, other] for other in others] or [[baseline]]
    for number, pair in enumerate(pairs):
        if number:
            yield ""
        yield from _pair(table, pair)


# Without arms: cells side by side as they are.


def _flat(table: DataTable) -> Iterator[str]:
    labels = claim_labels(table)
    head = [title for column in table.columns for title in _titles(column)]
    rows = [
        [
            word
            for column, cell in zip(table.columns, row, strict=True)
            for word in _words(column, cell)
        ]
        for row in table.rows
    ]
    if not labels:
        yield from _fitting(head, rows, _leading(table))
        return
    claims = [[claims_words(row, label) for label in labels] for row in table.rows]
    beside = text_grid(
        [*head, *(f"claimed {label}" for label in labels)],
        [[*row, *of] for row, of in zip(rows, claims, strict=True)],
    )
    if _is_narrow(beside):
        yield from beside
        return
    lead = 1 + next(i for i, column in enumerate(table.columns) if column.kind == "answer")
    yield from text_grid(head, rows)
    yield ""
    yield table.claims_title
    yield from text_grid(
        [*head[: lead - 1], "ours", *labels],
        [[*row[:lead], *of] for row, of in zip(rows, claims, strict=True) if any(of)],
    )


def _leading(table: DataTable) -> int:
    """How many columns say what a row is of; at least one."""
    kinds = [column.kind for column in table.columns]
    return next((place for place, kind in enumerate(kinds) if kind != "text"), 1) or 1


def _fitting(head: Sequence[str], rows: Sequence[Sequence[str]], leading: int) -> Iterator[str]:
    """The grid; where it would be wider than a mail, names are cut, then columns stand below."""
    lines = text_grid(head, rows)
    if _is_narrow(lines):
        yield from lines
        return
    short = [neutralise(name, SHORT) for name in head]
    cut = [[*(neutralise(name, SHORT) for name in row[:leading]), *row[leading:]] for row in rows]
    for number, grid in enumerate(_parts(short, cut, leading)):
        yield from ["", *grid] if number else grid


def _parts(head: Sequence[str], rows: Sequence[Sequence[str]], leading: int) -> Iterator[list[str]]:
    """Grids with the leading columns and as many of the others as fit, at least one."""
    first = leading
    while first < len(head):
        last = first + 1
        while last < len(head) and _is_narrow(_columns(head, rows, leading, first, last + 1)):
            last += 1
        yield _columns(head, rows, leading, first, last)
        first = last


def _columns(
    head: Sequence[str], rows: Sequence[Sequence[str]], leading: int, first: int, last: int
) -> list[str]:
    places = [*range(leading), *range(first, last)]
    return text_grid([head[i] for i in places], [[row[i] for i in places] for row in rows])


def _is_narrow(lines: Sequence[str]) -> bool:
    return max(map(width, lines)) <= COLUMNS


def _titles(column: TableColumn) -> Sequence[str]:
    return [column.title, *column.parts[1:]] if column.parts else [column.title]


def _words(column: TableColumn, cell: Cell) -> Sequence[str]:
    if isinstance(cell, Answer) and column.parts:
        return lone_parts(cell, column.parts)
    return [cell_words(column, cell)]


# With arms: each beside the baseline.


def _pair(table: DataTable, places: Sequence[int]) -> Iterator[str]:
    lead = [place for place, column in enumerate(table.columns) if column.arm is None]
    heads = [table.columns[place] for place in lead]
    names = [arm.name for place in places if (arm := table.columns[place].arm)]
    last = table.columns[places[-1]]
    rows = [
        [
            *(cell_words(table.columns[place], row[place]) for place in lead),
            *(value_words(row[place]) for place in places),
            *answer_parts(row[places[-1]], last.parts),
        ]
        for row in table.rows
    ]
    head = [*(column.title for column in heads), *names, *last.parts]
    answers = [row[places[-1]] for row in table.rows]
    claims = [claims_words([answer]) for answer in answers]
    first, change = [row[: len(lead)] for row in rows], len(lead) + len(places)
    if table.claims == "below" or not any(claims):
        yield from _cut(head, rows, change + 2, len(lead))
    else:
        wide = text_grid([*head, "claimed"], [[*r, c] for r, c in zip(rows, claims, strict=True)])
        if _is_narrow(wide):
            yield from wide
            return
        yield from _cut(head, rows, change + 2, len(lead))
        yield ""
        yield from text_grid(
            [*(column.title for column in heads), "change", "claimed"],
            [[*f, r[change], c] for f, r, c in zip(first, rows, claims, strict=True) if c],
        )
    yield from _more(table, places, first)
    if table.claims == "below":
        yield from _claims_below(heads, first, [row[change] for row in rows], answers)


def _cut(
    head: Sequence[str], rows: Sequence[Sequence[str]], columns: int, leading: int
) -> Iterator[str]:
    """The grid; without the columns after the interval, which tells the verdict, if too wide."""
    grid = text_grid(head, rows)
    if _is_narrow(grid):
        yield from grid
        return
    yield from _fitting(head[:columns], [row[:columns] for row in rows], leading)


def _more(table: DataTable, places: Sequence[int], first: Sequence[Sequence[str]]) -> Iterator[str]:
    names = [arm.name for place in places if (arm := table.columns[place].arm)]
    for key, title in table.more.items():
        found = [[_further(row[place], key) for place in places] for row in table.rows]
        rows = [
            [*lead, *("absent" if each is None else quantity_words(each) for each in cells)]
            for lead, cells in zip(first, found, strict=True)
            if any(cells)
        ]
        if rows:
            yield ""
            yield from text_grid([title, *names], rows)


def _further(cell: Cell, key: str) -> Quantity | None:
    return cell.more.get(key) if isinstance(cell, Answer) else None


def _claims_below(
    heads: Sequence[TableColumn],
    first: Sequence[Sequence[str]],
    changes: Sequence[str],
    answers: Sequence[Cell],
) -> Iterator[str]:
    rows = [
        [*lead, change, units.claimed(claim.low, claim.high), claim.outcome]
        for lead, change, answer in zip(first, changes, answers, strict=True)
        for claim in (answer.claims if isinstance(answer, Answer) else ())
    ]
    if rows:
        yield ""
        head = [column.title for column in heads]
        yield from text_grid([*head, "change", "claimed", "outcome"], rows)
