"""Kernels that are compared in several layouts: in how many, and the builds."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0026"
down_revision = "0025"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column(
        "comparison",
        sa.Column("layouts", sa.Integer(), server_default=sa.text("1"), nullable=False),
    )
    op.add_column(
        "arm",
        sa.Column("builds", postgresql.JSONB(), server_default=sa.text("'[]'"), nullable=False),
    )


def downgrade() -> None:
    op.drop_column("arm", "builds")
    op.drop_column("comparison", "layouts")
