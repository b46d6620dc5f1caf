"""Experiments that were run elsewhere and read from a file: when, and on what."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0018"
down_revision = "0017"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("experiment", sa.Column("recorded_at", sa.DateTime(timezone=True)))
    op.add_column("experiment", sa.Column("recorded_from", sa.String()))
    op.create_check_constraint(
        "recorded", "experiment", "(recorded_at IS NULL) = (recorded_from IS NULL)"
    )


def downgrade() -> None:
    op.drop_constraint(op.f("ck_experiment_recorded"), "experiment", type_="check")
    op.drop_column("experiment", "recorded_from")
    op.drop_column("experiment", "recorded_at")
