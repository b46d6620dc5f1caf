"""Comparisons whose arms drop out, and how the arms of their runs stand."""

from __future__ import annotations

from alembic import op

revision = "0068"
down_revision = "0067"


def upgrade() -> None:
    op.execute("ALTER TABLE comparison ADD COLUMN tournament boolean NOT NULL DEFAULT false")
    op.execute("ALTER TABLE run ADD COLUMN ranking jsonb")


def downgrade() -> None:
    op.execute("ALTER TABLE run DROP COLUMN ranking")
    op.execute("ALTER TABLE comparison DROP COLUMN tournament")
