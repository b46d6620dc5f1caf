"""The matrix of an experiment as people paste it: plain text for a mailing list, or Markdown."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from mitigauge.core.documents.parts import Cell, Content, Entry, Table
from mitigauge.core.documents.plain_text import indented, markdown, neutralise, paragraph, width
from mitigauge.core.documents.text_table import table_lines
from mitigauge.reporting.letters.report.content import METHOD, SHORT_METHOD, content_of
from mitigauge.reporting.pages.claim_schemas import ClaimSourceView
from mitigauge.reporting.pages.profile_schemas import CaseProfilesView
from mitigauge.reporting.pages.schemas import ExperimentView
from mitigauge.reporting.tables.arm_cells import marks

COLUMNS = 78
EXPLAINED = "What differs, by the profiles of separate passes"


def render_text(
    view: ExperimentView,
    claims: Sequence[ClaimSourceView] = (),
    profiles: Sequence[CaseProfilesView] = (),
    *,
    within_mail: bool = False,
) -> str:
    """The report as plain text of at most 78 columns.

    *within_mail*: one that has said what it is about, and what holds of every figure.
    """
    content = content_of(view, claims, profiles, within_mail=within_mail)
    lines = _body(content, SHORT_METHOD) if within_mail else _text(content)
    return "\n".join(lines).lstrip("\n") + "\n"


def render_markdown(
    view: ExperimentView,
    claims: Sequence[ClaimSourceView] = (),
    profiles: Sequence[CaseProfilesView] = (),
) -> str:
    """The report as Markdown with pipe tables."""
    return "\n".join(_markdown(content_of(view, claims, profiles))) + "\n"


def _text(content: Content) -> Iterator[str]:
    title = paragraph(content.title, COLUMNS)
    yield from title
    yield "=" * max(width(line) for line in title)
    yield from paragraph(content.question, COLUMNS, 2000)
    for caveat in content.caveats:
        yield ""
        yield from paragraph(caveat, COLUMNS)
    yield from _body(content, METHOD)


def _body(content: Content, method: Sequence[tuple[str, str]]) -> Iterator[str]:
    for warning in content.warnings:
        yield ""
        yield from paragraph(warning, COLUMNS)
    yield ""
    for key, value in content.facts:
        yield from indented(f"{key:<8}", neutralise(value), COLUMNS)
    for table in content.tables:
        yield ""
        yield from paragraph(_caption(table), COLUMNS)
        yield ""
        yield from table_lines(table, COLUMNS)
        for number, note in enumerate(table.notes, start=1):
            yield from indented(f"({number}) ", neutralise(note), COLUMNS)
    if content.tables:
        yield ""
        for key, text in method:
            yield from indented(f"{key + ':':<10}", text, COLUMNS)
    yield from _text_section(EXPLAINED, content.explained)
    yield from _text_section(
        "Not effective: booted, but the mode was not in force", content.not_effective
    )
    yield from _text_section("Not measured", content.not_measured)
    yield from _text_section("Published claims beside these figures", content.claims)


def _text_section(heading: str, entries: Sequence[Entry]) -> Iterator[str]:
    if not entries:
        return
    yield ""
    yield heading
    yield "-" * len(heading)
    for entry in entries:
        yield from paragraph(entry.heading, COLUMNS)
        margin = max([12, *(len(key) + 1 for key, _ in entry.facts)])
        for key, value in entry.facts:
            yield from indented(f"  {key:<{margin}}", neutralise(value), COLUMNS)


def _markdown(content: Content) -> Iterator[str]:
    yield f"# {markdown(content.title)}"
    yield ""
    yield markdown(content.question, 2000)
    for warning in _alarms(content):
        yield ""
        yield f"**{markdown(warning)}**"
    yield ""
    for key, value in content.facts:
        yield f"- {key}: {markdown(value)}" if key else f"  {markdown(value)}"
    for table in content.tables:
        yield ""
        yield f"### {markdown(_caption(table))}"
        yield ""
        yield from _pipe_table(table)
        if table.notes:
            yield ""
        for number, note in enumerate(table.notes, start=1):
            yield f"- ({number}) {markdown(note)}"
    if content.tables:
        yield ""
        for key, text in METHOD:
            yield f"- {key}: {text}"
    yield from _markdown_section(EXPLAINED, content.explained)
    yield from _markdown_section(
        "Not effective: booted, but the mode was not in force", content.not_effective
    )
    yield from _markdown_section("Not measured", content.not_measured)
    yield from _markdown_section("Published claims beside these figures", content.claims)


def _pipe_table(table: Table) -> Iterator[str]:
    arms = [markdown(arm) for arm in table.arms]
    yield _pipes(["case", f"{markdown(table.baseline)} (baseline)", *arms])
    yield _pipes(["---", "---:", *("---" for _ in arms)])
    for line in table.lines:
        cells = [_markdown_cell(cell) for cell in line.cells]
        yield _pipes(
            [markdown(line.label), markdown(f"{line.baseline} {line.baseline_n}".rstrip()), *cells]
        )


def _markdown_cell(cell: Cell) -> str:
    mark = f"({cell.note})" if cell.note else ""
    parts = [cell.effect, cell.interval, cell.n, cell.verdict, cell.mde, mark]
    return " ".join(part for part in parts if part)


def _pipes(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _markdown_section(heading: str, entries: Sequence[Entry]) -> Iterator[str]:
    if not entries:
        return
    yield ""
    yield f"### {heading}"
    yield ""
    for entry in entries:
        yield f"- {markdown(entry.heading)}"
        for key, value in entry.facts:
            yield f"  - {key}: {markdown(value)}"


def _alarms(content: Content) -> Iterator[str]:
    """What a reader must know before the first figure."""
    yield from content.caveats
    yield from content.warnings


def _caption(table: Table) -> str:
    return ", ".join([table.caption, *marks(emulated=table.emulated, counted=table.counted_time)])
