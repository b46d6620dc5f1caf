"""Regressions that somebody has in hand or must take, as a part of the weekly report. Pure."""

from __future__ import annotations

from mitigauge.core.documents import units
from mitigauge.core.effect import Effect
from mitigauge.reporting.letters.weekly.data import RegressionLine, WeekData
from mitigauge.reporting.letters.weekly.document import Entry, Line, Section, Span, line_of
from mitigauge.tracking.regressions.states import OPEN_STATES

MOST = 40


def regression_section(data: WeekData) -> Section | None:
    """Those in hand, the new ones first, each with whose it is; None where there is none."""
    lines = data.regressions
    if not lines:
        return None
    nobodys = sum(1 for line in lines if not line.owner)
    new = sum(1 for line in lines if line.is_new)
    left = len(lines) - MOST
    return Section(
        id="regressions",
        title=f"Regressions to be looked after ({len(lines)})",
        about=[
            line_of(
                f"{new} found this week; {nobodys} nobody's yet. What is known, false or mended is "
                "not among them. Owners are those of when this report was first made; the page of "
                "each one has its owner of now."
            )
        ],
        entries=[_entry(line) for line in lines[:MOST]],
        more=f"{left} more." if left > 0 else "",
    )


def _entry(line: RegressionLine) -> Entry:
    head = [
        Span(text=line.case, href=f"/regressions/{line.id}"),
        Span(text=f": {line.metric_title} "),
        Span(text=_size(line), tone="worse"),
    ]
    if line.emulated:
        head.append(Span(text=" [emulated]", tone="emulated"))
    if line.is_new:
        head.append(Span(text=" (new)", tone="bad"))
    lines = [line_of(f"{line.mode} on {line.host_class}"), in_hand(line)]
    return Entry(head=head, lines=lines, picture=None)


def in_hand(line: RegressionLine) -> Line:
    """What people decided of it: ``regression 12: assigned to alice, bug https://…``."""
    nobody = ", nobody's yet" if line.state in OPEN_STATES else ""
    whose = f"{line.state}, {line.owner}" if line.owner else f"{line.state}{nobody}"
    parts: list[str | Span] = [
        Span(text=f"regression {line.id}", href=f"/regressions/{line.id}"),
        f": {whose}",
    ]
    if line.bug:
        parts.append(f", bug {line.bug}")
    return line_of(*parts)


def _size(line: RegressionLine) -> str:
    effect = Effect.of(line)
    return "worse" if effect is None else f"{units.effect(effect)}, worse"
