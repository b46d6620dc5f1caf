"""The connection to PostgreSQL, and transactions."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import datetime
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import psycopg
from psycopg.pq import Format, TransactionStatus
from sqlalchemy import (
    Connection,
    Engine,
    ExceptionContext,
    create_engine,
    event,
    make_url,
    text,
)
from sqlalchemy.engine.interfaces import ExecutionContext
from sqlalchemy.exc import ArgumentError, DBAPIError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeout
from sqlalchemy.orm import Session
from sqlalchemy.pool import NullPool

from mitigauge.core.errors import InvalidInput
from mitigauge.core.settings import Settings, get_settings
from mitigauge.storage.database.embedded_server import ensure_running
from mitigauge.storage.database.locks import Lock
from mitigauge.storage.database.metadata import register_tables
from mitigauge.storage.database.schema_revision import (
    HAS_REVISION,
    MIGRATIONS,
    REVISION,
    no_answer,
    require_wanted,
    wanted_revision,
)

if TYPE_CHECKING:
    from alembic.config import Config

# An execution option: long ``bytea`` comes ten times as fast as in hexadecimal digits.
BINARY = {"binary_results": True}
# Every transaction of ours takes far less; between its statements almost nothing happens.
IDLE_IN_TRANSACTION_S = 30.0
# The longest statement that the service sends takes some seconds.
STATEMENT_LIMIT_S = 60.0
# What the server is given beyond that until a client takes it for silent.
SILENCE_MARGIN_S = 10.0
# A server that is gone without a word is noticed by the system in half a minute.
KEEPALIVE = {
    "keepalives": 1,
    "keepalives_idle": 15,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": 30_000,
}
# A thread of the API or of the worker holds one connection at a time; these are all threads.
POOL_KEPT, POOL_MORE = 8, 40
# Classes of SQLSTATE: connection lost, server stopping, transaction taken back, no resources.
AWAY_CLASSES = ("08", "57P", "40", "53")
DISK_FULL = "53100"


def database_url(settings: Settings | None = None) -> str:
    """The server's URL; starts our own server where none is configured.

    Raises :class:`InvalidInput` for a setting that is no URL.
    """
    settings = settings or get_settings()
    address = settings.database_address or ensure_running(settings.home)
    try:
        url = make_url(address)
    except (ArgumentError, ValueError):
        # What cannot be taken apart may have the password anywhere.
        raise InvalidInput(
            "MITIGAUGE_DATABASE_URL is no URL of a database",
            hint="Give postgresql://USER@HOST:PORT/NAME, and MITIGAUGE_DATABASE_PASSWORD.",
        ) from None
    text = url.set(drivername="postgresql+psycopg").render_as_string(hide_password=False)
    # SQLAlchemy leaves blanks of a password as they are; libpq takes no URL that has one.
    return text.replace(" ", "%20")


class _PatientConnection(psycopg.Connection[Any]):
    """A connection that gives up on a server that says nothing for *silence_limit_s*."""

    silence_limit_s: float | None = None

    def wait(self, gen: Any, interval: float = 0.1, timeout: float | None = None) -> Any:
        try:
            return super().wait(gen, interval, self.silence_limit_s if timeout is None else timeout)
        except psycopg.OperationalError as error:
            # Still in the middle of a statement: nobody answered in time, and what comes late
            # must not be taken for the answer to another statement.
            if self.pgconn.transaction_status != TransactionStatus.ACTIVE:
                raise
            self.pgconn.finish()
            raise psycopg.OperationalError(
                f"the database said nothing for {self.silence_limit_s} s"
            ) from error


def new_engine(
    url: str,
    *,
    idle_in_transaction_s: float = IDLE_IN_TRANSACTION_S,
    statement_limit_s: float | None = STATEMENT_LIMIT_S,
    pooled: bool = True,
) -> Engine:
    """An engine that notices a restarted server before it hands out a dead connection.

    The server ends a transaction in which nothing is said for *idle_in_transaction_s*: a
    process that sleeps, or whose machine is gone, must not keep others out by its locks.
    It ends a statement after *statement_limit_s* (None: never); a server that does not even
    do that is given up some seconds later. Who was hung up on gets an ``OperationalError``,
    as from a server that is away; see :func:`is_away`. Without *pooled*, each transaction has
    a connection of its own.
    """
    kind: dict[str, Any] = {"poolclass": NullPool}
    if pooled:
        kind = {"pool_pre_ping": True, "pool_size": POOL_KEPT, "max_overflow": POOL_MORE}
    engine = create_engine(
        url,
        connect_args={"connect_timeout": 10, "application_name": "mitigauge", **KEEPALIVE},
        # Errors go into logs; what was to be stored has no place there.
        hide_parameters=True,
        **kind,
    )

    @event.listens_for(engine, "do_connect")
    def connect(_dialect: Any, _record: Any, words: Any, parameters: Any) -> Any:
        connection = _PatientConnection.connect(*words, **parameters)
        if statement_limit_s is not None:
            connection.silence_limit_s = statement_limit_s + SILENCE_MARGIN_S
        return connection

    @event.listens_for(engine, "connect")
    def limit(connection: Any, _: Any) -> None:
        connection.execute(
            f"set idle_in_transaction_session_timeout = {round(1000 * idle_in_transaction_s)};"
            f"set statement_timeout = {round(1000 * (statement_limit_s or 0))}"
        )
        connection.commit()

    @event.listens_for(engine, "before_cursor_execute")
    def as_asked(
        _connection: Connection,
        cursor: Any,
        _statement: str,
        _parameters: Any,
        context: ExecutionContext | None,
        _executemany: bool,
    ) -> None:
        if context is not None and context.execution_options.get("binary_results"):
            cursor.format = Format.BINARY

    @event.listens_for(engine, "handle_error")
    def hung_up(context: ExceptionContext) -> BaseException | None:
        # The server says so by an internal error; for us it is away like any other that is.
        error = context.sqlalchemy_exception
        if error is None or not context.is_disconnect or isinstance(error, OperationalError):
            return None
        original = context.original_exception
        return OperationalError(context.statement, None, original, connection_invalidated=True)

    return engine


def is_away(error: BaseException) -> bool:
    """Whether the database is away, or took a transaction back: worth doing again as it was.

    Told by SQLSTATE, since the driver calls much else an ``OperationalError`` too: a row that
    is too large, a statement that took too long, a lock that was not had.
    """
    if isinstance(error, PoolTimeout):
        return True
    if not isinstance(error, DBAPIError):
        return False
    state = getattr(error.orig, "sqlstate", None)
    if state is not None:
        return error.connection_invalidated or state.startswith(AWAY_CLASSES)
    # Without a state the server said nothing: it could not be reached, or hung up.
    return error.connection_invalidated or isinstance(error.orig, psycopg.OperationalError)


def in_words(error: BaseException) -> str:
    """The first line of what the database, or the way to it, said."""
    said = str(getattr(error, "orig", None) or error).strip()
    return said.splitlines()[0] if said else type(error).__name__


@lru_cache
def get_engine() -> Engine:
    """The process's engine."""
    return new_engine(database_url())


@contextmanager
def advisory_lock(engine: Engine, lock: Lock, of: int = 0) -> Iterator[bool]:
    """Whether nobody else holds that lock *of* something, and nobody will until the block's end."""
    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        wanted = {"lock": int(lock), "of": of}
        got = bool(connection.scalar(text("select pg_try_advisory_lock(:lock, :of)"), wanted))
        try:
            yield got
        finally:
            # A connection that is lost has given up its locks.
            with suppress(DBAPIError):
                if got:
                    connection.execute(text("select pg_advisory_unlock(:lock, :of)"), wanted)


# What a transaction must hold to, asked at its beginning; raises where it does not.
Fence = Callable[[Session], None]


def unfenced(_session: Session) -> None:
    """Nobody else may act on the same: a command of a person's."""


@contextmanager
def transaction(engine: Engine | None = None, fence: Fence = unfenced) -> Iterator[Session]:
    """One session, one transaction: committed at the end, rolled back on an error.

    *fence* is asked first.
    """
    # A row may point at a table of any noun, which the metadata must know before the first of
    # them is written: a process that imports one noun alone would fail there.
    register_tables()
    with Session(engine or get_engine(), expire_on_commit=False) as session, session.begin():
        fence(session)
        yield session


@contextmanager
def reading(engine: Engine | None = None) -> Iterator[Session]:
    """One session, one transaction that reads and writes nothing.

    It knows the tables that are imported and no others, which spares a command those of all nouns.
    """
    reader = (engine or get_engine()).execution_options(postgresql_readonly=True)
    with Session(reader, expire_on_commit=False) as session, session.begin():
        yield session


def alembic_config(url: str) -> Config:
    """Alembic's configuration for *url*, without an ini file."""
    # Only who migrates needs it.
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS))
    config.attributes["url"] = url
    return config


def schema_revisions(engine: Engine) -> tuple[str | None, str]:
    """The revision the database is at, and the one this code wants."""
    with engine.connect() as connection:
        migrated = connection.execute(text(HAS_REVISION)).scalar_one()
        current = connection.execute(text(REVISION)).scalar() if migrated else None
    return current, wanted_revision()


def require_head(engine: Engine) -> None:
    """Raise :class:`NotReady` unless the database answers and its schema is at head."""
    try:
        current, _ = schema_revisions(engine)
    except (DBAPIError, PoolTimeout) as error:
        raise no_answer(in_words(error)) from error
    require_wanted(current)


def driver_rows(
    session: Session, statement: str, given: Mapping[str, Any] | None = None
) -> list[Mapping[str, Any]]:
    """Rows of a statement in the driver's own form, with ``%(name)s`` for what is given."""
    found = session.connection().exec_driver_sql(statement, dict(given or {}))
    return [dict(row) for row in found.mappings()]


def database_now(session: Session) -> datetime:
    """The server's clock at this very moment: the one clock that leases are held against."""
    now: datetime = session.execute(text("select clock_timestamp()")).scalar_one()
    return now
