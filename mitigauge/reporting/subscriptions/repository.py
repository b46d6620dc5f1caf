"""SQL of subscriptions."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime
from typing import Any

from sqlalchemy import delete, func, select, update
from sqlalchemy.orm import Session

from mitigauge.measurement.fleet.tables import Host
from mitigauge.reporting.subscriptions.states import SubscriptionState
from mitigauge.reporting.subscriptions.tables import Subscription
from mitigauge.tracking.regressions.tables import Regression
from mitigauge.tracking.series.tables import Series
from mitigauge.tracking.trends.tables import Trend


def listed(session: Session, owner: str | None) -> list[Subscription]:
    """Those of one person, or of everybody; the newest first."""
    wanted = select(Subscription).order_by(Subscription.id.desc())
    if owner is not None:
        wanted = wanted.where(Subscription.owner == owner)
    return list(session.scalars(wanted))


def count_of(session: Session, owner: str) -> int:
    """How many a person has."""
    asked = select(func.count()).select_from(Subscription).where(Subscription.owner == owner)
    return session.scalar(asked) or 0


def find(session: Session, subscription_id: int) -> Subscription | None:
    """One of them, which nobody else changes until the transaction ends."""
    return session.get(Subscription, subscription_id, with_for_update=True)


def same_as(session: Session, new: Subscription) -> int | None:
    """The number of one that tells the same to the same."""
    return session.scalar(
        select(Subscription.id).where(
            Subscription.owner == new.owner,
            Subscription.kind == new.kind,
            Subscription.subject == new.subject,
            Subscription.way == new.way,
            Subscription.address == new.address,
        )
    )


def remove(session: Session, subscription_id: int) -> None:
    """Delete one."""
    session.execute(delete(Subscription).where(Subscription.id == subscription_id))


def active(session: Session, ids: Collection[int]) -> list[Subscription]:
    """Those of *ids* that are told."""
    wanted = select(Subscription).where(
        Subscription.id.in_(ids), Subscription.state == SubscriptionState.ACTIVE
    )
    return list(session.scalars(wanted.order_by(Subscription.id)))


def note(session: Session, ids: Collection[int], **values: Any) -> None:
    """Write down what became of *ids*, as far as they are still told."""
    session.execute(
        update(Subscription)
        .where(Subscription.id.in_(ids), Subscription.state == SubscriptionState.ACTIVE)
        .values(**values)
    )


def move_cursors(session: Session, to: int, *, but: Collection[int]) -> None:
    """Let no subscription look at notices up to *to* again, but for those."""
    session.execute(
        update(Subscription)
        .where(
            Subscription.state == SubscriptionState.ACTIVE,
            Subscription.cursor < to,
            Subscription.id.not_in(but),
        )
        .values(cursor=to)
    )


def has_series(session: Session, name: str) -> bool:
    """Whether there is a series of that name."""
    return session.scalar(select(Series.id).where(Series.name == name)) is not None


def has_host(session: Session, environment: str, name: str) -> bool:
    """Whether there is a host of that name there."""
    asked = select(Host.id).where(Host.environment == environment, Host.name == name)
    return session.scalar(asked) is not None


def has_case(session: Session, workload: str, title: str) -> bool:
    """Whether a trend or a regression is of that case."""
    for table in (Trend, Regression):
        asked = select(table.id).where(table.workload == workload, table.case_title == title)
        if session.scalar(asked.limit(1)) is not None:
            return True
    return False


def case_of(session: Session, trend_id: int) -> tuple[str, str] | None:
    """Workload and case of a trend."""
    asked = select(Trend.workload, Trend.case_title).where(Trend.id == trend_id)
    row = session.execute(asked).one_or_none()
    return None if row is None else (row[0], row[1])


def note_told(session: Session, ids: Collection[int], at: datetime) -> None:
    """Write down that *ids* were told."""
    note(session, ids, told_at=at, why="")
