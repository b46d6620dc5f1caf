"""In which functions the ends of a bisection differ, from their profiles."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0038"
down_revision = "0037"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("bisection", sa.Column("end_shares", postgresql.JSONB(), nullable=True))


def downgrade() -> None:
    op.drop_column("bisection", "end_shares")
