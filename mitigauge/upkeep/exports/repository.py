"""SQL of exports. PostgreSQL turns rows into JSON and back, whatever types their columns have."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Any

import orjson
from sqlalchemy import (
    Column,
    Connection,
    Select,
    String,
    Table,
    cast,
    func,
    literal_column,
    select,
    text,
)
from sqlalchemy.orm import Session

from mitigauge.analysis.profiles.store.tables import Profile
from mitigauge.measurement.runs.tables import Boot, Run

Json = dict[str, Any]
# Rows that are sent or fetched at once.
BATCH = 500


def rows(session: Session, table: Table, by: Column[Any], ids: Collection[int]) -> Iterator[Json]:
    """Rows whose column *by* has one of *ids*, in order of their keys."""
    whole = (
        select(table).where(by == func.any(list(ids))).order_by(*table.primary_key).subquery("r")
    )
    return _fetched(session, select(cast(func.row_to_json(literal_column("r")), String)), whole)


def _fetched(session: Session, query: Select[Any], source: Any) -> Iterator[Json]:
    options = {"yield_per": BATCH}
    with session.execute(query.select_from(source), execution_options=options) as found:
        for row in found.scalars():
            yield orjson.loads(row)


def ids(session: Session, table: Table, by: Column[Any], of: Collection[int]) -> list[int]:
    """Numbers of the rows whose column *by* has one of *of*."""
    return list(session.scalars(select(table.c.id).where(by == func.any(list(of)))))


def referred(
    session: Session, column: Column[Any], by: Column[Any], of: Collection[int]
) -> set[int]:
    """What *column* holds in the rows whose column *by* has one of *of*."""
    found = select(column).where(by == func.any(list(of)), column.is_not(None)).distinct()
    return set(session.scalars(found))


def profiles_of(session: Session, experiment_id: int) -> list[int]:
    """Numbers of the profiles of an experiment's boots."""
    found = (
        select(Profile.id)
        .join(Boot, Profile.boot_id == Boot.id)
        .join(Run, Boot.run_id == Run.id)
        .where(Run.experiment_id == experiment_id)
        .order_by(Profile.id)
    )
    return list(session.scalars(found))


def new_ids(session: Session, table: Table, count: int) -> list[int]:
    """So many numbers for rows to come."""
    query = text(
        "select nextval(pg_get_serial_sequence(:name, 'id')) from generate_series(1, :count)"
    )
    return list(session.scalars(query, {"name": table.name, "count": count}))


def insert_rows(session: Session, name: str, columns: Sequence[str], batch: list[Json]) -> None:
    """Put rows into a table; each has these *columns* and no others."""
    listed = ", ".join(quoted(column) for column in columns)
    statement = (
        f"insert into {quoted(name)} ({listed}) select {listed}"
        f" from jsonb_populate_recordset(null::{quoted(name)}, cast(:rows as jsonb))"
    )
    session.connection().execute(text(statement), {"rows": orjson.dumps(batch).decode()})


def set_columns(session: Session, name: str, row_id: int, values: Json) -> None:
    """Change columns of one row."""
    listed = ", ".join(quoted(column) for column in values)
    statement = (
        f"update {quoted(name)} set ({listed}) = (select {listed}"
        f" from jsonb_populate_record(null::{quoted(name)}, cast(:row as jsonb))) where id = :id"
    )
    given = {"row": orjson.dumps(values).decode(), "id": row_id}
    session.connection().execute(text(statement), given)


def quoted(name: str) -> str:
    """A name as SQL takes it, and nothing else. Names are checked before; this makes it sure."""
    return '"' + name.replace('"', '""').replace(":", "") + '"'


def experiment_with_nonces(session: Session, nonces: Collection[str]) -> int | None:
    """The experiment of a boot that has one of *nonces*, which no two boots share."""
    found = (
        select(Run.experiment_id)
        .join(Boot, Boot.run_id == Run.id)
        .where(Boot.nonce == func.any(list(nonces)))
    )
    return session.scalars(found.limit(1)).one_or_none()


def database_number(connection: Connection) -> int:
    """Of the connection's database, by which its server tells it from others."""
    own = text("select oid from pg_database where datname = current_database()")
    return int(connection.execute(own).scalar_one())


def create_database(connection: Connection, name: str) -> None:
    """Make an empty database; *name* is one of ours."""
    connection.execute(text(f"create database {name}"))


def drop_database(connection: Connection, name: str) -> None:
    """Drop a database, if it is there, whoever is connected; *name* is one of ours."""
    connection.execute(text(f"drop database if exists {name} with (force)"))


def scratch_databases(connection: Connection, prefix: str) -> list[tuple[str, int]]:
    """Databases whose names are *prefix* and a number, with that number."""
    found = connection.scalars(
        text("select datname from pg_database where datname ~ :pattern"),
        {"pattern": f"^{prefix}[0-9]{{1,9}}$"},
    )
    return [(name, int(name.removeprefix(prefix))) for name in found]


def table_names(session: Session) -> set[str]:
    """Names of the tables that the database has."""
    return set(session.scalars(text("select tablename from pg_tables where schemaname = 'public'")))
