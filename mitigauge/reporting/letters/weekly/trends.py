"""Change points over time, as a part of the weekly report. Pure."""

from __future__ import annotations

from mitigauge.core.documents import units
from mitigauge.core.documents.units import humanise
from mitigauge.core.effect import Effect
from mitigauge.reporting.letters.weekly.data import TrendLine, WeekData
from mitigauge.reporting.letters.weekly.document import (
    Entry,
    Line,
    Picture,
    Point,
    Section,
    Span,
    line_of,
)
from mitigauge.reporting.letters.weekly.regression_section import in_hand

MOST_NEW, MOST_OPEN = 40, 20
MOST_PICTURES = 8


def trend_section(data: WeekData) -> Section | None:
    """Levels that changed over time; None where nobody looked for them."""
    if not data.trends_known:
        return None
    new = [line for line in data.trends if line.is_new]
    still = [line for line in data.trends if not line.is_new]
    told = [*new[:MOST_NEW], *still[:MOST_OPEN]]
    left = len(data.trends) - len(told)
    about = [
        line_of(
            "The same setting, measured again and again on one class of hosts: where its level "
            "changed for good. An outlier is no change."
        )
    ]
    return Section(
        id="trends",
        title=f"Changes over time ({len(new)} new, {len(still)} still open)",
        about=about if told else [*about, line_of("None.")],
        entries=[
            _entry(line, f"trend-{place}", picture=place <= MOST_PICTURES)
            for place, line in enumerate(told, start=1)
        ],
        more=f"{left} more." if left > 0 else "",
    )


def _entry(line: TrendLine, name: str, *, picture: bool) -> Entry:
    head = [
        Span(text=line.case, href=f"/trends/{line.trend_id}"),
        Span(text=f": {line.metric_title} "),
        Span(text=_size(line), tone=line.verdict),
    ]
    if line.emulated:
        head.append(Span(text=" [emulated]", tone="emulated"))
    if not line.is_new:
        head.append(Span(text=" (still open)", tone="faint"))
    return Entry(head=head, lines=list(_lines(line)), picture=_picture(line, name, wanted=picture))


def _lines(line: TrendLine) -> list[Line]:
    values = f"{humanise(line.before, line.unit)} before, {humanise(line.after, line.unit)} since"
    told = [
        line_of(f"{line.mode} on {line.host_class}: {values} {line.at:%Y-%m-%d %H:%M} UTC"),
        line_of(f"hosts: {', '.join(line.hosts) or 'none named'}"),
        line_of(
            Span(text="Suspected cause: ", tone="faint"),
            f"{'; '.join(line.causes)}."
            if line.causes
            else "nothing that is recorded changed then.",
        ),
    ]
    if line.went_away:
        told.append(line_of("it went away again"))
    if line.regression is not None:
        told.append(in_hand(line.regression))
    if line.said:
        told.append(line_of(f"note: {line.said}"))
    return told


def _size(line: TrendLine) -> str:
    change = Effect.of(line)
    return f"{line.verdict}" if change is None else f"{units.effect(change)}, {line.verdict}"


def _picture(line: TrendLine, name: str, *, wanted: bool) -> Picture | None:
    if not wanted or len(line.points) < 2:
        return None
    return Picture(
        id=name,
        title=f"{line.case}, {line.metric_title} with {line.mode} on {line.host_class}",
        unit=line.unit,
        points=[Point(at=at, value=value) for at, value in line.points],
        changed_at=line.at,
    )
