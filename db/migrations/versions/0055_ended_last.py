"""Experiments that are over have an index by their end: the first page shows the last few."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0055"
down_revision = "0054"


def upgrade() -> None:
    op.create_index(
        "ix_experiment_finished_at",
        "experiment",
        [sa.text("finished_at DESC"), sa.text("id DESC")],
        postgresql_where=sa.text("finished_at IS NOT NULL"),
    )


def downgrade() -> None:
    op.drop_index("ix_experiment_finished_at", table_name="experiment")
