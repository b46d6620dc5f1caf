"""To whom a mail was handed over, and what came of it."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0040"
down_revision = "0039"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "mail_delivery",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("mail", sa.String(), nullable=False),
        sa.Column("receiver", sa.String(), nullable=False),
        sa.Column("state", sa.String(), nullable=False),
        sa.Column("said", sa.String(), server_default="", nullable=False),
        sa.Column("tries", sa.Integer(), server_default=sa.text("1"), nullable=False),
        sa.Column("begun_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("ended_at", sa.DateTime(timezone=True), nullable=True),
        sa.CheckConstraint(
            "state IN ('begun', 'taken', 'refused', 'later', 'unknown')",
            name=op.f("ck_mail_delivery_state"),
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_mail_delivery")),
        sa.UniqueConstraint("mail", "receiver", name=op.f("uq_mail_delivery_mail_receiver")),
    )


def downgrade() -> None:
    op.drop_table("mail_delivery")
