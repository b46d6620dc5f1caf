"""People who log in by OpenID Connect, their browser sessions, and log-ins that came back."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0048"
down_revision = "0047"
branch_labels = None
depends_on = None

TIME = sa.DateTime(timezone=True)


def upgrade() -> None:
    op.create_table(
        "oidc_person",
        sa.Column("id", sa.Integer(), primary_key=True),
        sa.Column("issuer", sa.String(), nullable=False),
        sa.Column("sub", sa.String(), nullable=False),
        sa.Column("subject", sa.String(), nullable=False),
        sa.Column("role", sa.String(), nullable=False),
        sa.Column("created_at", TIME, server_default=sa.func.now(), nullable=False),
        sa.Column("seen_at", TIME, server_default=sa.func.now(), nullable=False),
        sa.CheckConstraint(
            "role IN ('viewer', 'runner', 'submitter', 'approver', 'admin')",
            name=op.f("ck_oidc_person_role"),
        ),
        sa.UniqueConstraint("issuer", "sub", name=op.f("uq_oidc_person_issuer_sub")),
        sa.UniqueConstraint("subject", name=op.f("uq_oidc_person_subject")),
    )
    op.create_table(
        "used_log_in",
        sa.Column("hash", sa.String(), primary_key=True),
        sa.Column("until", TIME, nullable=False),
    )
    op.create_index("ix_used_log_in_until", "used_log_in", ["until"])
    op.add_column("browser_session", sa.Column("person_id", sa.Integer(), nullable=True))
    op.create_foreign_key(
        op.f("fk_browser_session_person_id_oidc_person"),
        "browser_session",
        "oidc_person",
        ["person_id"],
        ["id"],
    )


def downgrade() -> None:
    # Without their person sessions would last as those of a link do.
    op.execute("DELETE FROM browser_session WHERE person_id IS NOT NULL")
    op.drop_constraint(op.f("fk_browser_session_person_id_oidc_person"), "browser_session")
    op.drop_column("browser_session", "person_id")
    op.drop_table("used_log_in")
    op.drop_table("oidc_person")
