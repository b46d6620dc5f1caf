"""What a case ran of the kernel is kept beside its ledger."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0060"
down_revision = "0059"

TABLE, COLUMN = "exact_count", "run_code"


def upgrade() -> None:
    op.add_column(TABLE, sa.Column(COLUMN, sa.LargeBinary()))
    # It is packed already.
    op.execute(f"ALTER TABLE {TABLE} ALTER COLUMN {COLUMN} SET STORAGE EXTERNAL")


def downgrade() -> None:
    op.drop_column(TABLE, COLUMN)
