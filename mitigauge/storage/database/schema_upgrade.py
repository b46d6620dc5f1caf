"""Bringing the database's schema to the version that this program wants.

One process at a time does it, under an advisory lock; others wait for it. Each migration is
one transaction: one that is cut off leaves nothing behind.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime

from alembic import command
from alembic.script import ScriptDirectory
from alembic.util import CommandError
from sqlalchemy import Connection, Engine, text
from sqlalchemy.exc import DBAPIError

from mitigauge.core.errors import NotReady
from mitigauge.storage.database.engine import (
    alembic_config,
    in_words,
    new_engine,
    schema_revisions,
)
from mitigauge.storage.database.locks import SCHEMA_LOCK
from mitigauge.storage.database.schema_revision import (
    MIGRATIONS,
    no_answer,
    way_out,
)

# Any fixed number serves; all who migrate must agree on it.
# Migrations of a large database take minutes; one of this length does not work any more.
PATIENCE_S = 3600.0
# Shorter waits are not worth a line.
QUIET_S = 2.0
# How often whoever waits says so again.
REPEAT_S = 30.0
POLL_S = 0.2
# A lock that is not had within this time would queue all readers behind it.
LOCK_TIMEOUT_S = 4
LOCK_NOT_AVAILABLE = "55P03"

Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Upgraded:
    """What an upgrade did."""

    before: str | None
    """Revision that was found."""
    after: str | None
    """Revision that is there now."""
    applied: int
    """Migrations that this process carried out; 0 where another one had done it all."""


def upgrade(url: str, *, say: Say = lambda _: None, patience_s: float = PATIENCE_S) -> Upgraded:
    """Bring the schema of *url* to head.

    *say* gets a line for whoever waits. Raises :class:`NotReady` where the database does not
    answer, where another upgrade does not end within *patience_s*, where a migration is cut
    off (the schema is then whole, at the last migration that was completed), and for a schema
    of a newer program.
    """
    engine = new_engine(url)
    try:
        before, head = revisions(engine)
        _refuse_unknown(before)
        if before == head:
            return Upgraded(before, head, 0)
        applied: list[str] = []
        config = alembic_config(url)
        config.attributes |= {"say": say, "patience_s": patience_s, "applied": applied}
        try:
            command.upgrade(config, "head")
        except DBAPIError as error:
            raise _cut_off(engine, error) from error
        return Upgraded(before, head, len(applied))
    finally:
        engine.dispose()


def revisions(engine: Engine) -> tuple[str | None, str]:
    """The revision the database is at, and the one this program wants.

    Raises :class:`NotReady` if the database does not answer.
    """
    try:
        return schema_revisions(engine)
    except DBAPIError as error:
        raise no_answer(in_words(error)) from error


def _refuse_unknown(revision: str | None) -> None:
    if revision and not is_known(revision):
        raise NotReady(
            f"the database schema is at {revision}, which this program does not know",
            hint=way_out(revision, "run `mitigauge db upgrade` with it"),
        )


def is_known(revision: str) -> bool:
    """Whether there is a migration to *revision*, from which head is reached."""
    try:
        found = ScriptDirectory(str(MIGRATIONS)).get_revision(revision)
    except CommandError:
        return False
    # Alembic completes what is cut short, and knows words.
    return found is not None and found.revision == revision


@contextmanager
def one_at_a_time(
    connection: Connection, say: Say = lambda _: None, patience_s: float = PATIENCE_S
) -> Iterator[None]:
    """Hold the lock of all who migrate this database; waits for whoever holds it.

    The lock is asked for again and again, so that no time-out of a statement or a lock ends
    the wait. Raises :class:`NotReady` after *patience_s*.
    """
    started = time.monotonic()
    due = started + QUIET_S
    while not _locked(connection):
        now = time.monotonic()
        if now - started > patience_s:
            raise NotReady(
                f"{_holder(connection)}; it was waited for {patience_s:.0f} s",
                hint="See what that process does. If it hangs, end it and run "
                "`mitigauge db upgrade` again: the schema stays whole.",
            )
        if now >= due:
            say(f"{_holder(connection)}; waiting for its end ({now - started:.0f} s so far)")
            due = now + REPEAT_S
        time.sleep(POLL_S)
    try:
        yield
    finally:
        # A connection that is lost has given up its locks.
        with suppress(DBAPIError):
            connection.rollback()
            connection.execute(text("select pg_advisory_unlock(:key)"), {"key": SCHEMA_LOCK})
            connection.commit()


def _locked(connection: Connection) -> bool:
    got = connection.scalar(text("select pg_try_advisory_lock(:key)"), {"key": SCHEMA_LOCK})
    connection.commit()
    return bool(got)


_HOLDER = text(
    """
    select pid, backend_start, application_name
    from pg_locks join pg_stat_activity using (pid)
    where locktype = 'advisory' and granted and objsubid = 1
      and database = (select oid from pg_database where datname = current_database())
      and classid::bigint << 32 | objid::bigint = :key
    """
)


def _holder(connection: Connection) -> str:
    found = connection.execute(_HOLDER, {"key": SCHEMA_LOCK}).one_or_none()
    connection.commit()
    if found is None or found.backend_start is None:
        return "another upgrade of this database is running"
    return (
        f"another upgrade of this database has been running since "
        f"{_clock(found.backend_start)} (server process {found.pid})"
    )


def _clock(moment: datetime) -> str:
    return f"{moment.astimezone():%Y-%m-%d %H:%M:%S %z}"


def _cut_off(engine: Engine, error: DBAPIError) -> NotReady:
    """The error for people; says at which revision the schema is now and what to do."""
    said = in_words(error)
    if getattr(error.orig, "sqlstate", None) == LOCK_NOT_AVAILABLE:
        said = f"a table was in use by others for {LOCK_TIMEOUT_S} s ({said})"
    elif error.connection_invalidated:
        said = f"the connection to the database was lost ({said})"
    standing, others = "the schema is whole, at the last migration that was completed", ""
    with suppress(DBAPIError):
        standing = f"the schema is still at {schema_revisions(engine)[0] or 'nothing'}"
        others = _in_the_way(engine)
    return NotReady(
        f"the upgrade was cut off: {said}. Nothing is half done: {standing}",
        hint=f"{others}Run `mitigauge db upgrade` again"
        + (" when these have ended, or end them." if others else "."),
    )


_LONG_TRANSACTIONS = text(
    """
    select pid, coalesce(nullif(application_name, ''), 'no name') as name, xact_start
    from pg_stat_activity
    where datname = current_database() and pid <> pg_backend_pid()
      and xact_start < clock_timestamp() - make_interval(secs => :seconds)
    order by xact_start limit 5
    """
)


def _in_the_way(engine: Engine) -> str:
    with engine.connect() as connection:
        found = connection.execute(_LONG_TRANSACTIONS, {"seconds": LOCK_TIMEOUT_S}).all()
    if not found:
        return ""
    listed = "; ".join(
        f"{row.name} (server process {row.pid}) since {_clock(row.xact_start)}" for row in found
    )
    return f"Transactions that are open: {listed}. "
