"""Regressions: who looks after what became worse, and what was said of it."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0049"
down_revision = "0048"
branch_labels = None
depends_on = None

TIME = sa.DateTime(timezone=True)
STATES = ["new", "confirmed", "assigned", "known", "fixed", "false", "not-worth-it", "duplicate"]
KINDS = ["found", "state", "owner", "bug", "bisection", "joined", "note"]


def upgrade() -> None:
    op.create_table(
        "regression",
        sa.Column("id", sa.Integer(), primary_key=True),
        sa.Column("origin", sa.String(), nullable=False),
        _other("trend_id", "trend"),
        sa.Column("change_id", sa.BigInteger()),
        _other("experiment_id", "experiment"),
        _other("run_id", "run"),
        _other("case_id", "benchmark_case"),
        _other("arm_id", "arm"),
        *(sa.Column(name, sa.String(), nullable=False) for name in ("environment", "host_class")),
        sa.Column("hosts", postgresql.JSONB(), nullable=False),
        sa.Column("emulated", sa.Boolean(), nullable=False),
        *(
            sa.Column(name, sa.String(), nullable=False)
            for name in (
                "clock", "workload", "case_title", "metric", "metric_title", "mode", "before",
            )
        ),
        *(
            sa.Column(name, sa.Float())
            for name in ("effect_percent", "ci_low_percent", "ci_high_percent")
        ),
        sa.Column("happened_at", TIME, nullable=False),
        sa.Column("found_at", TIME, server_default=sa.func.clock_timestamp(), nullable=False),
        sa.Column("state", sa.String(), server_default="new", nullable=False),
        sa.Column("owner", sa.String(), server_default="", nullable=False),
        sa.Column("bug", sa.String(), server_default="", nullable=False),
        _other("bisection_id", "bisection"),
        sa.Column(
            "duplicate_of",
            sa.Integer(),
            sa.ForeignKey("regression.id", name=op.f("fk_regression_duplicate_of_regression")),
        ),
        sa.Column("version", sa.Integer(), server_default=sa.text("1"), nullable=False),
        sa.Column("changed_at", TIME, server_default=sa.func.clock_timestamp(), nullable=False),
        sa.CheckConstraint(_one_of("state", STATES), name=op.f("ck_regression_state")),
        sa.CheckConstraint(_one_of("origin", ["trend", "cell"]), name=op.f("ck_regression_origin")),
        sa.CheckConstraint(
            _one_of("clock", ["real", "counted"]), name=op.f("ck_regression_clock")
        ),
        sa.CheckConstraint(
            "(state = 'duplicate') = (duplicate_of IS NOT NULL)",
            name=op.f("ck_regression_duplicate_of_another"),
        ),
        sa.CheckConstraint(
            "state <> 'assigned' OR owner <> ''", name=op.f("ck_regression_assigned_to_somebody")
        ),
        sa.CheckConstraint(
            "duplicate_of <> id", name=op.f("ck_regression_not_its_own_duplicate")
        ),
    )  # fmt: skip
    op.create_index("uq_regression_change_id", "regression", ["change_id"], unique=True)
    op.create_index(
        "uq_regression_cell",
        "regression",
        ["run_id", "case_id", "arm_id", "metric"],
        unique=True,
        postgresql_where=sa.text("origin = 'cell'"),
    )
    newest = sa.text("found_at DESC")
    op.create_index("ix_regression_found_at", "regression", [newest, sa.text("id DESC")])
    op.create_index("ix_regression_state", "regression", ["state", newest])
    op.create_index(
        "ix_regression_owner", "regression", ["owner"], postgresql_where=sa.text("owner <> ''")
    )
    op.create_index("ix_regression_trend_id", "regression", ["trend_id"])
    op.create_index("ix_regression_experiment_id", "regression", ["experiment_id"])
    op.create_table(
        "regression_entry",
        sa.Column("id", sa.Integer(), primary_key=True),
        sa.Column(
            "regression_id",
            sa.Integer(),
            sa.ForeignKey(
                "regression.id",
                ondelete="CASCADE",
                name=op.f("fk_regression_entry_regression_id_regression"),
            ),
            nullable=False,
        ),
        sa.Column("at", TIME, server_default=sa.func.clock_timestamp(), nullable=False),
        sa.Column("by", sa.String(), nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        *(
            sa.Column(name, sa.String(), server_default="", nullable=False)
            for name in ("before", "after", "text")
        ),
        sa.CheckConstraint(_one_of("kind", KINDS), name=op.f("ck_regression_entry_kind")),
    )
    op.create_index(
        "ix_regression_entry_regression_id", "regression_entry", ["regression_id", "id"]
    )


def _other(column: str, table: str) -> sa.Column[int]:
    return sa.Column(
        column,
        sa.Integer(),
        sa.ForeignKey(
            f"{table}.id", ondelete="SET NULL", name=op.f(f"fk_regression_{column}_{table}")
        ),
    )


def _one_of(column: str, words: list[str]) -> str:
    return f"{column} IN ({', '.join(repr(word) for word in words)})"


def downgrade() -> None:
    op.drop_table("regression_entry")
    op.drop_table("regression")
