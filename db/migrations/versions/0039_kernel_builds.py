"""Which builds a run must boot, and which recipes are one but for their layout."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0039"
down_revision = "0038"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("kernel", sa.Column("source_digest", sa.String(), nullable=True))
    op.add_column("kernel", sa.Column("series_id", sa.Integer(), nullable=True))
    op.execute(
        "UPDATE kernel SET series_id = of.series_id FROM (SELECT kernel_id, min(series_id) AS "
        "series_id FROM series_revision WHERE kernel_id IS NOT NULL GROUP BY kernel_id) AS of "
        "WHERE of.kernel_id = kernel.id"
    )
    # A release that was removed may be brought in again, from another package.
    op.drop_constraint(op.f("uq_kernel_release"), "kernel")
    op.create_index(
        "uq_kernel_release",
        "kernel",
        ["release"],
        unique=True,
        postgresql_where=sa.text("state <> 'removed'"),
    )
    op.add_column(
        "run",
        sa.Column(
            "kernels", postgresql.JSONB(), server_default=sa.text("'{}'::jsonb"), nullable=False
        ),
    )


def downgrade() -> None:
    op.drop_column("run", "kernels")
    op.drop_index("uq_kernel_release", "kernel")
    op.create_unique_constraint(op.f("uq_kernel_release"), "kernel", ["release"])
    op.drop_column("kernel", "series_id")
    op.drop_column("kernel", "source_digest")
