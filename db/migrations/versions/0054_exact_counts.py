"""Exact counts: the ledger of a case in a boot of an emulated host.

Revision ID: 0054
Revises: 0053
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0054"
down_revision = "0053"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "exact_count",
        sa.Column("id", sa.Integer(), primary_key=True),
        sa.Column("boot_id", sa.Integer(), sa.ForeignKey("boot.id"), nullable=False, index=True),
        sa.Column("case_id", sa.Integer(), sa.ForeignKey("benchmark_case.id"), nullable=False),
        sa.Column("instructions", sa.Double()),
        sa.Column("detail", sa.String(), server_default="", nullable=False),
        sa.Column("ledger", sa.LargeBinary()),
        sa.Column(
            "stored_at",
            sa.DateTime(timezone=True),
            server_default=sa.text("now()"),
            nullable=False,
        ),
        sa.UniqueConstraint("case_id", "boot_id"),
    )


def downgrade() -> None:
    op.drop_table("exact_count")
