"""How runs end: set-aside hosts, lost workers, interim analyses as steps, conclusions."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None

MOMENT = sa.DateTime(timezone=True)


def upgrade() -> None:
    op.add_column(
        "host", sa.Column("set_aside_reason", sa.String(), nullable=False, server_default="")
    )
    op.add_column("host", sa.Column("set_aside_at", MOMENT))
    op.add_column("host", sa.Column("probe_at", MOMENT))
    op.add_column("host", sa.Column("probes", sa.Integer(), nullable=False, server_default="0"))
    op.add_column(
        "host", sa.Column("failed_preparations", sa.Integer(), nullable=False, server_default="0")
    )
    op.add_column("run", sa.Column("lost_workers", sa.Float(), nullable=False, server_default="0"))
    op.add_column("run", sa.Column("ending", sa.String(), nullable=False, server_default=""))
    op.add_column(
        "run", sa.Column("judged_blocks", sa.Integer(), nullable=False, server_default="0")
    )
    op.add_column("run", sa.Column("decided_blocks", sa.Integer()))
    op.add_column(
        "boot", sa.Column("revived", sa.Boolean(), nullable=False, server_default=sa.false())
    )
    op.add_column("step_attempt", sa.Column("worker", sa.Uuid()))
    op.create_index(
        "ix_step_attempt_worker",
        "step_attempt",
        ["worker"],
        postgresql_where=sa.text("worker IS NOT NULL"),
    )
    op.add_column("experiment", sa.Column("concluded_at", MOMENT))
    # What is over was concluded in the transaction that ended it.
    op.execute("UPDATE experiment SET concluded_at = finished_at")


def downgrade() -> None:
    op.drop_index("ix_step_attempt_worker", "step_attempt")
    op.drop_column("step_attempt", "worker")
    op.drop_column("boot", "revived")
    op.drop_column("experiment", "concluded_at")
    for column in ("decided_blocks", "judged_blocks", "ending", "lost_workers"):
        op.drop_column("run", column)
    for column in ("failed_preparations", "probes", "probe_at", "set_aside_at", "set_aside_reason"):
        op.drop_column("host", column)
