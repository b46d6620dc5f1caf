"""What cases tell besides their metrics: curves over a load, breakdowns."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0036"
down_revision = "0035"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "result_detail",
        sa.Column("boot_id", sa.Integer(), nullable=False),
        sa.Column("case_id", sa.Integer(), nullable=False),
        sa.Column("body", postgresql.JSONB(astext_type=sa.Text()), nullable=False),
        sa.ForeignKeyConstraint(
            ["boot_id", "case_id"],
            ["result.boot_id", "result.case_id"],
            name=op.f("fk_result_detail_boot_id_case_id_result"),
        ),
        sa.PrimaryKeyConstraint("boot_id", "case_id", name=op.f("pk_result_detail")),
    )
    op.create_index("ix_result_detail_case_id", "result_detail", ["case_id"])


def downgrade() -> None:
    op.drop_table("result_detail")
