"""Limits that were broken or could not be told, as a part of the weekly report. Pure."""

from __future__ import annotations

from collections.abc import Iterable

from mitigauge.analysis.verdicts.limit_words import describe
from mitigauge.analysis.verdicts.metric_limits import Kept
from mitigauge.core.documents.paths import case_path
from mitigauge.reporting.letters.weekly.data import LimitLine, LimitsOfWeek
from mitigauge.reporting.letters.weekly.document import Entry, Section, Span, line_of

MOST = 40


def limit_section(said: LimitsOfWeek | None) -> Section | None:
    """Broken ones first; None where every limit was kept, or there is none."""
    if said is None or not said.broken + said.cannot_tell:
        return None
    left = said.broken + said.cannot_tell - MOST
    return Section(
        id="limits",
        title=f"Limits: {said.broken} broken, {said.cannot_tell} cannot be told",
        about=[
            line_of(
                f"Of experiments that ended this week; {said.kept} more are kept. A limit is "
                "broken where the whole 95 % interval lies beyond it, and cannot be told where it "
                "lies within the interval, or there is no interval."
            )
        ],
        entries=[_entry(line) for line in said.lines[:MOST]],
        more=f"{left} more." if left > 0 else "",
    )


def _entry(line: LimitLine) -> Entry:
    is_broken = line.row.kept is Kept.BROKEN
    word = "broken" if is_broken else "cannot be told"
    return Entry(
        head=[
            Span(text=f"{word}: ", tone="bad" if is_broken else ""),
            Span(text=describe(line.row), href=_path(line)),
        ],
        lines=[line_of(*_about(line))],
        picture=None,
    )


def _path(line: LimitLine) -> str:
    if line.row.case_id is None:
        return f"/experiments/{line.experiment_id}"
    return case_path(line.experiment_id, line.row.case_id, line.row.host)


def _about(line: LimitLine) -> Iterable[str]:
    yield f"experiment {line.experiment_id}, {line.experiment}"
    if line.row.because:
        yield f"; {line.row.because}"
