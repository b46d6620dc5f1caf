"""Tokens say under which key they were made, so that a machine with another key is noticed."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0047"
down_revision = "0046"
branch_labels = None
depends_on = None


def upgrade() -> None:
    # Of tokens that are there already nobody knows; they say nothing.
    op.add_column("access_token", sa.Column("key_id", sa.String(), nullable=True))


def downgrade() -> None:
    op.drop_column("access_token", "key_id")
