"""Verdicts that say better or worse have an index: experiments are found by them."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0050"
down_revision = "0049"


def upgrade() -> None:
    op.create_index(
        "ix_verdict_change",
        "verdict",
        ["verdict", "run_id"],
        postgresql_where=sa.text("superseded_at IS NULL AND verdict IN ('worse', 'better')"),
    )


def downgrade() -> None:
    op.drop_index("ix_verdict_change", table_name="verdict")
