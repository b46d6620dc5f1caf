"""Tables as Markdown: pipe tables, all arms of a row beside one another. Pure."""

from __future__ import annotations

import re
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
from mitigauge.core.documents.grid import markdown_grid
from mitigauge.core.documents.plain_text import markdown
from mitigauge.core.documents.table import (
    Answer,
    ArmHead,
    Cell,
    DataTable,
    TableColumn,
    TableNote,
    TableSection,
    TableView,
    TextCell,
)

# Short spans of code in words of ours stay; they hold nothing that leaves them.
_CODE = re.compile(r"(`[^`|<>&\n]{1,80}`)")


def table_markdown(view: TableView) -> str:
    """The whole view, titled."""
    return "\n".join([f"# {markdown(view.title)}", *table_markdown_lines(view)]) + "\n"


def table_markdown_lines(view: TableView) -> Iterator[str]:
    """The view's notes and sections, each after an empty line."""
    for note in view.notes:
        yield ""
        yield markdown(note)
    for section in view.sections:
        yield ""
        yield from section_markdown_lines(section)
    if view.more:
        yield ""
        yield markdown(view.more)


def section_markdown_lines(section: TableSection) -> Iterator[str]:
    """One section under a heading."""
    yield f"### {markdown(section.title)}"
    if section.meaning:
        yield ""
        yield prose(section.meaning)
    for table in section.tables:
        if table.caption:
            yield ""
            yield f"**{markdown(table.caption)}**"
        yield ""
        yield from _grid(table)
        yield from _notes(table.notes)
    yield from _notes(section.notes)


def prose(text: str) -> str:
    """*text* escaped, but for short spans of code."""
    parts = _CODE.split(text)
    return "".join(part if place % 2 else _spaced(part) for place, part in enumerate(parts))


def _spaced(text: str) -> str:
    """*text* escaped, with the spaces at its ends."""
    head = " " if text[:1].isspace() else ""
    tail = " " if text.strip() and text[-1:].isspace() else ""
    return f"{head}{markdown(text)}{tail}"


def _notes(notes: Sequence[TableNote]) -> Iterator[str]:
    if notes:
        yield ""
    for note in notes:
        label = f"{note.label}: " if note.label not in ("", "Note") else ""
        yield f"- {label}{markdown(note.text)}"


def _grid(table: DataTable) -> Iterator[str]:
    labels = [] if any(column.arm for column in table.columns) else claim_labels(table)
    head = [title for column in table.columns for title in _titles(column)]
    rows = [
        [
            *(
                word
                for column, cell in zip(table.columns, row, strict=True)
                for word in _words(table, column, cell)
            ),
            *(claims_words(row, label) for label in labels),
        ]
        for row in table.rows
    ]
    yield from markdown_grid([*head, *(f"claimed {label}" for label in labels)], rows)


def _titles(column: TableColumn) -> Sequence[str]:
    if column.arm is not None:
        return [arm_title(column.arm)]
    return [column.title, *column.parts[1:]] if column.parts else [column.title]


def arm_title(arm: ArmHead) -> str:
    """``bhb, kernel 7.2.0 (baseline)``."""
    kernel = f", kernel {arm.kernel}" if arm.kernel else ""
    role = " (baseline)" if arm.is_baseline else ""
    return f"{arm.name}{kernel}{role}"


def _words(table: DataTable, column: TableColumn, cell: Cell) -> Sequence[str]:
    if isinstance(cell, TextCell):
        return [cell.title or cell.text]
    if not isinstance(cell, Answer):
        return [cell_words(column, cell)]
    if column.arm is not None:
        return [_joined(table, column, cell)]
    return lone_parts(cell, column.parts) if column.parts else [cell_words(column, cell)]


def _joined(table: DataTable, column: TableColumn, answer: Answer) -> str:
    """All of an arm's answer in one cell."""
    told = dict(zip(column.parts, answer_parts(answer, column.parts), strict=True))
    boots = str(answer.n) if answer.n else told.get("n", "")
    if answer.effect is None:
        told["verdict"] = ""
    more = [
        f"{key} {quantity_words(each)} {title.partition(', ')[2]}".rstrip()
        for key, title in table.more.items()
        if (each := answer.more.get(key)) is not None
    ]
    claims = ", ".join(f"claimed {units.claimed(c.low, c.high)}" for c in answer.claims)
    parts = [
        value_words(answer),
        told.get("change", ""),
        told.get("interval", ""),
        f"n={boots}" if boots else "",
        told.get("verdict", ""),
        *more,
        f"({claims})" if claims else "",
    ]
    return " ".join(filter(None, parts))
