"""What an arm's mode sets, by kind; before there were options of the command line alone."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

revision = "0019"
down_revision = "0018"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("arm", sa.Column("settings", JSONB(), server_default="{}", nullable=False))
    op.execute(
        "UPDATE arm SET settings = jsonb_build_object("
        "'cmdline', to_jsonb(string_to_array(cmdline, ' '))) WHERE cmdline <> ''"
    )
    op.alter_column("arm", "settings", server_default=None)
    op.drop_column("arm", "cmdline")


def downgrade() -> None:
    # Other kinds of settings have no place there: their boots and proofs stay, they are dropped.
    op.add_column("arm", sa.Column("cmdline", sa.String(), server_default="", nullable=False))
    op.execute(
        "UPDATE arm SET cmdline = coalesce((SELECT string_agg(word, ' ') FROM"
        " jsonb_array_elements_text(settings->'cmdline') AS word), '')"
    )
    op.alter_column("arm", "cmdline", server_default=None)
    op.drop_column("arm", "settings")
