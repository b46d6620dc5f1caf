"""SQL of backups. PostgreSQL's COPY turns rows into text and back, whatever types columns have.

What is asked of the catalogues holds at every revision of the schema, so that an older backup is
put in as it was and migrated afterwards.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

import psycopg
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

# Of one statement: copying the largest table, or building its indexes.
STATEMENT_LIMIT_S = 6 * 3600.0
# Between two of them raw files are copied.
IDLE_LIMIT_S = 24 * 3600.0
# Their rows are not kept: the queue holds nothing that is needed later.
_NOT_KEPT = "like 'procrastinate%'"
# How PostgreSQL writes values as text depends on these.
_SPELLING = (
    "set local datestyle = 'ISO, YMD'",
    "set local intervalstyle = 'postgres'",
    "set local timezone = 'UTC'",
    "set local extra_float_digits = 1",
    "set local bytea_output = 'hex'",
)
DIGESTS_AT_ONCE = 10_000


@dataclass(frozen=True, slots=True)
class Shape:
    """A table as the catalogues have it: columns that hold values, and those of its key."""

    table: str
    columns: tuple[str, ...]
    key: tuple[str, ...]
    text_key: frozenset[str]
    """Columns of the key that are texts, whose order depends on the database's language."""


@dataclass(frozen=True, slots=True)
class Reference:
    """A foreign key; *definition* as PostgreSQL writes it."""

    table: str
    name: str
    definition: str


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
        spell(connection)
        yield connection


def spell(connection: Connection) -> None:
    """Have values of this transaction written the same way on every server."""
    for statement in _SPELLING:
        connection.execute(text(statement))


def clock(connection: Connection) -> datetime:
    """When the transaction began, by the database's clock."""
    now: datetime = connection.execute(text("select now()")).scalar_one()
    return now


_SHAPES = text(
    f"""
    select c.relname as name,
      array(select a.attname::text from pg_attribute a where a.attrelid = c.oid and a.attnum > 0
            and not a.attisdropped and a.attgenerated = '' order by a.attnum) as columns,
      array(select a.attname::text
            from pg_index i, unnest(i.indkey::int2[]) with ordinality k(number, place)
            join pg_attribute a on a.attrelid = c.oid and a.attnum = k.number
            where i.indrelid = c.oid and i.indisprimary order by k.place) as key,
      array(select a.attname::text from pg_attribute a join pg_type t on t.oid = a.atttypid
            where a.attrelid = c.oid and a.attnum > 0 and t.typcategory = 'S') as texts
    from pg_class c
    where c.relnamespace = current_schema()::regnamespace and c.relkind in ('r', 'p')
      and c.relname <> 'alembic_version' and c.relname not {_NOT_KEPT}
    order by c.relname collate "C"
    """
)


def shapes(connection: Connection) -> list[Shape]:
    """All tables whose rows are kept, by name."""
    return [
        Shape(row.name, tuple(row.columns), tuple(row.key), frozenset(row.texts))
        for row in connection.execute(_SHAPES)
    ]


def copied(connection: Connection, shape: Shape) -> Iterator[bytes]:
    """All rows of a table as text, in order of its key, in parts of any size."""
    query = sql.SQL("copy (select {} from {} order by {}) to stdout").format(
        _listed(shape.columns), sql.Identifier(shape.table), _order(shape)
    )
    with _driver(connection).cursor() as cursor, cursor.copy(query) as copy:
        for part in copy:
            yield bytes(part)


def put_copied(connection: Connection, shape: Shape, pieces: Iterable[bytes]) -> None:
    """Put rows into a table as :func:`copied` wrote them. Raises psycopg's errors."""
    query = sql.SQL("copy {} ({}) from stdin").format(
        sql.Identifier(shape.table), _listed(shape.columns)
    )
    with _driver(connection).cursor() as cursor, cursor.copy(query) as copy:
        for piece in pieces:
            copy.write(piece)


def _order(shape: Shape) -> sql.Composable:
    named = shape.key or shape.columns
    return sql.SQL(", ").join(
        sql.SQL('{} collate "C"').format(sql.Identifier(name))
        if name in shape.text_key
        else sql.Identifier(name)
        for name in named
    )


def _listed(columns: Iterable[str]) -> sql.Composable:
    return sql.SQL(", ").join(map(sql.Identifier, columns))


def _driver(connection: Connection) -> psycopg.Connection[Any]:
    driver = connection.connection.driver_connection
    assert isinstance(driver, psycopg.Connection)
    return driver


def sequences(connection: Connection) -> dict[str, int | None]:
    """The last number that each sequence gave; None where it gave none."""
    found = text(
        f"""
        select sequencename, last_value from pg_sequences
        where schemaname = current_schema() and sequencename not {_NOT_KEPT}
        order by sequencename collate "C"
        """
    )
    return {row.sequencename: row.last_value for row in connection.execute(found)}


def set_sequences(connection: Connection, last: Mapping[str, int | None]) -> None:
    """Have each sequence go on behind that number. The names are the database's own."""
    for name, value in last.items():
        connection.execute(
            text("select setval(cast(:name as regclass), :value, :given)"),
            {"name": f'"{name}"', "value": value or 1, "given": value is not None},
        )


def references(connection: Connection) -> list[Reference]:
    """All foreign keys among the tables that are kept."""
    found = text(
        f"""
        select r.relname, c.conname, pg_get_constraintdef(c.oid) as definition
        from pg_constraint c join pg_class r on r.oid = c.conrelid
        where c.contype = 'f' and r.relnamespace = current_schema()::regnamespace
          and r.relname not {_NOT_KEPT} order by r.relname, c.conname
        """
    )
    return [Reference(*row) for row in connection.execute(found)]


def drop_references(connection: Connection, all_of_them: Iterable[Reference]) -> None:
    """Let tables be filled in any order, until :func:`add_references`."""
    for each in all_of_them:
        _run(
            connection,
            sql.SQL("alter table {} drop constraint {}").format(
                sql.Identifier(each.table), sql.Identifier(each.name)
            ),
        )


def add_references(connection: Connection, all_of_them: Iterable[Reference]) -> None:
    """Have every row point at one that is there. Raises psycopg's errors where one does not."""
    for each in all_of_them:
        _run(
            connection,
            sql.SQL("alter table {} add constraint {} {}").format(
                sql.Identifier(each.table), sql.Identifier(each.name), _as_it_is(each.definition)
            ),
        )


def _as_it_is(definition: str) -> sql.Composable:
    # PostgreSQL wrote it a moment ago, of its own catalogue.
    return sql.SQL(definition)


def _run(connection: Connection, statement: sql.Composed) -> None:
    _driver(connection).execute(statement)


def filled(connection: Connection, all_of_them: Iterable[Shape]) -> dict[str, int]:
    """Tables that have rows, with how many."""
    found = {}
    for shape in all_of_them:
        driver = _driver(connection)
        table = sql.Identifier(shape.table)
        one = driver.execute(sql.SQL("select 1 from {} limit 1").format(table)).fetchone()
        if one is not None:
            count = driver.execute(sql.SQL("select count(*) from {}").format(table)).fetchone()
            found[shape.table] = int(count[0]) if count else 0
    return found


def set_revision(connection: Connection, revision: str) -> None:
    """Say which revision the schema has; see ``mitigauge.storage.database.schema_revision``."""
    connection.execute(text("update alembic_version set version_num = :r"), {"r": revision})


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
