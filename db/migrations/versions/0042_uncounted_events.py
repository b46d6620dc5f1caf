"""Events of the hardware that arms work by, and patches that applied with less context."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0042"
down_revision = "0041"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column(
        "arm",
        sa.Column(
            "events",
            postgresql.JSONB(),
            server_default=sa.text("'[]'::jsonb"),
            nullable=False,
        ),
    )
    op.add_column(
        "kernel",
        sa.Column(
            "loosely", postgresql.JSONB(), server_default=sa.text("'[]'::jsonb"), nullable=False
        ),
    )
    op.add_column(
        "series", sa.Column("loose", sa.Boolean(), server_default=sa.false(), nullable=False)
    )
    op.add_column("arm", sa.Column("uncounted", sa.String(), server_default="none", nullable=False))
    op.create_check_constraint(
        op.f("ck_arm_uncounted"), "arm", "uncounted IN ('none', 'more', 'fewer', 'other')"
    )
    op.add_column(
        "verdict", sa.Column("bound", sa.String(), server_default="exact", nullable=False)
    )
    op.create_check_constraint(
        op.f("ck_verdict_bound"),
        "verdict",
        "bound IN ('exact', 'at_least', 'at_most', 'nothing')",
    )


def downgrade() -> None:
    op.drop_column("series", "loose")
    op.drop_column("kernel", "loosely")
    op.drop_constraint(op.f("ck_verdict_bound"), "verdict")
    op.drop_column("verdict", "bound")
    op.drop_constraint(op.f("ck_arm_uncounted"), "arm")
    op.drop_column("arm", "uncounted")
    op.drop_column("arm", "events")
