"""How often a revision or a bisection failed through no fault of its author's."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0043"
down_revision = "0042"
branch_labels = None
depends_on = None

STATES = "'refused', 'waiting', 'approved', 'building', 'measuring', 'failed'"


def upgrade() -> None:
    for table in ("series_revision", "bisection"):
        op.add_column(
            table, sa.Column("failures", sa.Integer(), server_default="0", nullable=False)
        )
        op.add_column(table, sa.Column("again_at", sa.DateTime(timezone=True), nullable=True))
    op.drop_constraint(op.f("ck_series_revision_state"), "series_revision")
    op.create_check_constraint(
        op.f("ck_series_revision_state"), "series_revision", f"state IN ({STATES}, 'set_aside')"
    )


def downgrade() -> None:
    op.execute("UPDATE series_revision SET state = 'failed' WHERE state = 'set_aside'")
    op.drop_constraint(op.f("ck_series_revision_state"), "series_revision")
    op.create_check_constraint(
        op.f("ck_series_revision_state"), "series_revision", f"state IN ({STATES})"
    )
    for table in ("series_revision", "bisection"):
        op.drop_column(table, "again_at")
        op.drop_column(table, "failures")
