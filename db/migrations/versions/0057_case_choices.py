"""A revision keeps which cases run what it changes, and that nothing does."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

revision = "0057"
down_revision = "0056"

TABLE = "series_revision"
STATES = "'refused', 'waiting', 'approved', 'building', 'measuring', 'failed', 'set_aside'"


def upgrade() -> None:
    op.add_column(
        TABLE, sa.Column("all_cases", sa.Boolean(), server_default="false", nullable=False)
    )
    op.add_column(TABLE, sa.Column("choices", JSONB, server_default="[]", nullable=False))
    _allow(f"{STATES}, 'nothing_runs_it'")


def downgrade() -> None:
    op.execute(f"UPDATE {TABLE} SET state = 'failed' WHERE state = 'nothing_runs_it'")
    _allow(STATES)
    op.drop_column(TABLE, "choices")
    op.drop_column(TABLE, "all_cases")


def _allow(states: str) -> None:
    op.drop_constraint(op.f("ck_series_revision_state"), TABLE)
    op.create_check_constraint(op.f("ck_series_revision_state"), TABLE, f"state IN ({states})")
