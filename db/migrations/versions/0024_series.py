"""Patch series and their revisions."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0024"
down_revision = "0023"
branch_labels = None
depends_on = None

STATES = "'refused', 'waiting', 'approved', 'building', 'measuring', 'failed'"


def upgrade() -> None:
    moment = sa.DateTime(timezone=True)
    op.create_table(
        "series",
        sa.Column("id", sa.Integer(), nullable=False),
        *(sa.Column(name, sa.String(), nullable=False)
          for name in ("name", "key", "title", "spec", "base", "profile", "archive")),
        sa.Column("watched", sa.Boolean(), server_default=sa.text("false"), nullable=False),
        sa.Column("created_at", moment, server_default=sa.func.now(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_series")),
        sa.UniqueConstraint("name", name=op.f("uq_series_name")),
        sa.UniqueConstraint("key", name=op.f("uq_series_key")),
    )  # fmt: skip
    op.create_table(
        "list_archive",
        sa.Column("address", sa.String(), nullable=False),
        *(sa.Column(name, sa.String(), server_default="", nullable=False)
          for name in ("etag", "modified", "error")),
        *(sa.Column(name, postgresql.JSONB(), nullable=False) for name in ("seen", "pending")),
        sa.Column("failures", sa.Integer(), server_default=sa.text("0"), nullable=False),
        *(sa.Column(name, moment, nullable=True) for name in ("looked_at", "next_look_at")),
        sa.PrimaryKeyConstraint("address", name=op.f("pk_list_archive")),
    )  # fmt: skip
    op.create_table(
        "series_revision",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("series_id", sa.Integer(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("digest", sa.String(), nullable=False),
        sa.Column("title", sa.String(), nullable=False),
        *(sa.Column(name, sa.String(), server_default="", nullable=False)
          for name in ("retest", "approved_by")),
        *(sa.Column(name, sa.String(), nullable=False)
          for name in ("state", "why", "message_id", "sender", "attested", "base_commit", "letter",
                       "changelog", "patches_sha256")),
        *(sa.Column(name, postgresql.JSONB(), nullable=False)
          for name in ("recipients", "strays", "patches", "changes", "renamed")),
        sa.Column("sent_at", moment, nullable=True),
        sa.Column("kernel_id", sa.Integer(), nullable=True),
        sa.Column("experiment_id", sa.Integer(), nullable=True),
        sa.Column("received_at", moment, server_default=sa.func.now(), nullable=False),
        sa.CheckConstraint(f"state IN ({STATES})", name=op.f("ck_series_revision_state")),
        sa.CheckConstraint(
            "attested IN ('pass', 'fail', 'missing')", name=op.f("ck_series_revision_attested")
        ),
        sa.ForeignKeyConstraint(
            ["series_id"], ["series.id"], name=op.f("fk_series_revision_series_id_series")
        ),
        sa.ForeignKeyConstraint(
            ["kernel_id"], ["kernel.id"], name=op.f("fk_series_revision_kernel_id_kernel")
        ),
        sa.ForeignKeyConstraint(
            ["experiment_id"], ["experiment.id"],
            name=op.f("fk_series_revision_experiment_id_experiment"),
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_series_revision")),
        sa.UniqueConstraint(
            "series_id", "number", "digest", name=op.f("uq_series_revision_series_id_number_digest")
        ),
    )  # fmt: skip
    op.create_index(op.f("ix_series_revision_series_id"), "series_revision", ["series_id"])


def downgrade() -> None:
    op.drop_table("series_revision")
    op.drop_table("list_archive")
    op.drop_table("series")
