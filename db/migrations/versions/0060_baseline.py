"""The whole schema, which later migrations build upon.

Schemas below this revision belong to versions before the first release;
``mitigauge.storage.database.schema_revision`` says what upgrades them.
"""

from __future__ import annotations

from pathlib import Path

from alembic import op

from mitigauge.storage.database.queue_schema import make_queue

revision = "0060"
down_revision = None

SCHEMA = Path(__file__).parent.parent / "baseline.sql"


def upgrade() -> None:
    connection = op.get_bind()
    make_queue(connection, "3.10.0")
    # As a plain string: colons and percent signs are SQL here, not parameters.
    connection.exec_driver_sql(SCHEMA.read_text("utf-8").replace("%", "%%"))
