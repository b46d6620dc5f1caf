"""SQL of backups."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import Any, NamedTuple

from psycopg import sql
from sqlalchemy import (
    Column,
    ColumnElement,
    Connection,
    Engine,
    MetaData,
    cast,
    exists,
    func,
    select,
    text,
    true,
    union_all,
)
from sqlalchemy.dialects.postgresql import TEXT
from sqlalchemy.orm import Session

from mitigauge.measurement.experiments.tables import Experiment
from mitigauge.measurement.runs.tables import Boot, Run
from mitigauge.storage.database.engine import new_engine
from mitigauge.upkeep.backups.tables import Backup
from mitigauge.upkeep.retention.repository import naming_columns

# Of one statement, and while a dump is written beside it.
STATEMENT_LIMIT_S = 6 * 3600.0
IDLE_LIMIT_S = 24 * 3600.0
DIGESTS_AT_ONCE = 10_000


@contextmanager
def patient_engine(engine: Engine) -> Iterator[Engine]:
    """An engine over the same database whose statements may take hours."""
    url = engine.url.render_as_string(hide_password=False)
    patient = new_engine(
        url,
        idle_in_transaction_s=IDLE_LIMIT_S,
        statement_limit_s=STATEMENT_LIMIT_S,
        pooled=False,
    )
    try:
        yield patient
    finally:
        patient.dispose()


@contextmanager
def snapshot(engine: Engine) -> Iterator[Connection]:
    """A transaction that sees the database as it is now, whatever is written meanwhile."""
    repeatable = engine.execution_options(isolation_level="REPEATABLE READ")
    with repeatable.connect() as connection, connection.begin():
        connection.execute(text("set transaction read only"))
        yield connection


def export_snapshot(connection: Connection) -> str:
    """A name by which pg_dump sees what this transaction sees."""
    name: str = connection.execute(text("select pg_export_snapshot()")).scalar_one()
    return name


def clock(connection: Connection) -> datetime:
    """When the transaction began, by the database's clock."""
    now: datetime = connection.execute(text("select now()")).scalar_one()
    return now


_TABLES = text(
    """
    select c.relname from pg_class c
    where c.relnamespace = current_schema()::regnamespace and c.relkind in ('r', 'p')
      and c.relname <> 'alembic_version' and c.relname not like 'procrastinate%'
    order by c.relname collate "C"
    """
)


def filled(connection: Connection) -> dict[str, int]:
    """Tables that have rows, with how many; without those of the queue."""
    found = {}
    for table in connection.scalars(_TABLES).all():
        counted = sql.SQL("select count(*) from {}").format(sql.Identifier(table)).as_string()
        if count := connection.execute(text(counted)).scalar_one():
            found[table] = count
    return found


def drop_all(connection: Connection) -> None:
    """Leave nothing in the schema, of a database that holds no rows."""
    name = connection.execute(text("select quote_ident(current_schema())")).scalar_one()
    connection.execute(text(f"drop schema {name} cascade"))
    connection.execute(text(f"create schema {name}"))


class NamedBlob(NamedTuple):
    """A raw file that rows name, by its SHA-256 or whatever else stands there."""

    digest: str
    required: bool
    """False: only what was imported names it, which may have come without."""


def named_blobs(connection: Connection, metadata: MetaData) -> Iterator[NamedBlob]:
    """What rows name as raw files, each once and in order."""
    named = union_all(
        *(
            select(column.label("digest"), _required(column).label("required"))
            .where(column != "")
            .distinct()
            for column in naming_columns(metadata)
        )
    ).subquery()
    digest = named.c.digest
    wanted = select(digest, func.bool_or(named.c.required)).group_by(digest)
    options = {"yield_per": DIGESTS_AT_ONCE}
    with connection.execute(
        wanted.order_by(digest.collate("C")), execution_options=options
    ) as found:
        yield from (NamedBlob(*row) for row in found)


def _required(column: Column[Any]) -> ColumnElement[bool]:
    boot = column.table.columns.get("boot_id")
    if boot is None:
        return true()
    # A profile of no boot was read from a file, which is not kept.
    return exists().where(
        Boot.id == boot,
        Run.id == Boot.run_id,
        Experiment.id == Run.experiment_id,
        Experiment.recorded_at.is_(None),
    )


def rows_naming(
    session: Session, column: Column[Any], digest: str, limit: int
) -> tuple[int, list[str]]:
    """How many rows name a raw file in that column, and the keys of the first of them."""
    count = session.scalar(select(func.count()).where(column == digest)) or 0
    keys = [cast(key, TEXT) for key in column.table.primary_key]
    wanted = select(*keys).where(column == digest).order_by(*column.table.primary_key)
    first = session.execute(wanted.limit(limit)).all() if count else []
    return count, [", ".join(row) for row in first]


def last_finished(session: Session, *, scheduled_only: bool = False) -> Backup | None:
    """The latest backup that was finished and that is there, as far as we know.

    By its number: a clock that was wrong once gave times that no later one reaches for long.
    """
    wanted = select(Backup).where(Backup.finished_at.is_not(None), Backup.removed_at.is_(None))
    if scheduled_only:
        wanted = wanted.where(Backup.scheduled)
    return session.scalars(wanted.order_by(Backup.id.desc()).limit(1)).one_or_none()


def scheduled_there(session: Session) -> list[Backup]:
    """The service's own backups that were not removed, finished or not, the oldest first."""
    wanted = select(Backup).where(Backup.scheduled, Backup.removed_at.is_(None))
    return list(session.scalars(wanted.order_by(Backup.taken_at)))
