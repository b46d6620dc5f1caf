"""Candidate kernels, built here or brought in."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0023"
down_revision = "0022"
branch_labels = None
depends_on = None


def upgrade() -> None:
    moment = sa.DateTime(timezone=True)
    op.create_table(
        "kernel",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("release", sa.String(), nullable=True),
        sa.Column("digest", sa.String(), nullable=False),
        sa.Column("state", sa.String(), nullable=False),
        sa.Column("label", sa.String(), nullable=False),
        sa.Column("imported", sa.Boolean(), nullable=False),
        *(sa.Column(name, sa.String(), nullable=False)
          for name in ("base", "profile", "toolchain", "layout")),
        *(sa.Column(name, postgresql.JSONB(), nullable=False)
          for name in ("patches", "config_refused")),
        sa.Column("build_id", sa.String(), nullable=True),
        sa.Column("content_digest", sa.String(), nullable=True),
        sa.Column("package_sha256", sa.String(), nullable=True),
        sa.Column("package_bytes", sa.BigInteger(), nullable=True),
        sa.Column("log_sha256", sa.String(), nullable=True),
        sa.Column("error", sa.String(), server_default="", nullable=False),
        sa.Column("started_at", moment, server_default=sa.func.now(), nullable=False),
        sa.Column("finished_at", moment, nullable=True),
        sa.Column("used_at", moment, nullable=True),
        sa.CheckConstraint(
            "state IN ('building', 'built', 'failed', 'removed')", name=op.f("ck_kernel_state")
        ),
        sa.CheckConstraint(
            "state <> 'built' OR (package_sha256 IS NOT NULL AND build_id IS NOT NULL)",
            name=op.f("ck_kernel_built_has_package"),
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_kernel")),
        sa.UniqueConstraint("digest", name=op.f("uq_kernel_digest")),
        sa.UniqueConstraint("release", name=op.f("uq_kernel_release")),
    )  # fmt: skip


def downgrade() -> None:
    op.drop_table("kernel")
