"""What the code of each function of a kernel is, by which renamed functions are recognised."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0025"
down_revision = "0024"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("kernel", sa.Column("functions_sha256", sa.String(), nullable=True))
    kernels = ("before_id", "after_id")
    op.create_table(
        "kernel_rename",
        *(sa.Column(name, sa.Integer(), nullable=False) for name in kernels),
        sa.Column("names", postgresql.JSONB(), nullable=False),
        sa.PrimaryKeyConstraint(*kernels, name=op.f("pk_kernel_rename")),
        *(
            sa.ForeignKeyConstraint(
                [name], ["kernel.id"], name=op.f(f"fk_kernel_rename_{name}_kernel")
            )
            for name in kernels
        ),
    )


def downgrade() -> None:
    op.drop_table("kernel_rename")
    op.drop_column("kernel", "functions_sha256")
