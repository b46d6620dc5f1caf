"""The noise of cases, times in which no run begins on a host, and weekly reports."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

revision = "0032"
down_revision = "0031"
branch_labels = None
depends_on = None

MOMENT = sa.DateTime(timezone=True)


def upgrade() -> None:
    op.create_table(
        "case_noise",
        sa.Column("run_id", sa.Integer(), nullable=False),
        sa.Column("case_id", sa.Integer(), nullable=False),
        sa.Column("metric", sa.String(), nullable=False),
        sa.Column("boots", sa.Integer(), nullable=False),
        sa.Column("boot_mean_percent", sa.Float()),
        sa.Column("boot_percent", sa.Float()),
        sa.Column("iteration_percent", sa.Float()),
        sa.ForeignKeyConstraint(["run_id"], ["run.id"], name=op.f("fk_case_noise_run_id_run")),
        sa.ForeignKeyConstraint(
            ["case_id"], ["benchmark_case.id"], name=op.f("fk_case_noise_case_id_benchmark_case")
        ),
        sa.PrimaryKeyConstraint("run_id", "case_id", "metric", name=op.f("pk_case_noise")),
    )
    op.add_column("run", sa.Column("noise_at", MOMENT))
    for name in ("set_aside_by", "reserved_by", "reserved_reason"):
        op.add_column("host", sa.Column(name, sa.String(), nullable=False, server_default=""))
    op.add_column("host", sa.Column("reserved_until", MOMENT))
    op.create_table(
        "host_absence",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("host_id", sa.Integer(), nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("reason", sa.String(), nullable=False),
        sa.Column("begun_by", sa.String(), nullable=False, server_default=""),
        sa.Column("began_at", MOMENT, nullable=False),
        sa.Column("until", MOMENT),
        sa.Column("ended_at", MOMENT),
        sa.Column("ended_by", sa.String(), nullable=False, server_default=""),
        sa.CheckConstraint("kind IN ('set_aside', 'reserved')", name=op.f("ck_host_absence_kind")),
        sa.CheckConstraint(
            "(kind = 'reserved') = (until IS NOT NULL)", name=op.f("ck_host_absence_until")
        ),
        sa.ForeignKeyConstraint(
            ["host_id"], ["host.id"], name=op.f("fk_host_absence_host_id_host")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_host_absence")),
    )
    op.create_index(
        "uq_host_absence_open",
        "host_absence",
        ["host_id", "kind"],
        unique=True,
        postgresql_where=sa.text("ended_at IS NULL"),
    )
    op.create_index("ix_host_absence_began_at", "host_absence", ["began_at"])
    op.create_table(
        "weekly_report",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("week", sa.String(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("complete", sa.Boolean(), nullable=False),
        sa.Column("digest", sa.String(), nullable=False),
        sa.Column("data", JSONB(), nullable=False),
        sa.Column("document", JSONB(), nullable=False),
        sa.Column("made_at", MOMENT, nullable=False),
        sa.Column("superseded_at", MOMENT),
        sa.Column("sent_at", MOMENT),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_weekly_report")),
        sa.UniqueConstraint("week", "version", name=op.f("uq_weekly_report_week_version")),
    )
    op.create_index(
        "uq_weekly_report_current",
        "weekly_report",
        ["week"],
        unique=True,
        postgresql_where=sa.text("superseded_at IS NULL"),
    )
    op.create_index("ix_verdict_given_at", "verdict", ["given_at"])


def downgrade() -> None:
    op.drop_index("ix_verdict_given_at", "verdict")
    op.drop_table("weekly_report")
    op.drop_table("host_absence")
    for name in ("reserved_until", "reserved_reason", "reserved_by", "set_aside_by"):
        op.drop_column("host", name)
    op.drop_column("run", "noise_at")
    op.drop_table("case_noise")
