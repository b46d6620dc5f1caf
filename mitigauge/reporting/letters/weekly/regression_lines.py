"""Regressions of a week, with whose each one is, as a weekly report holds them."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import datetime

from sqlalchemy.orm import Session

from mitigauge.core.clock import Clock
from mitigauge.reporting.letters.weekly.data import RegressionLine
from mitigauge.reporting.letters.weekly.week import Week
from mitigauge.tracking.regressions import repository
from mitigauge.tracking.regressions.confirmation import enough_confirmed
from mitigauge.tracking.regressions.confirmation_repository import (
    decided_by_week,
    judged_by_people,
    of_regressions,
    sure_of,
)
from mitigauge.tracking.regressions.service import ITSELF
from mitigauge.tracking.regressions.states import ConfirmationState, RegressionState
from mitigauge.tracking.regressions.tables import Confirmation, Regression

MOST = 200
# What somebody must still do something about; what is known has its bug.
IN_HAND = (RegressionState.NEW, RegressionState.CONFIRMED, RegressionState.ASSIGNED)


def regression_lines(session: Session, week: Week) -> list[RegressionLine]:
    """Those in hand that were found before the week's end, this week's first."""
    rows = repository.in_hand(session, IN_HAND, before=week.end, limit=MOST)
    ids = [row.id for row in rows]
    fresh, few = of_regressions(session, ids), _weeks_of_too_few(session)
    by_people, sure = judged_by_people(session, ids, ITSELF), sure_of(session, rows, ITSELF)
    lines = [
        _line(row, week, fresh.get(row.id), {} if row.id in by_people else few, sure=row.id in sure)
        for row in rows
    ]
    return sorted(lines, key=lambda line: not line.is_new)


def known_by_change(session: Session, change_ids: Collection[int]) -> dict[int, RegressionLine]:
    """change of a trend → its regression, or the one that it joined, for those that have one."""
    own = {row.change_id: row for row in repository.of_changes(session, change_ids)}
    joined = {row.duplicate_of for row in own.values() if row.duplicate_of is not None}
    others = {row.id: row for row in repository.numbered(session, joined)}
    sure = sure_of(session, [*own.values(), *others.values()], ITSELF)
    shown = {change_id: others.get(row.duplicate_of or 0, row) for change_id, row in own.items()}
    return {
        change_id: _line(row, None, None, {}, sure=row.id in sure)
        for change_id, row in shown.items()
        if change_id is not None
    }


def _weeks_of_too_few(session: Session) -> dict[datetime, str]:
    """Monday of each week that confirmed too few of what it decided → why none of them is sure."""
    return {
        start: f"{confirmed} of {decided} that were measured in that week: among so few some 5 % "
        "and more may be chance"
        for start, (confirmed, decided) in decided_by_week(session).items()
        if confirmed and not enough_confirmed(confirmed, decided)
    }


def _too_few(fresh: Confirmation | None, weeks: Mapping[datetime, str]) -> str:
    if fresh is None or fresh.decided_at is None:
        return ""
    if fresh.state is not ConfirmationState.CONFIRMED:
        return ""
    return weeks.get(Week.of(fresh.decided_at).start, "")


def _line(
    row: Regression,
    week: Week | None,
    fresh: Confirmation | None,
    few: Mapping[datetime, str],
    *,
    sure: bool,
) -> RegressionLine:
    return RegressionLine(
        id=row.id,
        is_new=week is not None and row.found_at >= week.start,
        state=row.state,
        owner=row.owner_name,
        bug=row.bug,
        case=row.case_title,
        metric_title=row.metric_title,
        mode=row.mode,
        host_class=row.host_class,
        emulated=row.emulated,
        counted=row.clock is Clock.COUNTED,
        effect_percent=row.effect_percent,
        ci_low_percent=row.ci_low_percent,
        ci_high_percent=row.ci_high_percent,
        bound=row.bound,
        found_at=row.found_at,
        confirmed=sure,
        slower_builds=fresh is not None and fresh.state is ConfirmationState.SLOWER_BUILDS,
        fresh="" if fresh is None else f"{fresh.state}: {fresh.why}",
        too_few=_too_few(fresh, few),
    )
