"""Alembic's entry: one transaction a migration, time-outs, and one migrator at a time."""

from __future__ import annotations

from typing import Any

from alembic import context
from sqlalchemy import Connection, text

from mitigauge.storage.database.engine import database_url, new_engine
from mitigauge.storage.database.metadata import whole_metadata
from mitigauge.storage.database.schema_upgrade import LOCK_TIMEOUT_S, PATIENCE_S, one_at_a_time

STATEMENT_TIMEOUT_S = 600


def _migrate(connection: Connection) -> None:
    given = context.config.attributes
    context.configure(
        connection=connection,
        target_metadata=whole_metadata(),
        transaction_per_migration=True,
        compare_server_default=False,
        include_name=lambda name, kind, _: (
            not (kind == "table" and str(name).startswith("procrastinate"))
        ),
        on_version_apply=_note_applied,
    )
    connection.execute(text(f"set lock_timeout = '{LOCK_TIMEOUT_S}s'"))
    connection.execute(text(f"set statement_timeout = '{STATEMENT_TIMEOUT_S}s'"))
    connection.commit()
    say, patience_s = given.get("say", lambda _: None), given.get("patience_s", PATIENCE_S)
    with one_at_a_time(connection, say, patience_s), context.begin_transaction():
        context.run_migrations()


def _note_applied(*, step: Any, **_: Any) -> None:
    context.config.attributes.get("applied", []).append(step.up_revision_id)


def run() -> None:
    """Migrate over the connection handed in, else over one of our own."""
    given = context.config.attributes.get("connection")
    if isinstance(given, Connection):
        _migrate(given)
        return
    url = context.config.attributes.get("url") or database_url()
    # One statement may rewrite a large table, and Python may work between two of them.
    engine = new_engine(url, idle_in_transaction_s=STATEMENT_TIMEOUT_S, statement_limit_s=None)
    try:
        with engine.connect() as connection:
            _migrate(connection)
    finally:
        engine.dispose()


run()
