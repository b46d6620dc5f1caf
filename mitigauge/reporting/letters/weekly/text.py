"""A weekly report as plain text of at most 78 columns, and as Markdown. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from mitigauge.core.documents.plain_text import (
    indented,
    markdown,
    neutralise,
    pad,
    paragraph,
    unstructured,
    width,
    wrap,
)
from mitigauge.reporting.letters.weekly.document import Document, Entry, Line, Section, Table

COLUMNS = 78
LONGEST = 2000
GAP = "  "
# A column is not made narrower than so.
NARROWEST = 6


def plain(line: Line) -> str:
    """The words of a line, harmless."""
    return neutralise("".join(span.text for span in line), LONGEST)


def render_text(document: Document) -> str:
    """The report as plain text."""
    return "\n".join(_text(document)) + "\n"


def _text(document: Document) -> Iterator[str]:
    yield document.title
    yield "=" * width(document.title)
    for line in document.lead:
        yield from paragraph(plain(line), COLUMNS, LONGEST)
        yield ""
    for section in document.sections:
        yield from _section(section)
        yield ""


def _section(section: Section) -> Iterator[str]:
    yield section.title
    yield "-" * width(section.title)
    for line in section.about:
        yield from paragraph(plain(line), COLUMNS, LONGEST)
    for entry in section.entries:
        yield from _entry(entry)
    for table in section.tables:
        yield ""
        yield from table_lines(table)
    if section.more:
        yield ""
        yield from paragraph(section.more, COLUMNS)


def _entry(entry: Entry) -> Iterator[str]:
    yield ""
    yield from indented("* ", plain(entry.head), COLUMNS)
    for line in entry.lines:
        yield from indented("    ", plain(line), COLUMNS)


def table_lines(table: Table) -> Iterator[str]:
    """*table* in lines of at most 78 columns; what is too wide is folded within its column."""
    heads = [column.title for column in table.columns]
    cells = [[plain(cell) for cell in row] for row in table.rows]
    widths = _widths([heads, *cells])
    yield from _row(table, heads, widths)
    yield GAP.join("-" * columns for columns in widths)
    for row in cells:
        yield from _row(table, row, widths)


def _widths(rows: Sequence[Sequence[str]]) -> list[int]:
    """Columns as wide as what they hold; the widest give way until all fit."""
    widths = [max(width(cell) for cell in column) for column in zip(*rows, strict=True)]
    room = COLUMNS - len(GAP) * (len(widths) - 1)
    while sum(widths) > room and max(widths) > NARROWEST:
        widths[widths.index(max(widths))] -= 1
    return widths


def _row(table: Table, cells: Sequence[str], widths: Sequence[int]) -> Iterator[str]:
    folded = [wrap(cell, columns) for cell, columns in zip(cells, widths, strict=True)]
    for place in range(max(len(lines) for lines in folded)):
        parts = [
            pad(lines[place] if place < len(lines) else "", columns, right=column.right)
            for lines, columns, column in zip(folded, widths, table.columns, strict=True)
        ]
        yield unstructured(GAP.join(parts).rstrip())


def render_markdown(document: Document, *, base: str = "") -> str:
    """The report as Markdown; *base* is the dashboard's address, without it nothing is linked."""
    return "\n".join(_markdown(document, base)) + "\n"


def _markdown(document: Document, base: str) -> Iterator[str]:
    yield f"# {markdown(document.title)}"
    for line in document.lead:
        yield ""
        yield _marked(line, base)
    for section in document.sections:
        yield ""
        yield f"## {markdown(section.title)}"
        for line in section.about:
            yield ""
            yield _marked(line, base)
        if section.entries:
            yield ""
        for entry in section.entries:
            yield f"- **{_marked(entry.head, base)}**"
            yield from (f"  - {_marked(line, base)}" for line in entry.lines)
        for table in section.tables:
            yield ""
            yield from _markdown_table(table, base)
        if section.more:
            yield ""
            yield markdown(section.more)


def _markdown_table(table: Table, base: str) -> Iterator[str]:
    yield f"| {' | '.join(markdown(column.title) for column in table.columns)} |"
    yield f"|{'|'.join(' ---: ' if column.right else ' --- ' for column in table.columns)}|"
    for row in table.rows:
        yield f"| {' | '.join(_marked(cell, base) for cell in row)} |"


def _marked(line: Line, base: str) -> str:
    """A line, each of its spans escaped; spaces at their ends stay, since words meet there."""
    parts = []
    for span in line:
        if not span.text.strip():
            parts.append(" " if span.text else "")
            continue
        before = " " if span.text[0].isspace() else ""
        after = " " if span.text[-1].isspace() else ""
        words = markdown(span.text, LONGEST)
        parts.append(
            before
            + (f"[{words}]({base}{_address(span.href)})" if span.href and base else words)
            + after
        )
    return "".join(parts).strip()


def _address(href: str) -> str:
    return href.replace("(", "%28").replace(")", "%29").replace(" ", "%20")
