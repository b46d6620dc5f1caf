"""Tokens, browser sessions, and who submitted an experiment."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None

ROLES = "role IN ('viewer', 'runner', 'submitter', 'approver', 'admin')"
TIME = sa.DateTime(timezone=True)


def upgrade() -> None:
    op.create_table(
        "access_token",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("role", sa.String(), nullable=False),
        sa.Column("hash", sa.String(), nullable=False),
        sa.Column("created_at", TIME, server_default=sa.func.now(), nullable=False),
        sa.Column("expires_at", TIME, nullable=True),
        sa.Column("last_used_at", TIME, nullable=True),
        sa.Column("revoked_at", TIME, nullable=True),
        sa.CheckConstraint(ROLES, name=op.f("ck_access_token_role")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_access_token")),
        sa.UniqueConstraint("hash", name=op.f("uq_access_token_hash")),
    )
    op.create_index(
        "uq_access_token_name",
        "access_token",
        ["name"],
        unique=True,
        postgresql_where=sa.text("revoked_at IS NULL"),
    )
    op.create_table(
        "browser_session",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("hash", sa.String(), nullable=False),
        sa.Column("subject", sa.String(), nullable=False),
        sa.Column("role", sa.String(), nullable=False),
        sa.Column("token_id", sa.Integer(), nullable=True),
        sa.Column("created_at", TIME, server_default=sa.func.now(), nullable=False),
        sa.Column("expires_at", TIME, nullable=False),
        sa.CheckConstraint(ROLES, name=op.f("ck_browser_session_role")),
        sa.ForeignKeyConstraint(
            ["token_id"],
            ["access_token.id"],
            name=op.f("fk_browser_session_token_id_access_token"),
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_browser_session")),
        sa.UniqueConstraint("hash", name=op.f("uq_browser_session_hash")),
    )
    op.create_index("ix_browser_session_subject", "browser_session", ["subject"])
    op.add_column(
        "experiment",
        sa.Column("submitted_by", sa.String(), nullable=False, server_default="operator"),
    )


def downgrade() -> None:
    op.drop_column("experiment", "submitted_by")
    op.drop_table("browser_session")
    op.drop_table("access_token")
