"""What the time of a host is, and of a run on it: real, or counted instructions."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0016"
down_revision = "0015"
branch_labels = None
depends_on = None

TABLES = ("host", "run")


def upgrade() -> None:
    for table in TABLES:
        op.add_column(table, sa.Column("clock", sa.String(), nullable=False, server_default="real"))
        op.create_check_constraint(op.f(f"ck_{table}_clock"), table, "clock IN ('real', 'counted')")


def downgrade() -> None:
    for table in TABLES:
        op.drop_column(table, "clock")
