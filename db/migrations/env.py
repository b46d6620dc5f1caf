"""Alembic's entry: one transaction a migration, time-outs, and one migrator at a time."""

from __future__ import annotations

from alembic import context
from sqlalchemy import Connection, text

from mitigauge.database import database_url, new_engine
from mitigauge.tables import metadata

# Any fixed number serves; all migrators must agree on it.
ADVISORY_LOCK = 7_340_221_905


def _migrate(connection: Connection) -> None:
    context.configure(
        connection=connection,
        target_metadata=metadata,
        transaction_per_migration=True,
        compare_server_default=False,
        include_name=lambda name, kind, _: (
            not (kind == "table" and str(name).startswith("procrastinate"))
        ),
    )
    # A lock that is not had within seconds would queue all readers behind it.
    connection.execute(text("set lock_timeout = '4s'"))
    connection.execute(text("set statement_timeout = '10min'"))
    connection.execute(text("select pg_advisory_lock(:key)"), {"key": ADVISORY_LOCK})
    connection.commit()
    try:
        with context.begin_transaction():
            context.run_migrations()
    finally:
        connection.rollback()
        connection.execute(text("select pg_advisory_unlock(:key)"), {"key": ADVISORY_LOCK})
        connection.commit()


def run() -> None:
    """Migrate over the connection handed in, else over one of our own."""
    given = context.config.attributes.get("connection")
    if isinstance(given, Connection):
        _migrate(given)
        return
    engine = new_engine(context.config.attributes.get("url") or database_url())
    with engine.connect() as connection:
        _migrate(connection)
    engine.dispose()


run()
