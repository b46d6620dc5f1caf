"""The queue as the pinned version wants it, whatever version had made it.

Until now 0002 took the tables from the version that happened to be installed.
"""

from __future__ import annotations

from alembic import op

from mitigauge.storage.database.queue_schema import drop_queue, make_queue

revision = "0013"
down_revision = "0012"
branch_labels = None
depends_on = None


def upgrade() -> None:
    drop_queue(op.get_bind())
    make_queue(op.get_bind(), "3.10.0")


def downgrade() -> None:
    """The tables that are there serve the schema before as well."""
