"""Profiles: names, shared trees of frames, and each boot's counts."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    _capture()
    _trees()
    _profiles()


def _capture() -> None:
    op.add_column("benchmark_case", sa.Column("profile_hz", sa.Integer()))


def _trees() -> None:
    op.create_table(
        "frame_symbol",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_frame_symbol")),
        sa.UniqueConstraint("name", name=op.f("uq_frame_symbol_name")),
    )
    op.create_table(
        "frame_tree",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("nodes", sa.Integer(), nullable=False),
        sa.Column("rules_version", sa.Integer(), nullable=False),
        sa.Column("layout", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_frame_tree")),
        sa.UniqueConstraint("name", name=op.f("uq_frame_tree_name")),
    )
    # Compressed already: PostgreSQL need not try again.
    op.execute("ALTER TABLE frame_tree ALTER COLUMN layout SET STORAGE EXTERNAL")


def _profiles() -> None:
    op.create_table(
        "profile",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("tree_id", sa.Integer(), nullable=False),
        sa.Column("boot_id", sa.Integer()),
        sa.Column("case_id", sa.Integer()),
        sa.Column("side", sa.String(), nullable=False, server_default="host"),
        sa.Column("label", sa.String(), nullable=False, server_default=""),
        sa.Column("event", sa.String(), nullable=False),
        sa.Column("hz", sa.Integer()),
        sa.Column("samples", sa.BigInteger(), nullable=False),
        sa.Column("lost", sa.BigInteger(), nullable=False, server_default="0"),
        sa.Column("weight", sa.BigInteger(), nullable=False),
        sa.Column("idle", sa.BigInteger(), nullable=False, server_default="0"),
        sa.Column("unknown", sa.BigInteger(), nullable=False, server_default="0"),
        sa.Column("truncated", sa.BigInteger(), nullable=False, server_default="0"),
        sa.Column("operations", sa.Double()),
        sa.Column("overhead_percent", sa.Double()),
        sa.Column("seconds", sa.Double()),
        sa.Column("counters", JSONB(), nullable=False, server_default="{}"),
        sa.Column("tool", sa.String(), nullable=False, server_default=""),
        sa.Column("raw_sha256", sa.String(), nullable=False),
        sa.Column("stacks", sa.LargeBinary(), nullable=False),
        sa.Column("functions", sa.LargeBinary(), nullable=False),
        sa.Column("stored_at", sa.DateTime(timezone=True), nullable=False,
                  server_default=sa.text("now()")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_profile")),
        sa.ForeignKeyConstraint(
            ["tree_id"], ["frame_tree.id"], name=op.f("fk_profile_tree_id_frame_tree")
        ),
        sa.ForeignKeyConstraint(["boot_id"], ["boot.id"], name=op.f("fk_profile_boot_id_boot")),
        sa.ForeignKeyConstraint(
            ["case_id"], ["benchmark_case.id"], name=op.f("fk_profile_case_id_benchmark_case")
        ),
        sa.UniqueConstraint(
            "boot_id", "case_id", "side", name=op.f("uq_profile_boot_id_case_id_side")
        ),
    )  # fmt: skip
    op.create_index("ix_profile_case_id", "profile", ["case_id"])
    op.create_index(
        "uq_profile_imported", "profile", ["tree_id", "label", "raw_sha256"],
        unique=True, postgresql_where=sa.text("boot_id IS NULL"),
    )  # fmt: skip
    for column in ("stacks", "functions"):
        op.execute(f"ALTER TABLE profile ALTER COLUMN {column} SET STORAGE EXTERNAL")
    op.create_table(
        "profile_symbol",
        sa.Column("profile_id", sa.Integer(), nullable=False),
        sa.Column("symbol_id", sa.Integer(), nullable=False),
        sa.Column("self_weight", sa.BigInteger(), nullable=False),
        sa.Column("total_weight", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("profile_id", "symbol_id", name=op.f("pk_profile_symbol")),
        sa.ForeignKeyConstraint(
            ["profile_id"], ["profile.id"], name=op.f("fk_profile_symbol_profile_id_profile"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["symbol_id"], ["frame_symbol.id"],
            name=op.f("fk_profile_symbol_symbol_id_frame_symbol"),
        ),
    )  # fmt: skip


def downgrade() -> None:
    op.drop_table("profile_symbol")
    op.drop_table("profile")
    op.drop_table("frame_tree")
    op.drop_table("frame_symbol")
    op.drop_column("benchmark_case", "profile_hz")
