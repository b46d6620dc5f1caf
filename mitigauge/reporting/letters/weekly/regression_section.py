"""Regressions that somebody has in hand or must take, as a part of the weekly report. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from mitigauge.core.documents import units
from mitigauge.core.documents.parts import counted
from mitigauge.core.effect import Effect
from mitigauge.reporting.letters.weekly.data import RegressionLine, WeekData
from mitigauge.reporting.letters.weekly.document import Entry, Line, Section, Span, line_of
from mitigauge.tracking.regressions.states import OPEN_STATES

MOST = 40


def regression_sections(data: WeekData) -> list[Section]:
    """Those that are sure, then suspicions; this week's first, none of what there is none."""
    sure = [line for line in data.regressions if not line.is_suspicion]
    suspected = [line for line in data.regressions if line.is_suspicion]
    return [*_sure(sure), *_suspected(suspected, data)]


def _sure(lines: Sequence[RegressionLine]) -> Iterator[Section]:
    if not lines:
        return
    new = sum(1 for line in lines if line.is_new)
    nobodys = sum(1 for line in lines if not line.owner)
    yield _section(
        "regressions",
        "Confirmed regressions",
        f"{new} found this week; {nobodys} nobody's yet. Fresh boots of both kernels, side by "
        "side, a comparison that a person filed, or a person confirmed each of them. What is "
        "known, false or mended is not among them. Owners are those of when this report was first "
        "made; the page of each one has its owner of now.",
        lines,
    )


def _suspected(lines: Sequence[RegressionLine], data: WeekData) -> Iterator[Section]:
    if not lines:
        return
    ages = [(data.until - line.found_at).days for line in lines] if data.until else []
    oldest = f" The oldest is {counted(max(ages), 'day')} old." if ages else ""
    yield _section(
        "suspicions",
        "Suspicions",
        "Values over time became worse, which alone is often chance or a host's doing. Fresh boots "
        f"of the kernels before and after confirm or refute each.{oldest}",
        lines,
    )


def _section(name: str, title: str, about: str, lines: Sequence[RegressionLine]) -> Section:
    left = len(lines) - MOST
    return Section(
        id=name,
        title=f"{title} ({len(lines)})",
        about=[line_of(about)],
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
    if line.fresh:
        lines.append(line_of(f"fresh boots: {line.fresh}"))
    if line.too_few:
        lines.append(line_of(f"not sure all the same: {line.too_few}"))
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
