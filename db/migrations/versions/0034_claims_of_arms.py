"""Which arm a claim is about where kernels differ, and which of a case's figures it is."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0034"
down_revision = "0033"
branch_labels = None
depends_on = None

COLUMNS = ("note", "arm", "baseline_arm")


def upgrade() -> None:
    for name in COLUMNS:
        op.add_column("claim", sa.Column(name, sa.String(), server_default="", nullable=False))


def downgrade() -> None:
    for name in reversed(COLUMNS):
        op.drop_column("claim", name)
