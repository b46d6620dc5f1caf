"""Functions' instructions as they ran, and where in them a profile's samples fell."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0035"
down_revision = "0034"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "profile_instructions",
        sa.Column("profile_id", sa.Integer(), nullable=False),
        sa.Column("functions", sa.Integer(), nullable=False),
        sa.Column("left_out", sa.Integer(), nullable=False),
        sa.Column("detail", sa.String(), server_default="", nullable=False),
        sa.ForeignKeyConstraint(
            ["profile_id"],
            ["profile.id"],
            name=op.f("fk_profile_instructions_profile_id_profile"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("profile_id", name=op.f("pk_profile_instructions")),
    )
    op.create_table(
        "function_listing",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("digest", sa.LargeBinary(), nullable=False),
        sa.Column("instructions", sa.Integer(), nullable=False),
        sa.Column("lines", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_function_listing")),
        sa.UniqueConstraint("digest", name=op.f("uq_function_listing_digest")),
    )
    op.create_table(
        "profile_function",
        sa.Column("profile_id", sa.Integer(), nullable=False),
        sa.Column("symbol_id", sa.Integer(), nullable=False),
        sa.Column("part", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("listing_id", sa.Integer(), nullable=False),
        sa.Column("counts", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(
            ["profile_id"],
            ["profile.id"],
            name=op.f("fk_profile_function_profile_id_profile"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["symbol_id"],
            ["frame_symbol.id"],
            name=op.f("fk_profile_function_symbol_id_frame_symbol"),
        ),
        sa.ForeignKeyConstraint(
            ["listing_id"],
            ["function_listing.id"],
            name=op.f("fk_profile_function_listing_id_function_listing"),
        ),
        sa.PrimaryKeyConstraint(
            "profile_id", "symbol_id", "part", name=op.f("pk_profile_function")
        ),
    )
    op.create_index("ix_profile_function_listing_id", "profile_function", ["listing_id"])


def downgrade() -> None:
    op.drop_table("profile_function")
    op.drop_table("function_listing")
    op.drop_table("profile_instructions")
