"""SQL of what cases gave within boots."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from sqlalchemy import Integer, Row, case, func, insert, select
from sqlalchemy.dialects.postgresql import insert as insert_or
from sqlalchemy.orm import Session, selectinload

from mitigauge.measurement.results.states import ResultState
from mitigauge.measurement.results.tables import (
    DETAIL_TABLE,
    MEASUREMENT_TABLE,
    RESULT_TABLE,
    THREAD_TABLE,
    Measurement,
    Result,
    ResultDetail,
    ThreadTable,
)

Rows = Sequence[Mapping[str, Any]]


class Mean(NamedTuple):
    """What the statistics take of one metric of one case within one boot."""

    boot_id: int
    case_id: int
    metric: str
    mean: float
    disturbed: int
    """Iterations that were taken again."""
    unsteady: int
    """Iterations that count though they were disturbed."""


def means_of(session: Session, boot_ids: Iterable[int]) -> list[Mean]:
    """The boots' means of every case and metric."""
    slowed = func.unnest(Measurement.slowdowns).column_valued("slowed")
    beyond = (
        select(func.count())
        .where(slowed > Measurement.slowdown_limit)
        .correlate(Measurement)
        .scalar_subquery()
    )
    rows = session.execute(
        select(
            Measurement.boot_id,
            Measurement.case_id,
            Measurement.metric,
            Measurement.mean,
            func.coalesce(func.cardinality(Measurement.disturbed), 0, type_=Integer),
            # Counted only where there are any: nearly nowhere.
            case((Measurement.slowdowns.is_(None), 0), else_=beyond),
        ).where(Measurement.boot_id.in_(list(boot_ids)))
    )
    return [Mean(*row) for row in rows]


def measurements_of(
    session: Session, boot_ids: Iterable[int], case_id: int | None = None
) -> Sequence[Row[Any]]:
    """Rows of :class:`Measurement`: every value of the boots, or of one case within them."""
    statement = (
        select(*Measurement.__table__.columns)
        .where(Measurement.boot_id.in_(list(boot_ids)))
        .order_by(Measurement.boot_id, Measurement.case_id, Measurement.metric)
    )
    if case_id is not None:
        statement = statement.where(Measurement.case_id == case_id)
    return session.execute(statement).all()


def has_more_measurements(session: Session, boot_ids: Iterable[int], most: int) -> bool:
    """Whether the boots have more rows of :class:`Measurement` than *most*."""
    rows = select(Measurement.boot_id).where(Measurement.boot_id.in_(list(boot_ids)))
    found = session.scalar(select(func.count()).select_from(rows.limit(most + 1).subquery()))
    return (found or 0) > most


def iterations_of(
    session: Session, boot_ids: Iterable[int]
) -> list[tuple[int, int, str, list[float]]]:
    """(boot, case, metric, iterations that count) of every value of the boots."""
    rows = session.execute(
        select(
            Measurement.boot_id, Measurement.case_id, Measurement.metric, Measurement.counted
        ).where(Measurement.boot_id.in_(list(boot_ids)))
    )
    return [(row[0], row[1], row[2], row[3]) for row in rows]


def results_of_boot(session: Session, boot_id: int) -> list[Result]:
    """What is stored of a boot, with its values."""
    return list(
        session.scalars(
            select(Result)
            .where(Result.boot_id == boot_id)
            .order_by(Result.case_id)
            .options(selectinload(Result.measurements))
        )
    )


def digests_of_boot(session: Session, boot_id: int) -> dict[int, str]:
    """case id → digest of what is stored of it within the boot."""
    rows = session.execute(
        select(Result.case_id, Result.body_sha256).where(Result.boot_id == boot_id)
    )
    return {row[0]: row[1] for row in rows}


def details_of(session: Session, boot_ids: Iterable[int], case_id: int) -> dict[int, Any]:
    """boot id → what the case told within it besides its metrics, as stored."""
    rows = session.execute(
        select(ResultDetail.boot_id, ResultDetail.body).where(
            ResultDetail.boot_id.in_(list(boot_ids)), ResultDetail.case_id == case_id
        )
    )
    return {row[0]: row[1] for row in rows}


def detailed_cases(session: Session, boot_ids: Iterable[int]) -> list[int]:
    """Numbers of the cases of which any of the boots has details, in order."""
    return list(
        session.scalars(
            select(ResultDetail.case_id)
            .where(ResultDetail.boot_id.in_(list(boot_ids)))
            .distinct()
            .order_by(ResultDetail.case_id)
        )
    )


def case_seconds(session: Session, boot_ids: Iterable[int], case_id: int) -> dict[int, float]:
    """boot id → seconds that the case took within it, of boots in which it was measured."""
    seconds = func.extract("epoch", Result.finished_at - Result.started_at)
    rows = session.execute(
        select(Result.boot_id, seconds).where(
            Result.boot_id.in_(list(boot_ids)),
            Result.case_id == case_id,
            Result.state == ResultState.MEASURED,
            seconds.is_not(None),
        )
    )
    return {row[0]: float(row[1]) for row in rows}


def thread_tables_of(
    session: Session, boot_ids: Iterable[int], case_id: int
) -> Sequence[ThreadTable]:
    """What threads did beside one case within the boots."""
    return session.scalars(
        select(ThreadTable)
        .where(ThreadTable.boot_id.in_(list(boot_ids)), ThreadTable.case_id == case_id)
        .order_by(ThreadTable.boot_id)
    ).all()


def insert_results(
    session: Session, *, results: Rows, measurements: Rows, details: Rows, threads: Rows
) -> None:
    """Store results with what belongs to them; each row maps columns to values."""
    connection = session.connection()
    tables = (RESULT_TABLE, MEASUREMENT_TABLE, DETAIL_TABLE, THREAD_TABLE)
    for table, rows in zip(tables, (results, measurements, details, threads), strict=True):
        if rows:
            connection.execute(insert(table), rows)


def insert_failures(session: Session, rows: Rows) -> None:
    """Store results without figures; what is stored of a boot's case stays."""
    if rows:
        session.execute(insert_or(Result).on_conflict_do_nothing(), rows)
