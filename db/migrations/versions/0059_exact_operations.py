"""What an operation runs is stored as it is shown. A worker fills in what was counted before."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

revision = "0059"
down_revision = "0058"

TABLE = "exact_operation"


def upgrade() -> None:
    op.create_table(
        TABLE,
        sa.Column("id", sa.Integer(), primary_key=True),
        sa.Column("run_id", sa.Integer(), _to("run"), nullable=False),
        sa.Column("case_id", sa.Integer(), _to("benchmark_case"), nullable=False, index=True),
        sa.Column("arm_id", sa.Integer(), _to("arm"), nullable=False, index=True),
        sa.Column("counts", sa.ARRAY(sa.Integer()), nullable=False),
        sa.Column("form", sa.String(64), nullable=False),
        sa.Column("events", sa.String(64), nullable=False),
        sa.Column("steady", sa.BigInteger()),
        sa.Column("bill", JSONB),
        sa.Column("summary", sa.LargeBinary()),
        sa.Column("lines", sa.LargeBinary()),
        sa.Column(
            "stored_at",
            sa.DateTime(timezone=True),
            server_default=sa.text("now()"),
            nullable=False,
        ),
        sa.UniqueConstraint("run_id", "case_id", "arm_id"),
    )
    # Both are packed already; of what PostgreSQL does not pack, it reads a part by itself.
    for column in ("summary", "lines"):
        op.execute(f"ALTER TABLE {TABLE} ALTER COLUMN {column} SET STORAGE EXTERNAL")


def _to(table: str) -> sa.ForeignKey:
    return sa.ForeignKey(f"{table}.id", ondelete="CASCADE")


def downgrade() -> None:
    op.drop_table(TABLE)
