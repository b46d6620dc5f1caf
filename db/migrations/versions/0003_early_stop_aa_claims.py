"""Early stops, false alarms of doubled arms, and published claims."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("run", sa.Column("stopped_after", sa.Integer()))
    op.add_column(
        "arm", sa.Column("is_double", sa.Boolean(), server_default=sa.text("false"), nullable=False)
    )
    _false_alarms()
    _claims()


def _false_alarms() -> None:
    op.create_table(
        "aa_outcome",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("run_id", sa.Integer(), nullable=False),
        sa.Column("case_id", sa.Integer(), nullable=False),
        sa.Column("metric", sa.String(), nullable=False),
        sa.Column("verdict", sa.String(), nullable=False),
        sa.Column("effect_percent", sa.Double()),
        sa.Column("p", sa.Double()),
        sa.Column("blocks", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_aa_outcome")),
        sa.ForeignKeyConstraint(["run_id"], ["run.id"], name=op.f("fk_aa_outcome_run_id_run")),
        sa.ForeignKeyConstraint(
            ["case_id"], ["benchmark_case.id"], name=op.f("fk_aa_outcome_case_id_benchmark_case")
        ),
        sa.UniqueConstraint(
            "run_id", "case_id", "metric", name=op.f("uq_aa_outcome_run_id_case_id_metric")
        ),
        sa.CheckConstraint(
            "verdict IN ('better', 'worse', 'same', 'undecided')",
            name=op.f("ck_aa_outcome_verdict"),
        ),
    )


def _claims() -> None:
    op.create_table(
        "claim_source",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("digest", sa.String(), nullable=False),
        sa.Column("title", sa.String(), nullable=False),
        sa.Column("citation", sa.String(), nullable=False),
        sa.Column("published", sa.Date()),
        sa.Column("imported_at", sa.DateTime(timezone=True), nullable=False,
                  server_default=sa.text("now()")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_claim_source")),
        sa.UniqueConstraint("name", name=op.f("uq_claim_source_name")),
    )  # fmt: skip
    op.create_table(
        "claim",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("source_id", sa.Integer(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("title", sa.String(), nullable=False),
        sa.Column("workload", sa.String(), nullable=False),
        sa.Column("parameters", JSONB(), nullable=False),
        sa.Column("metric", sa.String(), nullable=False),
        sa.Column("baseline", sa.String(), nullable=False),
        sa.Column("mode", sa.String(), nullable=False),
        sa.Column("low_percent", sa.Double(), nullable=False),
        sa.Column("high_percent", sa.Double(), nullable=False),
        sa.Column("processor", sa.String(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_claim")),
        sa.ForeignKeyConstraint(
            ["source_id"], ["claim_source.id"], name=op.f("fk_claim_source_id_claim_source"),
            ondelete="CASCADE",
        ),
        sa.UniqueConstraint("source_id", "position", name=op.f("uq_claim_source_id_position")),
        sa.CheckConstraint("low_percent <= high_percent", name=op.f("ck_claim_range")),
    )  # fmt: skip


def downgrade() -> None:
    op.drop_table("claim")
    op.drop_table("claim_source")
    op.drop_table("aa_outcome")
    op.drop_column("arm", "is_double")
    op.drop_column("run", "stopped_after")
