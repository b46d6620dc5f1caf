"""Records of prunings, and which rows name a raw file."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

revision = "0014"
down_revision = "0013"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "pruning",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("started_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("finished_at", sa.DateTime(timezone=True), nullable=False,
                  server_default=sa.text("clock_timestamp()")),
        sa.Column("removed", JSONB(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_pruning")),
    )  # fmt: skip
    op.create_index("ix_result_raw_sha256", "result", ["raw_sha256"])
    op.create_index("ix_profile_raw_sha256", "profile", ["raw_sha256"])


def downgrade() -> None:
    op.drop_index("ix_profile_raw_sha256", "profile")
    op.drop_index("ix_result_raw_sha256", "result")
    op.drop_table("pruning")
