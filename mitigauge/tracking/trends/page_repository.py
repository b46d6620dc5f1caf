"""SQL of what is shown of trends: rows as they were written, nothing worked out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Select, and_, func, or_, select
from sqlalchemy.orm import Session, aliased

from mitigauge.core.natural_order import natural_order
from mitigauge.measurement.fleet.tables import Host
from mitigauge.measurement.runs.tables import Run
from mitigauge.storage.database.like import ESCAPE, within
from mitigauge.storage.database.natural_sql import natural
from mitigauge.tracking.trends.schemas import ChangeKind, ChangeState
from mitigauge.tracking.trends.tables import (
    StoredChange,
    Trend,
    TrendAnnotation,
)


@dataclass(frozen=True, slots=True)
class TrendFilter:
    """Which trends to list; None and False: all."""

    environment: str | None = None
    host_class: str | None = None
    workload: str | None = None
    mode: str | None = None
    text: str | None = None
    """Within the case's title, the metric or the mode."""
    only_changed: bool = False
    only_open: bool = False


def listed(
    session: Session, wanted: TrendFilter, *, offset: int, limit: int
) -> tuple[list[Trend], int]:
    """A page of trends, newest change first, and how many there are."""
    total = session.scalar(_where(select(func.count()).select_from(Trend), wanted)) or 0
    page = _where(select(Trend), wanted)
    rows = session.scalars(
        page.order_by(Trend.changed_at.desc().nulls_last(), Trend.id.desc())
        .offset(offset)
        .limit(limit)
    )
    return list(rows), total


def _where(statement: Select[Any], wanted: TrendFilter) -> Select[Any]:
    exact = {
        Trend.environment: wanted.environment,
        Trend.host_class: wanted.host_class,
        Trend.workload: wanted.workload,
        Trend.mode: wanted.mode,
    }
    for column, value in exact.items():
        if value is not None:
            statement = statement.where(column == value)
    if wanted.text:
        like = within(wanted.text)
        named = (Trend.case_title, Trend.metric, Trend.mode, Trend.line)
        statement = statement.where(or_(*(column.ilike(like, escape=ESCAPE) for column in named)))
    if wanted.only_changed:
        statement = statement.where(Trend.changed_at.is_not(None))
    if wanted.only_open:
        statement = statement.where(Trend.open_changes > 0)
    return statement


def newest_changes(session: Session, trend_ids: Sequence[int]) -> list[Any]:
    """Rows (change, its trend, experiments before and after) of the newest change of each."""
    newest = (
        select(StoredChange.id)
        .where(
            StoredChange.trend_id == Trend.id,
            StoredChange.superseded_at.is_(None),
            StoredChange.kind != ChangeKind.WITHDRAWN,
        )
        .order_by(StoredChange.at.desc(), StoredChange.id.desc())
        .limit(1)
        .correlate(Trend)
        .scalar_subquery()
    )
    return list(
        session.execute(
            _with_trend().where(
                Trend.id.in_(trend_ids),
                StoredChange.id == newest,
                StoredChange.superseded_at.is_(None),
            )
        )
    )


def changes_of(session: Session, trend_id: int) -> list[Any]:
    """All versions of all changes of a trend, by time and version."""
    return list(
        session.execute(
            _with_trend()
            .where(StoredChange.trend_id == trend_id)
            .order_by(StoredChange.at, StoredChange.id, StoredChange.version)
        )
    )


def changes_found(
    session: Session,
    *,
    since: datetime | None = None,
    until: datetime | None = None,
    only_open: bool = False,
    limit: int,
) -> list[Any]:
    """Current changes that were found from *since* up to before *until*, the largest first."""
    statement = _with_trend().where(StoredChange.superseded_at.is_(None))
    if since is not None:
        statement = statement.where(StoredChange.found_at >= since)
    if until is not None:
        statement = statement.where(StoredChange.found_at < until)
    if only_open:
        statement = statement.where(
            StoredChange.state == ChangeState.OPEN, StoredChange.kind == ChangeKind.LASTING
        )
    size = func.abs(StoredChange.effect_percent).desc().nulls_last()
    return list(session.execute(statement.order_by(size, StoredChange.id).limit(limit)))


def _with_trend() -> Select[StoredChange, Trend, int, int]:
    before, after = aliased(Run), aliased(Run)
    return (
        select(
            StoredChange,
            Trend,
            before.experiment_id.label("experiment_before"),
            after.experiment_id.label("experiment_after"),
        )
        .join(Trend, StoredChange.trend_id == Trend.id)
        .join(before, StoredChange.run_before == before.id)
        .join(after, StoredChange.run_after == after.id)
    )


def trend(session: Session, trend_id: int) -> Trend | None:
    """One trend."""
    return session.get(Trend, trend_id)


def change(session: Session, change_id: int, *, lock: bool = False) -> StoredChange | None:
    """What is said of a change now."""
    statement = select(StoredChange).where(
        StoredChange.id == change_id, StoredChange.superseded_at.is_(None)
    )
    return session.scalars(statement.with_for_update() if lock else statement).one_or_none()


def annotations_of(session: Session, trend_id: int) -> list[TrendAnnotation]:
    """What was said of a trend, the first first."""
    return list(
        session.scalars(
            select(TrendAnnotation)
            .where(TrendAnnotation.trend_id == trend_id)
            .order_by(TrendAnnotation.id)
        )
    )


def others_like(session: Session, of: Trend) -> list[Trend]:
    """Trends of the same metric and mode on the same class under the same case's title."""
    return list(
        session.scalars(
            select(Trend)
            .where(
                Trend.id != of.id,
                and_(
                    *(
                        getattr(Trend, name) == getattr(of, name)
                        for name in ("environment", "host_class", "workload", "metric", "mode",
                                     "line")
                    )
                ),
                or_(Trend.case_title == of.case_title, Trend.case_key == of.case_key),
            )
            .order_by(Trend.id)
            .limit(20)
        )
    )  # fmt: skip


def classes(session: Session) -> list[Any]:
    """(environment, class, trends, changed) of all host classes."""
    return list(
        session.execute(
            select(
                Trend.environment,
                Trend.host_class,
                func.count(),
                func.count(Trend.changed_at),
                func.array_agg(Trend.workload.distinct()),
            )
            .group_by(Trend.environment, Trend.host_class)
            .order_by(Trend.environment, natural(Trend.host_class))
        )
    )


def hosts_by_class(session: Session) -> dict[tuple[str, str], list[str]]:
    """(environment, class) → names of its hosts."""
    found: dict[tuple[str, str], list[str]] = {}
    rows = session.execute(select(Host.environment, Host.host_class, Host.name)).all()
    for environment, host_class, name in sorted(rows, key=lambda row: natural_order(row[2])):
        found.setdefault((environment, host_class), []).append(name)
    return found
