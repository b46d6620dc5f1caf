"""What can switch a host's power, so that pages say where a hang needs a person."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0021"
down_revision = "0020"
branch_labels = None
depends_on = None


def upgrade() -> None:
    # Not known of hosts that were stored before; the next experiment on them says it.
    op.add_column("host", sa.Column("power", sa.String(), nullable=True))


def downgrade() -> None:
    op.drop_column("host", "power")
