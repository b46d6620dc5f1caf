"""The queue's tables, as pinned versions of its package want them.

Each version's SQL lies beside the migrations, so that a migration builds the same tables
whatever version of the package is installed. The queue holds nothing that would be missed:
jobs only say "look at this run", and the reconciler says so again. So its tables are not
altered from version to version but made anew.
"""

from __future__ import annotations

from sqlalchemy import Connection, text
from sqlalchemy.exc import OperationalError

from mitigauge.storage.database.schema_revision import MIGRATIONS

DEADLOCK = "40P01"
TRIES = 5
_DROP = text(
    """
    DO $$
    DECLARE thing text;
    BEGIN
      FOR thing IN SELECT format('DROP TABLE IF EXISTS %I CASCADE', tablename)
          FROM pg_tables WHERE schemaname = current_schema()
          AND tablename LIKE 'procrastinate%' LOOP EXECUTE thing; END LOOP;
      FOR thing IN SELECT format('DROP FUNCTION %s CASCADE', oid::regprocedure)
          FROM pg_proc WHERE pronamespace = current_schema()::regnamespace
          AND proname LIKE 'procrastinate%' LOOP EXECUTE thing; END LOOP;
      FOR thing IN SELECT format('DROP TYPE IF EXISTS %I CASCADE', typname)
          FROM pg_type WHERE typnamespace = current_schema()::regnamespace
          AND typname LIKE 'procrastinate%' AND typtype IN ('e', 'c')
          LOOP EXECUTE thing; END LOOP;
    END $$
    """
)


def make_queue(connection: Connection, version: str) -> None:
    """Make the tables as *version* of the package wants them; there must be none."""
    schema = (MIGRATIONS / "queue" / f"procrastinate-{version}.sql").read_text("utf-8")
    # As a plain string: its colons are PostgreSQL casts, not parameters.
    connection.exec_driver_sql(schema.replace("%", "%%"))


def drop_queue(connection: Connection) -> None:
    """Drop all that the package has ever made: everything that bears its name.

    A worker that uses the queue meanwhile takes its tables in another order. Where both wait for
    each other, what was locked here is let go, and it is tried again.
    """
    for left in reversed(range(TRIES)):
        try:
            with connection.begin_nested():
                connection.execute(_DROP)
            return
        except OperationalError as error:
            if getattr(error.orig, "sqlstate", None) != DEADLOCK or not left:
                raise
