"""Backups that were taken, and the service's own job that takes them."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0045"
down_revision = "0044"
branch_labels = None
depends_on = None

KINDS = "'kernel', 'revision', 'bisection', 'archives', 'mailbox', 'weekly'"
NEEDS = "'kernels', 'archives', 'mail', 'letters'"


def upgrade() -> None:
    op.create_table(
        "backup",
        sa.Column("id", sa.Integer(), primary_key=True),
        sa.Column("path", sa.String(), nullable=False),
        sa.Column("scheduled", sa.Boolean(), nullable=False),
        sa.Column(
            "taken_at",
            sa.DateTime(timezone=True),
            server_default=sa.text("clock_timestamp()"),
            nullable=False,
        ),
        sa.Column("finished_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("verified", sa.Boolean(), server_default=sa.false(), nullable=False),
        sa.Column("bytes", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("rows", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("blobs", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("unsound_blobs", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("removed_at", sa.DateTime(timezone=True), nullable=True),
    )
    _allow(f"{KINDS}, 'backup'", f"{NEEDS}, 'backups'")


def downgrade() -> None:
    op.execute("DELETE FROM job WHERE kind = 'backup'")
    _allow(KINDS, NEEDS)
    op.drop_table("backup")


def _allow(kinds: str, needs: str) -> None:
    for column, words in (("kind", kinds), ("need", needs)):
        op.drop_constraint(op.f(f"ck_job_{column}"), "job")
        op.create_check_constraint(op.f(f"ck_job_{column}"), "job", f"{column} IN ({words})")
