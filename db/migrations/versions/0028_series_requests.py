"""Mails that ask for something, and retests on another base."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0028"
down_revision = "0027"
branch_labels = None
depends_on = None


def upgrade() -> None:
    moment = sa.DateTime(timezone=True)
    op.add_column(
        "series_revision", sa.Column("base", sa.String(), server_default="", nullable=False)
    )
    op.create_table(
        "series_request",
        sa.Column("id", sa.Integer(), nullable=False),
        *(sa.Column(name, sa.String(), nullable=False)
          for name in ("message_id", "sender", "subject", "attested", "signature", "mail_sha256",
                       "asked", "line", "state", "why")),
        sa.Column("recipients", postgresql.JSONB(), nullable=False),
        *(sa.Column(name, sa.Integer(), nullable=True) for name in ("revision_id", "measured_id")),
        sa.Column("received_at", moment, server_default=sa.func.now(), nullable=False),
        *(sa.Column(name, moment, nullable=True) for name in ("receipt_at", "result_at")),
        sa.Column("failures", sa.Integer(), server_default=sa.text("0"), nullable=False),
        sa.Column("error", sa.String(), server_default="", nullable=False),
        sa.CheckConstraint(
            "state IN ('waiting', 'accepted', 'refused', 'done', 'ignored')",
            name=op.f("ck_series_request_state"),
        ),
        sa.CheckConstraint(
            "asked IN ('test', 'fix', 'stop', 'unclear')", name=op.f("ck_series_request_asked")
        ),
        sa.CheckConstraint(
            "attested IN ('pass', 'fail', 'missing')", name=op.f("ck_series_request_attested")
        ),
        *(sa.ForeignKeyConstraint(
            [name], ["series_revision.id"],
            name=op.f(f"fk_series_request_{name}_series_revision"),
        ) for name in ("revision_id", "measured_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_series_request")),
        sa.UniqueConstraint("message_id", name=op.f("uq_series_request_message_id")),
    )  # fmt: skip
    for name in ("sender", "revision_id", "measured_id"):
        op.create_index(op.f(f"ix_series_request_{name}"), "series_request", [name])
    op.create_index(
        "uq_series_request_signature", "series_request", ["signature"], unique=True,
        postgresql_where=sa.text("signature <> ''"),
    )  # fmt: skip


def downgrade() -> None:
    op.drop_table("series_request")
    # Retests on another base stay, and say so in their titles.
    op.drop_column("series_revision", "base")
