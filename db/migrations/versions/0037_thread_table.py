"""Threads by name: what woke, ran and waited while a case's load ran."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0037"
down_revision = "0036"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "thread_table",
        sa.Column("boot_id", sa.Integer(), nullable=False),
        sa.Column("case_id", sa.Integer(), nullable=False),
        sa.Column("seconds", sa.Double(), nullable=False),
        sa.Column("names", sa.ARRAY(sa.String()), nullable=False),
        sa.Column("own", sa.ARRAY(sa.Boolean()), nullable=False),
        sa.Column("other_names", sa.Integer(), nullable=False),
        sa.Column("threads", sa.ARRAY(sa.BigInteger()), nullable=False),
        sa.Column("wakeups", sa.ARRAY(sa.BigInteger()), nullable=False),
        sa.Column("run_ns", sa.ARRAY(sa.BigInteger()), nullable=False),
        sa.Column("wait_ns", sa.ARRAY(sa.BigInteger()), nullable=False),
        sa.CheckConstraint(
            "seconds > 0 AND seconds < 'Infinity'", name=op.f("ck_thread_table_seconds")
        ),
        sa.CheckConstraint(
            "cardinality(names) > 0 AND cardinality(own) = cardinality(names) "
            "AND cardinality(threads) = cardinality(names) + (other_names > 0)::int "
            "AND cardinality(wakeups) = cardinality(threads) "
            "AND cardinality(run_ns) = cardinality(threads) "
            "AND cardinality(wait_ns) = cardinality(threads)",
            name=op.f("ck_thread_table_entries"),
        ),
        sa.ForeignKeyConstraint(
            ["boot_id", "case_id"],
            ["result.boot_id", "result.case_id"],
            name=op.f("fk_thread_table_boot_id_result"),
        ),
        sa.PrimaryKeyConstraint("boot_id", "case_id", name=op.f("pk_thread_table")),
    )
    op.create_index("ix_thread_table_case_id", "thread_table", ["case_id"])


def downgrade() -> None:
    op.drop_table("thread_table")
