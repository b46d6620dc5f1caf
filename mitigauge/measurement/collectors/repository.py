"""SQL of what was collected beside cases."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from sqlalchemy import select
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.orm import Session

from mitigauge.measurement.collectors.tables import CollectedSeries
from mitigauge.storage.database.engine import BINARY


class CollectorSummary(NamedTuple):
    """What one collector came to beside one case within one boot, without its samples."""

    boot_id: int
    case_id: int
    collector: str
    absent: str
    cost_percent: float
    means: dict[str, float]
    rates: dict[str, float]


class Samples(NamedTuple):
    """The packed samples of one collector, with the window of the measured iterations."""

    boot_id: int
    collector: str
    began_s: float | None
    ended_s: float | None
    data: bytes


def add(session: Session, rows: Sequence[dict[str, Any]]) -> None:
    """Store rows; what is stored of a case stays."""
    if rows:
        session.execute(insert(CollectedSeries).on_conflict_do_nothing(), rows)


def told_of(
    session: Session, boot_ids: Iterable[int], case_ids: Iterable[int] | None = None,
    collector: str | None = None,
) -> list[CollectorSummary]:  # fmt: skip
    """What was collected within the boots, of some cases or of one collector alone."""
    statement = (
        select(*(getattr(CollectedSeries, name) for name in CollectorSummary._fields))
        .where(CollectedSeries.boot_id.in_(list(boot_ids)))
        .order_by(CollectedSeries.boot_id, CollectedSeries.case_id, CollectedSeries.collector)
    )
    if case_ids is not None:
        statement = statement.where(CollectedSeries.case_id.in_(list(case_ids)))
    if collector is not None:
        statement = statement.where(CollectedSeries.collector == collector)
    return [CollectorSummary(*row) for row in session.execute(statement)]


def samples_of(session: Session, boot_ids: Iterable[int], case_id: int) -> list[Samples]:
    """The samples of one case within the boots."""
    rows = session.execute(
        select(*(getattr(CollectedSeries, name) for name in Samples._fields))
        .where(
            CollectedSeries.boot_id.in_(list(boot_ids)),
            CollectedSeries.case_id == case_id,
            CollectedSeries.data.is_not(None),
        )
        .order_by(CollectedSeries.boot_id, CollectedSeries.collector),
        execution_options=BINARY,
    )
    return [Samples(*row) for row in rows]
