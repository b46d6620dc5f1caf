"""A weekly report as HTML that mail programs show: tables, inline styles, no script. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape

from mitigauge.core.documents.plain_text import neutralise
from mitigauge.reporting.letters.weekly.document import (
    Document,
    Entry,
    Line,
    Section,
    Span,
    Table,
    Tone,
)
from mitigauge.reporting.letters.weekly.text import LONGEST

# Told apart by every common colour blindness, and never without their word.
COLOURS: dict[Tone, str] = {
    "worse": "color:#a13f00;font-weight:bold",
    "better": "color:#0a559f;font-weight:bold",
    "emulated": "color:#6f2c78",
    "bad": "color:#a3242b",
    "faint": "color:#666a71",
    "": "",
}
_FONT = "font-family:Arial,Helvetica,sans-serif;font-size:14px;line-height:1.45;color:#1a1c1f"
_CELL = "padding:3px 10px 3px 0;border-bottom:1px solid #e2e2dd;vertical-align:top"


def render_html(document: Document, *, base: str = "") -> str:
    """The report as a whole HTML document.

    *base* is the dashboard's address, without which nothing is linked.
    """
    body = "\n".join(_body(document, base))
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width">'
        f"<title>{_words(document.title)}</title></head>\n"
        '<body style="margin:0;padding:16px;background:#ffffff">\n'
        '<table role="presentation" width="100%" cellpadding="0" cellspacing="0" border="0">'
        f'<tr><td style="max-width:760px;{_FONT}">\n{body}\n</td></tr></table>\n</body></html>\n'
    )


def _body(document: Document, base: str) -> Iterator[str]:
    yield f'<h1 style="font-size:20px;margin:0 0 8px">{_words(document.title)}</h1>'
    for line in document.lead:
        yield f'<p style="margin:0 0 8px">{_line(line, base)}</p>'
    for section in document.sections:
        yield from _section(section, document.week, base)


def _section(section: Section, week: str, base: str) -> Iterator[str]:
    yield (
        '<h2 style="font-size:16px;margin:22px 0 6px;border-bottom:2px solid #bdbdb6">'
        f"{_words(section.title)}</h2>"
    )
    for line in section.about:
        yield f'<p style="margin:0 0 8px;color:#50545b">{_line(line, base)}</p>'
    if section.entries:
        yield '<table role="presentation" cellpadding="0" cellspacing="0" border="0" width="100%">'
        for entry in section.entries:
            yield _entry(entry, base)
        yield "</table>"
    if base and any(entry.picture is not None for entry in section.entries):
        values = Span(text="Their values over time", href=f"/weekly/{week}#{section.id}")
        yield f'<p style="margin:6px 0">{_line([values], base)}</p>'
    for table in section.tables:
        yield _table(table, base)
    if section.more:
        yield f'<p style="margin:6px 0;color:#666a71">{_words(section.more)}</p>'


def _entry(entry: Entry, base: str) -> str:
    lines = "".join(
        f'<div style="margin-left:14px">{_line(line, base)}</div>' for line in entry.lines
    )
    return (
        f'<tr><td style="padding:6px 0;border-bottom:1px solid #e2e2dd;{_FONT}">'
        f"<div>{_line(entry.head, base)}</div>{lines}</td></tr>"
    )


def _table(table: Table, base: str) -> str:
    aligned = ["right" if column.right else "left" for column in table.columns]
    heads = "".join(
        f'<th align="{side}" style="{_CELL};{_FONT};font-size:13px;color:#50545b">'
        f"{_words(column.title)}</th>"
        for column, side in zip(table.columns, aligned, strict=True)
    )
    rows = "".join(
        "<tr>"
        + "".join(
            f'<td align="{side}" style="{_CELL};{_FONT};font-size:13px">{_line(cell, base)}</td>'
            for cell, side in zip(row, aligned, strict=True)
        )
        + "</tr>\n"
        for row in table.rows
    )
    return (
        '<table cellpadding="0" cellspacing="0" border="0" style="border-collapse:collapse">'
        f"<tr>{heads}</tr>\n{rows}</table>"
    )


def _line(line: Line, base: str) -> str:
    parts = []
    for span in line:
        words = _words(span.text)
        if span.href and base:
            address = escape(base + span.href, quote=True)
            words = f'<a href="{address}" style="color:#0f5f5f">{words}</a>'
        style = COLOURS[span.tone]
        before = " " if span.text[:1].isspace() else ""
        after = " " if span.text[-1:].isspace() else ""
        parts.append(before + (f'<span style="{style}">{words}</span>' if style else words) + after)
    return "".join(parts).strip()


def _words(text: str) -> str:
    return escape(neutralise(text, LONGEST), quote=True)
