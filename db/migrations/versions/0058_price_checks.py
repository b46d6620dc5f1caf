"""What prices predicted beside what a host measured is kept: one row a check."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

revision = "0058"
down_revision = "0057"

TABLE = "price_check"
COUNTS = ("held", "checked", "whole_held", "whole", "signs_right", "signs")


def upgrade() -> None:
    op.create_table(
        TABLE,
        sa.Column("id", sa.Integer(), primary_key=True),
        sa.Column("processor", sa.String(63), nullable=False),
        *(_experiment(name) for name in ("measured_id", "counted_id")),
        sa.Column("host", sa.String(200), nullable=False),
        sa.Column("emulated", sa.Boolean(), nullable=False),
        sa.Column("clock", sa.String(), nullable=False),
        sa.Column(
            "at",
            sa.DateTime(timezone=True),
            server_default=sa.text("clock_timestamp()"),
            nullable=False,
        ),
        sa.Column("rows", JSONB, nullable=False),
        *(sa.Column(name, sa.Integer(), nullable=False) for name in COUNTS),
        sa.UniqueConstraint("processor", "measured_id", "counted_id", "host"),
        sa.CheckConstraint("clock IN ('real', 'counted')", name="clock"),
        sa.CheckConstraint("jsonb_array_length(rows) <= 2000", name="rows"),
    )


def _experiment(name: str) -> sa.Column[int]:
    leads_to = sa.ForeignKey("experiment.id", ondelete="CASCADE")
    return sa.Column(name, sa.Integer(), leads_to, nullable=False, index=True)


def downgrade() -> None:
    op.drop_table(TABLE)
