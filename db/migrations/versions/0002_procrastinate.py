"""The queue's own tables, as the version of its package that was current then wants them."""

from __future__ import annotations

from alembic import op

from mitigauge.storage.database.queue_schema import drop_queue, make_queue

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    make_queue(op.get_bind(), "3.10.0")


def downgrade() -> None:
    drop_queue(op.get_bind())
