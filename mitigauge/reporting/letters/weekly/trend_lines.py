"""Change points of a week, as a weekly report holds them."""

from __future__ import annotations

from collections import defaultdict
from datetime import datetime

from sqlalchemy.orm import Session

from mitigauge.core.clock import Clock
from mitigauge.reporting.letters.weekly.data import FactChange, RegressionLine, TrendLine
from mitigauge.reporting.letters.weekly.findings import in_words
from mitigauge.reporting.letters.weekly.regression_lines import IN_HAND, known_by_change
from mitigauge.reporting.letters.weekly.week import Week
from mitigauge.tracking.trends import repository, service
from mitigauge.tracking.trends.schemas import Cause, ChangeKind, TrendChange

MOST_NEW, MOST_OPEN = 200, 100
# Of those that have a picture, and values of each.
MOST_PICTURES, MOST_POINTS = 24, 120


def trend_lines(session: Session, week: Week) -> list[TrendLine]:
    """Changes that were found this week, and open ones of before; the largest first."""
    new = service.changes_found(session, week.start, week.end)[:MOST_NEW]
    still = service.open_changes(session, week.start)[:MOST_OPEN]
    shown = [*new[:MOST_PICTURES], *still[:MOST_PICTURES]]
    points = _points(session, sorted({change.trend_id for change in shown}), week.end)
    known = known_by_change(session, [change.id for change in (*new, *still)])
    return [
        *(_line(change, points, known.get(change.id), is_new=True) for change in new),
        *(_line(change, points, known.get(change.id), is_new=False) for change in still),
    ]


def _points(
    session: Session, trend_ids: list[int], end: datetime
) -> dict[int, list[tuple[datetime, float]]]:
    found: dict[int, list[tuple[datetime, float]]] = defaultdict(list)
    if trend_ids:
        for trend_id, values in repository.values_of(session, trend_ids).items():
            before = [(value.at, value.value) for value in values if value.at < end]
            found[trend_id] = before[-MOST_POINTS:]
    return found


def _line(
    change: TrendChange,
    points: dict[int, list[tuple[datetime, float]]],
    regression: RegressionLine | None,
    *,
    is_new: bool,
) -> TrendLine:
    return TrendLine(
        trend_id=change.trend_id,
        # What somebody knew already is no news, whenever it was found.
        is_new=is_new and (regression is None or regression.state in IN_HAND),
        regression=regression,
        verdict=change.verdict,
        environment=change.environment,
        host_class=change.host_class,
        emulated=change.emulated,
        counted=change.clock is Clock.COUNTED,
        workload=change.workload,
        case=change.case,
        metric_title=change.metric_title,
        unit=change.unit,
        direction=change.direction,
        mode=change.mode,
        before=change.before,
        after=change.after,
        effect_percent=change.effect_percent,
        ci_low_percent=change.ci_low_percent,
        ci_high_percent=change.ci_high_percent,
        at=change.at,
        went_away=change.kind is ChangeKind.WENT_AWAY,
        hosts=change.hosts,
        causes=[_cause(cause) for cause in change.causes],
        said=f"{change.state} by {change.said_by}: {change.said}" if change.said else "",
        points=points.get(change.trend_id, []),
    )


def _cause(cause: Cause) -> str:
    told = in_words(FactChange(name=cause.what, before=cause.before, after=cause.after))
    return f"{told} (on {cause.host})" if cause.host else told
