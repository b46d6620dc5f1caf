"""Files of an older revision: their rows are migrated in a database of their own."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import closing, contextmanager

from alembic import command
from sqlalchemy import Connection, Engine
from sqlalchemy.exc import DBAPIError, ProgrammingError
from sqlalchemy.orm import Session

from mitigauge.core.errors import NotReady
from mitigauge.core.hostile_text import quoted
from mitigauge.storage.database.engine import (
    advisory_lock,
    alembic_config,
    in_words,
    is_away,
    new_engine,
    transaction,
)
from mitigauge.storage.database.locks import Lock
from mitigauge.storage.database.schema_revision import wanted_revision, way_out
from mitigauge.storage.database.schema_upgrade import is_known
from mitigauge.upkeep.exports import repository
from mitigauge.upkeep.exports.lines import Header, Line, Row, refused
from mitigauge.upkeep.exports.repository import BATCH
from mitigauge.upkeep.exports.writer import own_rows

PREFIX = "mitigauge_import_"
# Chosen at random, so that two that go on at the same time have their own.
MOST_IMPORTS = 10**9
Numbered = tuple[Line, int]


@contextmanager
def at_head(
    engine: Engine, header: Header, again: Callable[[], Iterable[Numbered]], name: str
) -> Iterator[Iterable[Numbered]]:
    """The lines as this program's revision has them; *again* reads the file from its start.

    Raises :class:`mitigauge.core.errors.InvalidInput` for a file of a revision that is not known,
    or whose rows that revision does not take, and :class:`NotReady` where no database may be made.
    """
    if header.revision == wanted_revision():
        yield again()
        return
    _require_known(header.revision, name)
    with _scratch(engine) as scratch:
        command.upgrade(alembic_config(_url(scratch)), header.revision)
        _load(scratch, again(), name)
        try:
            command.upgrade(alembic_config(_url(scratch)), "head")
        except DBAPIError as error:
            said = quoted(in_words(error), 300)
            raise refused(name, f"revision {header.revision} has no such rows: {said}") from None
        # Closed first: what reads the rows of a transaction must not outlive it.
        with (
            transaction(scratch) as session,
            closing(_both(session, header.experiment_id, again())) as both,
        ):
            yield both


def _require_known(revision: str, name: str) -> None:
    if not is_known(revision):
        raise refused(
            name,
            f"it was written by a version with schema {revision}, which is not known here. "
            + way_out(revision, "import it with that one, upgrade, and export it there"),
        )


@contextmanager
def _scratch(engine: Engine) -> Iterator[Engine]:
    """A database for one import, which is dropped at its end; by the next import, where this one
    is killed."""
    number = secrets.randbelow(MOST_IMPORTS)
    server = engine.execution_options(isolation_level="AUTOCOMMIT")
    with advisory_lock(engine, Lock.IMPORT, number), server.connect() as connection:
        _drop_abandoned(engine, connection)
        name = f"{_prefix(connection)}{number}"
        url = engine.url.set(database=name).render_as_string(hide_password=False)
        try:
            repository.create_database(connection, name)
        except ProgrammingError as error:
            raise NotReady(
                f"a file of an older version needs a database of its own: {in_words(error)}",
                hint="Let the service's user make databases (ALTER USER … CREATEDB), or import the "
                "file into a server of Mitigauge's own and export it there.",
            ) from None
        scratch = new_engine(url, idle_in_transaction_s=3600)
        try:
            yield scratch
        finally:
            scratch.dispose()
            repository.drop_database(connection, name)


def _prefix(connection: Connection) -> str:
    """Of the scratch databases of this database's imports: a server may serve several."""
    return f"{PREFIX}{repository.database_number(connection)}_"


def _drop_abandoned(engine: Engine, connection: Connection) -> None:
    """Drop what imports that were killed left: whose lock is free, who holds it is gone."""
    for name, number in repository.scratch_databases(connection, _prefix(connection)):
        with advisory_lock(engine, Lock.IMPORT, number) as abandoned:
            if abandoned:
                repository.drop_database(connection, name)


def _url(engine: Engine) -> str:
    return engine.url.render_as_string(hide_password=False)


def _load(engine: Engine, lines: Iterable[Numbered], name: str) -> None:
    """Put the rows into the scratch database under their own numbers."""
    batch: list[tuple[Row, int]] = []
    with transaction(engine) as session:
        known = repository.table_names(session)
        for line, number in lines:
            if not isinstance(line, Row):
                continue
            if line.table not in known:
                raise refused(
                    name, f"line {number}: a row of {quoted(line.table)}, no table of ours"
                )
            if batch and (len(batch) >= BATCH or not _alike(batch[0][0], line)):
                _put(session, batch, name)
                batch = []
            batch.append((line, number))
        _put(session, batch, name)


def _alike(one: Row, other: Row) -> bool:
    return one.table == other.table and one.row.keys() == other.row.keys()


def _put(session: Session, batch: list[tuple[Row, int]], name: str) -> None:
    if not batch:
        return
    first, number = batch[0]
    try:
        rows = [line.row for line, _ in batch]
        repository.insert_rows(session, first.table, list(first.row), rows)
    except DBAPIError as error:
        if is_away(error):
            raise
        said = quoted(in_words(error), 300)
        raise refused(name, f"line {number}: rows of {first.table} are not taken: {said}") from None


def _both(session: Session, experiment_id: int, lines: Iterable[Numbered]) -> Generator[Numbered]:
    """The migrated rows, which stand in no line, then those *lines* that are no rows."""
    for table, row in own_rows(session, experiment_id):
        yield Row(table=table, row=row), 0
    yield from (line for line in lines if not isinstance(line[0], Row))
