"""Iterations that were disturbed are kept beside those that count."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("result", sa.Column("slowdown_limit", sa.Double(), nullable=True))
    op.add_column("iteration", sa.Column("slowdown", sa.Double(), nullable=True))
    # With a default no row is rewritten; few are warm-ups.
    op.add_column(
        "iteration", sa.Column("phase", sa.String(), nullable=False, server_default="counted")
    )
    op.execute("UPDATE iteration SET phase = 'warmup' WHERE warmup")
    op.alter_column("iteration", "phase", server_default=None)
    op.drop_constraint("pk_iteration", "iteration")
    op.drop_column("iteration", "warmup")
    op.create_primary_key("pk_iteration", "iteration", ["result_id", "metric", "phase", "position"])
    op.create_check_constraint(
        op.f("ck_iteration_phase"), "iteration", "phase IN ('warmup', 'counted', 'disturbed')"
    )
    op.create_check_constraint(
        op.f("ck_iteration_slowdown"), "iteration", "slowdown >= 1 AND slowdown < 'Infinity'"
    )


def downgrade() -> None:
    op.execute("DELETE FROM iteration WHERE phase = 'disturbed'")
    op.add_column(
        "iteration", sa.Column("warmup", sa.Boolean(), nullable=False, server_default=sa.false())
    )
    op.execute("UPDATE iteration SET warmup = true WHERE phase = 'warmup'")
    op.alter_column("iteration", "warmup", server_default=None)
    op.drop_constraint("pk_iteration", "iteration")
    op.drop_constraint("ck_iteration_phase", "iteration")
    op.drop_constraint("ck_iteration_slowdown", "iteration")
    op.drop_column("iteration", "phase")
    op.drop_column("iteration", "slowdown")
    op.drop_column("result", "slowdown_limit")
    op.create_primary_key(
        "pk_iteration", "iteration", ["result_id", "metric", "warmup", "position"]
    )
