"""Trends: values over time, changes of their level, what people said of them."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

revision = "0031"
down_revision = "0029"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("CREATE SEQUENCE trend_change_number")
    _trend()
    _trend_run()
    _trend_arm()
    _trend_value()
    _trend_change()
    _trend_annotation()
    _verdict_stability()


def downgrade() -> None:
    op.drop_table("verdict_stability")
    op.drop_table("trend_annotation")
    op.drop_table("trend_change")
    op.drop_table("trend_value")
    op.drop_table("trend_arm")
    op.drop_table("trend_run")
    op.drop_table("trend")
    op.execute("DROP SEQUENCE trend_change_number")


def _trend() -> None:
    op.create_table(
        "trend",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("environment", sa.String(), nullable=False),
        sa.Column("host_class", sa.String(), nullable=False),
        sa.Column("emulated", sa.Boolean(), nullable=False),
        sa.Column("clock", sa.String(), nullable=False),
        sa.Column("workload", sa.String(), nullable=False),
        sa.Column("case_key", sa.String(), nullable=False),
        sa.Column("case_title", sa.String(), nullable=False),
        sa.Column("metric", sa.String(), nullable=False),
        sa.Column("unit", sa.String(), nullable=False),
        sa.Column("mode", sa.String(), nullable=False),
        sa.Column("line", sa.String(), nullable=False),
        sa.Column("metric_title", sa.String(), nullable=False),
        sa.Column("direction", sa.String(), nullable=False),
        sa.Column("is_primary", sa.Boolean(), nullable=False),
        sa.Column("delta_percent", sa.Float(), nullable=False),
        sa.Column("value_count", sa.Integer(), nullable=False, server_default=sa.text("0")),
        sa.Column("first_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("last_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("level", sa.Float(), nullable=True),
        sa.Column("sparkline", JSONB(), nullable=False, server_default=sa.text("'[]'")),
        sa.Column("notes", JSONB(), nullable=False, server_default=sa.text("'[]'")),
        sa.Column("levels", JSONB(), nullable=False, server_default=sa.text("'[]'")),
        sa.Column("changed_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("open_changes", sa.Integer(), nullable=False, server_default=sa.text("0")),
        sa.Column("rules", sa.Integer(), nullable=False, server_default=sa.text("0")),
        sa.Column("stale", sa.Boolean(), nullable=False, server_default=sa.text("true")),
        sa.CheckConstraint("clock IN ('real', 'counted')", name=op.f("ck_trend_clock")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_trend")),
    )
    op.create_index("ix_trend_class", "trend", ["host_class", "workload"])
    op.create_index(
        "ix_trend_listed", "trend", [sa.text("changed_at DESC NULLS LAST"), sa.text("id DESC")]
    )
    op.create_index("ix_trend_stale", "trend", ["id"], postgresql_where=sa.text("stale"))
    op.create_index(
        "uq_trend_identity",
        "trend",
        [
            "environment",
            "host_class",
            "emulated",
            "clock",
            "workload",
            "case_key",
            "metric",
            "unit",
            "mode",
            "line",
        ],
        unique=True,
    )


def _trend_run() -> None:
    op.create_table(
        "trend_run",
        sa.Column("run_id", sa.Integer(), nullable=False),
        sa.Column(
            "taken_at",
            sa.DateTime(timezone=True),
            nullable=False,
            server_default=sa.text("clock_timestamp()"),
        ),
        sa.Column("error", sa.String(), nullable=False, server_default=sa.text("''")),
        sa.ForeignKeyConstraint(["run_id"], ["run.id"], name=op.f("fk_trend_run_run_id_run")),
        sa.PrimaryKeyConstraint("run_id", name=op.f("pk_trend_run")),
    )


def _trend_arm() -> None:
    op.create_table(
        "trend_arm",
        sa.Column("run_id", sa.Integer(), nullable=False),
        sa.Column("arm_id", sa.Integer(), nullable=False),
        sa.Column("host_id", sa.Integer(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("kernel", sa.String(), nullable=False),
        sa.Column("context", JSONB(), nullable=False),
        sa.Column("notes", JSONB(), nullable=False),
        sa.ForeignKeyConstraint(["host_id"], ["host.id"], name=op.f("fk_trend_arm_host_id_host")),
        sa.ForeignKeyConstraint(["arm_id"], ["arm.id"], name=op.f("fk_trend_arm_arm_id_arm")),
        sa.ForeignKeyConstraint(["run_id"], ["run.id"], name=op.f("fk_trend_arm_run_id_run")),
        sa.PrimaryKeyConstraint("run_id", "arm_id", name=op.f("pk_trend_arm")),
    )


def _trend_value() -> None:
    op.create_table(
        "trend_value",
        sa.Column("trend_id", sa.Integer(), nullable=False),
        sa.Column("run_id", sa.Integer(), nullable=False),
        sa.Column("arm_id", sa.Integer(), nullable=False),
        sa.Column("case_id", sa.Integer(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("value", sa.Float(), nullable=False),
        sa.Column("low", sa.Float(), nullable=True),
        sa.Column("high", sa.Float(), nullable=True),
        sa.Column("boots", sa.Integer(), nullable=False),
        sa.Column("outlier", sa.Boolean(), nullable=False, server_default=sa.text("false")),
        sa.ForeignKeyConstraint(["arm_id"], ["arm.id"], name=op.f("fk_trend_value_arm_id_arm")),
        sa.ForeignKeyConstraint(
            ["case_id"], ["benchmark_case.id"], name=op.f("fk_trend_value_case_id_benchmark_case")
        ),
        sa.ForeignKeyConstraint(["run_id"], ["run.id"], name=op.f("fk_trend_value_run_id_run")),
        sa.ForeignKeyConstraint(
            ["trend_id"], ["trend.id"], name=op.f("fk_trend_value_trend_id_trend")
        ),
        sa.PrimaryKeyConstraint("trend_id", "run_id", "arm_id", name=op.f("pk_trend_value")),
    )


def _trend_change() -> None:
    op.create_table(
        "trend_change",
        sa.Column("id", sa.BigInteger(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False, server_default=sa.text("1")),
        sa.Column("trend_id", sa.Integer(), nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("state", sa.String(), nullable=False, server_default=sa.text("'open'")),
        sa.Column("verdict", sa.String(), nullable=False),
        sa.Column("before", sa.Float(), nullable=False),
        sa.Column("after", sa.Float(), nullable=False),
        sa.Column("effect_percent", sa.Float(), nullable=True),
        sa.Column("ci_low_percent", sa.Float(), nullable=True),
        sa.Column("ci_high_percent", sa.Float(), nullable=True),
        sa.Column("p", sa.Float(), nullable=False),
        sa.Column("values_before", sa.Integer(), nullable=False),
        sa.Column("values_after", sa.Integer(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("earliest_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("latest_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("until", sa.DateTime(timezone=True), nullable=True),
        sa.Column("run_before", sa.Integer(), nullable=False),
        sa.Column("run_after", sa.Integer(), nullable=False),
        sa.Column("arm_before", sa.Integer(), nullable=False),
        sa.Column("arm_after", sa.Integer(), nullable=False),
        sa.Column("hosts", JSONB(), nullable=False),
        sa.Column("causes", JSONB(), nullable=False),
        sa.Column("moved_to", JSONB(), nullable=False),
        sa.Column("rules", sa.Integer(), nullable=False),
        sa.Column("found_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("written_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("superseded_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("reason", sa.String(), nullable=False, server_default=sa.text("''")),
        sa.Column("said_by", sa.String(), nullable=False, server_default=sa.text("''")),
        sa.Column("said", sa.String(), nullable=False, server_default=sa.text("''")),
        sa.CheckConstraint(
            "kind IN ('lasting', 'went_away', 'withdrawn')", name=op.f("ck_trend_change_kind")
        ),
        sa.CheckConstraint("verdict IN ('better', 'worse')", name=op.f("ck_trend_change_verdict")),
        sa.CheckConstraint(
            "state IN ('open', 'accepted', 'expected')", name=op.f("ck_trend_change_state")
        ),
        sa.ForeignKeyConstraint(
            ["arm_after"], ["arm.id"], name=op.f("fk_trend_change_arm_after_arm")
        ),
        sa.ForeignKeyConstraint(
            ["run_before"], ["run.id"], name=op.f("fk_trend_change_run_before_run")
        ),
        sa.ForeignKeyConstraint(
            ["run_after"], ["run.id"], name=op.f("fk_trend_change_run_after_run")
        ),
        sa.ForeignKeyConstraint(
            ["trend_id"], ["trend.id"], name=op.f("fk_trend_change_trend_id_trend")
        ),
        sa.ForeignKeyConstraint(
            ["arm_before"], ["arm.id"], name=op.f("fk_trend_change_arm_before_arm")
        ),
        sa.PrimaryKeyConstraint("id", "version", name=op.f("pk_trend_change")),
    )
    op.create_index("ix_trend_change_found", "trend_change", ["found_at"])
    op.create_index("ix_trend_change_trend", "trend_change", ["trend_id"])
    op.create_index(
        "uq_trend_change_current",
        "trend_change",
        ["id"],
        unique=True,
        postgresql_where=sa.text("superseded_at IS NULL"),
    )


def _trend_annotation() -> None:
    op.create_table(
        "trend_annotation",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("trend_id", sa.Integer(), nullable=False),
        sa.Column("change_id", sa.BigInteger(), nullable=True),
        sa.Column("about", sa.DateTime(timezone=True), nullable=True),
        sa.Column("text", sa.String(), nullable=False),
        sa.Column("said_by", sa.String(), nullable=False),
        sa.Column(
            "said_at",
            sa.DateTime(timezone=True),
            nullable=False,
            server_default=sa.text("clock_timestamp()"),
        ),
        sa.ForeignKeyConstraint(
            ["trend_id"], ["trend.id"], name=op.f("fk_trend_annotation_trend_id_trend")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_trend_annotation")),
    )
    op.create_index("ix_trend_annotation_trend_id", "trend_annotation", ["trend_id"])


def _verdict_stability() -> None:
    op.create_table(
        "verdict_stability",
        sa.Column("environment", sa.String(), nullable=False),
        sa.Column("host_class", sa.String(), nullable=False),
        sa.Column("emulated", sa.Boolean(), nullable=False),
        sa.Column("clock", sa.String(), nullable=False),
        sa.Column("workload", sa.String(), nullable=False),
        sa.Column("questions", sa.Integer(), nullable=False),
        sa.Column("pairs", sa.Integer(), nullable=False),
        sa.Column("agreed", sa.Integer(), nullable=False),
        sa.Column("opposite", sa.Integer(), nullable=False),
        sa.Column("undecided", sa.Integer(), nullable=False),
        sa.Column(
            "computed_at",
            sa.DateTime(timezone=True),
            nullable=False,
            server_default=sa.text("clock_timestamp()"),
        ),
        sa.PrimaryKeyConstraint(
            "environment",
            "host_class",
            "emulated",
            "clock",
            "workload",
            name=op.f("pk_verdict_stability"),
        ),
    )
