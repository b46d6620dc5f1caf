"""A comparison of a factorial design keeps its knobs and the pairs that are clear of each other."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

revision = "0056"
down_revision = "0055"


def upgrade() -> None:
    op.add_column("comparison", sa.Column("factorial", JSONB, nullable=True))


def downgrade() -> None:
    op.drop_column("comparison", "factorial")
