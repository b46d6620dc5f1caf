"""What is collected once a second beside cases; profiles of waiting."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0033"
down_revision = "0032"
branch_labels = None
depends_on = None

JSON = postgresql.JSONB(astext_type=sa.Text())
EMPTY = sa.text("'{}'")


def upgrade() -> None:
    op.add_column("benchmark_case", sa.Column("collect", JSON, nullable=True))
    op.add_column(
        "benchmark_case",
        sa.Column("profile_off_cpu", sa.Boolean(), server_default=sa.text("false"), nullable=False),
    )
    op.create_table(
        "collected_series",
        sa.Column("boot_id", sa.Integer(), nullable=False),
        sa.Column("case_id", sa.Integer(), nullable=False),
        sa.Column("collector", sa.String(), nullable=False),
        sa.Column("absent", sa.String(), server_default="", nullable=False),
        sa.Column("samples", sa.Integer(), server_default="0", nullable=False),
        sa.Column("cost_percent", sa.Float(), nullable=False),
        sa.Column("began_s", sa.Float(), nullable=True),
        sa.Column("ended_s", sa.Float(), nullable=True),
        sa.Column("means", JSON, server_default=EMPTY, nullable=False),
        sa.Column("rates", JSON, server_default=EMPTY, nullable=False),
        sa.Column("data", sa.LargeBinary(), nullable=True),
        sa.CheckConstraint(
            "(data IS NULL) = (absent <> '')", name=op.f("ck_collected_series_absent")
        ),
        sa.ForeignKeyConstraint(
            ["boot_id"], ["boot.id"], name=op.f("fk_collected_series_boot_id_boot")
        ),
        sa.ForeignKeyConstraint(
            ["case_id"],
            ["benchmark_case.id"],
            name=op.f("fk_collected_series_case_id_benchmark_case"),
        ),
        sa.PrimaryKeyConstraint(
            "boot_id", "case_id", "collector", name=op.f("pk_collected_series")
        ),
    )
    op.create_index("ix_collected_series_case_id", "collected_series", ["case_id", "collector"])


def downgrade() -> None:
    op.drop_table("collected_series")
    op.drop_column("benchmark_case", "profile_off_cpu")
    op.drop_column("benchmark_case", "collect")
