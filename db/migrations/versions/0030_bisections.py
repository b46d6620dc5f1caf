"""Bisections: what is asked, candidates, points that can be booted, and steps."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0030"
down_revision = "0029"
branch_labels = None
depends_on = None


def upgrade() -> None:
    moment = sa.DateTime(timezone=True)
    op.create_table(
        "bisection",
        sa.Column("id", sa.Integer(), nullable=False),
        *(sa.Column(name, sa.String(), nullable=False)
          for name in ("kind", "title", "state", "why", "environment", "workload", "case_title",
                       "metric", "unit")),
        *(sa.Column(name, postgresql.JSONB(), nullable=False)
          for name in ("hosts", "parameters", "source")),
        *(sa.Column(name, sa.Boolean(), nullable=False)
          for name in ("counted", "emulated", "higher_is_worse")),
        *(sa.Column(name, sa.Float(), nullable=False)
          for name in ("minimum_effect", "confidence", "budget_s")),
        sa.Column("budget_boots", sa.Integer(), nullable=False),
        sa.Column("patches_sha256", sa.String(), nullable=True),
        sa.Column("boots", sa.Integer(), server_default=sa.text("0"), nullable=False),
        sa.Column("seconds", sa.Float(), server_default=sa.text("0"), nullable=False),
        *(sa.Column(name, sa.Float(), nullable=True)
          for name in ("none_probability", "several_probability")),
        sa.Column("answer", postgresql.JSONB(), nullable=True),
        sa.Column("submitted_by", sa.String(), server_default="operator", nullable=False),
        sa.Column("created_at", moment, server_default=sa.func.now(), nullable=False),
        sa.Column("finished_at", moment, nullable=True),
        sa.CheckConstraint(
            "kind IN ('patches', 'commits', 'arms')", name=op.f("ck_bisection_kind")
        ),
        sa.CheckConstraint(
            "state IN ('running', 'finished', 'failed', 'cancelled')",
            name=op.f("ck_bisection_state"),
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_bisection")),
    )  # fmt: skip
    op.create_table(
        "bisection_candidate",
        *(sa.Column(name, sa.Integer(), nullable=False) for name in ("bisection_id", "position")),
        *(sa.Column(name, sa.String(), nullable=False) for name in ("name", "title")),
        *(sa.Column(name, sa.String(), server_default="", nullable=False)
          for name in ("message_id", "prior_why")),
        *(sa.Column(name, postgresql.JSONB(), server_default=sa.text("'[]'"), nullable=False)
          for name in ("people", "files", "functions")),
        sa.Column("prior", sa.Float(), nullable=False),
        sa.Column("probability", sa.Float(), nullable=True),
        _of_bisection("bisection_candidate"),
        sa.PrimaryKeyConstraint("bisection_id", "position", name=op.f("pk_bisection_candidate")),
    )  # fmt: skip
    op.create_table(
        "bisection_point",
        *(sa.Column(name, sa.Integer(), nullable=False) for name in ("bisection_id", "position")),
        sa.Column("mode", sa.String(), nullable=False),
        *(sa.Column(name, sa.String(), server_default="", nullable=False)
          for name in ("release", "skipped")),
        *(sa.Column(name, sa.Integer(), nullable=True) for name in ("kernel_id", "without")),
        _of_bisection("bisection_point"),
        sa.ForeignKeyConstraint(
            ["kernel_id"], ["kernel.id"], name=op.f("fk_bisection_point_kernel_id_kernel")
        ),
        sa.PrimaryKeyConstraint("bisection_id", "position", name=op.f("pk_bisection_point")),
    )  # fmt: skip
    op.create_table(
        "bisection_step",
        *(sa.Column(name, sa.Integer(), nullable=False)
          for name in ("bisection_id", "number", "blocks", "experiment_id", "case_id")),
        sa.Column("points", postgresql.JSONB(), nullable=False),
        *(sa.Column(name, sa.String(), nullable=False) for name in ("purpose", "why")),
        sa.Column("verifies", sa.Integer(), nullable=True),
        sa.Column("profiled", sa.Boolean(), nullable=False),
        sa.Column("taken_in_at", moment, nullable=True),
        sa.Column("outcome", sa.String(), server_default="", nullable=False),
        *(sa.Column(name, postgresql.JSONB(), server_default=sa.text("'[]'"), nullable=False)
          for name in ("observed", "levels")),
        sa.Column("boots", sa.Integer(), server_default=sa.text("0"), nullable=False),
        sa.Column("measured_s", sa.Float(), server_default=sa.text("0"), nullable=False),
        _of_bisection("bisection_step"),
        sa.ForeignKeyConstraint(
            ["experiment_id"], ["experiment.id"],
            name=op.f("fk_bisection_step_experiment_id_experiment"),
        ),
        sa.PrimaryKeyConstraint("bisection_id", "number", name=op.f("pk_bisection_step")),
        sa.UniqueConstraint("experiment_id", name=op.f("uq_bisection_step_experiment_id")),
    )  # fmt: skip


def downgrade() -> None:
    for name in ("step", "point", "candidate"):
        op.drop_table(f"bisection_{name}")
    op.drop_table("bisection")


def _of_bisection(table: str) -> sa.ForeignKeyConstraint:
    return sa.ForeignKeyConstraint(
        ["bisection_id"], ["bisection.id"], name=op.f(f"fk_{table}_bisection_id_bisection")
    )
