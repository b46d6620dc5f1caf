"""Iterations as arrays with their mean; verdicts as rows; what counts verdicts' changes."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0015"
down_revision = "0014"
branch_labels = None
depends_on = None

FINITE = "'NaN' <> ALL ({0}) AND 'Infinity' <> ALL ({0}) AND '-Infinity' <> ALL ({0})"
SLOWDOWNS = "1 <= ALL ({0}) AND 'Infinity' > ALL ({0})"


def upgrade() -> None:
    op.create_table(
        "measurement",
        sa.Column("boot_id", sa.Integer(), nullable=False),
        sa.Column("case_id", sa.Integer(), nullable=False),
        sa.Column("metric", sa.String(), nullable=False),
        sa.Column("mean", sa.Double(), nullable=False),
        sa.Column("counted", postgresql.ARRAY(sa.Double()), nullable=False),
        sa.Column("warmup", postgresql.ARRAY(sa.Double()), nullable=True),
        sa.Column("disturbed", postgresql.ARRAY(sa.Double()), nullable=True),
        sa.Column("slowdowns", postgresql.ARRAY(sa.Double()), nullable=True),
        sa.Column("disturbed_slowdowns", postgresql.ARRAY(sa.Double()), nullable=True),
        sa.Column("slowdown_limit", sa.Double(), nullable=True),
    )
    # Rows first and what watches over them afterwards: it is all one transaction.
    op.execute(
        """
        INSERT INTO measurement
        SELECT r.boot_id, r.case_id, i.metric,
            avg(i.value) FILTER (WHERE phase = 'counted'),
            array_agg(i.value ORDER BY position) FILTER (WHERE phase = 'counted'),
            array_agg(i.value ORDER BY position) FILTER (WHERE phase = 'warmup'),
            array_agg(i.value ORDER BY position) FILTER (WHERE phase = 'disturbed'),
            array_agg(i.slowdown ORDER BY position)
                FILTER (WHERE phase = 'counted' AND slowdown IS NOT NULL),
            array_agg(i.slowdown ORDER BY position)
                FILTER (WHERE phase = 'disturbed' AND slowdown IS NOT NULL),
            r.slowdown_limit
        FROM iteration i JOIN result r ON r.id = i.result_id
        GROUP BY r.boot_id, r.case_id, i.metric, r.slowdown_limit
        """
    )
    op.drop_table("iteration")
    op.drop_column("result", "slowdown_limit")
    op.drop_constraint("uq_result_boot_id_case_id", "result")
    op.drop_constraint("pk_result", "result")
    op.drop_column("result", "id")
    op.create_primary_key("pk_result", "result", ["boot_id", "case_id"])
    op.create_index(
        "ix_result_lab_faults",
        "result",
        ["boot_id"],
        postgresql_where=sa.text("lab_faults <> '[]'"),
    )
    op.create_primary_key("pk_measurement", "measurement", ["boot_id", "case_id", "metric"])
    op.create_foreign_key(
        "fk_measurement_boot_id_case_id_result",
        *("measurement", "result"),
        *(["boot_id", "case_id"], ["boot_id", "case_id"]),
    )
    for name in ("counted", "warmup", "disturbed"):
        op.create_check_constraint(
            op.f(f"ck_measurement_{name}_finite"), "measurement", FINITE.format(name)
        )
    for name in ("slowdowns", "disturbed_slowdowns"):
        op.create_check_constraint(
            op.f(f"ck_measurement_{name}"), "measurement", SLOWDOWNS.format(name)
        )
    op.create_check_constraint(
        op.f("ck_measurement_counted"), "measurement", "cardinality(counted) > 0"
    )
    _create_verdict()
    op.alter_column("arm", "is_double", new_column_name="is_aa")
    op.add_column(
        "run", sa.Column("verdict_changes", sa.Integer(), nullable=False, server_default="0")
    )
    op.add_column("run", sa.Column("concluded_at", sa.DateTime(timezone=True), nullable=True))
    # Those that are over have no verdicts stored: they are concluded once more.
    op.execute("UPDATE experiment SET concluded_at = NULL")


def _create_verdict() -> None:
    op.create_table(
        "verdict",
        sa.Column("run_id", sa.Integer(), nullable=False),
        sa.Column("case_id", sa.Integer(), nullable=False),
        sa.Column("metric", sa.String(), nullable=False),
        sa.Column("arm_id", sa.Integer(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("state", sa.String(), nullable=False),
        sa.Column("n", sa.Integer(), nullable=False),
        sa.Column("blocks", sa.Integer(), nullable=False),
        *(
            sa.Column(name, sa.Double(), nullable=True)
            for name in (
                *("mean", "effect_percent", "ci_low_percent", "ci_high_percent"),
                *("p", "q", "mde_percent"),
            )
        ),
        sa.Column("verdict", sa.String(), nullable=True),
        sa.Column("decided_after", sa.Integer(), nullable=True),
        sa.Column("note", sa.String(), nullable=False),
        sa.Column("boots", postgresql.ARRAY(sa.Integer()), nullable=False),
        sa.Column("disturbed", sa.Integer(), nullable=False),
        sa.Column("unsteady", sa.Integer(), nullable=False),
        sa.Column("rules", sa.Integer(), nullable=False),
        sa.Column("reason", sa.String(), nullable=False),
        sa.Column("given_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column(
            "written_at", sa.DateTime(timezone=True), server_default=sa.func.now(), nullable=False
        ),
        sa.Column("superseded_at", sa.DateTime(timezone=True), nullable=True),
        sa.CheckConstraint(
            "state IN ('baseline', 'measured', 'not_effective', 'no_data')",
            name=op.f("ck_verdict_state"),
        ),
        sa.CheckConstraint(
            "verdict IN ('better', 'worse', 'same', 'undecided')", name=op.f("ck_verdict_verdict")
        ),
        sa.ForeignKeyConstraint(["run_id"], ["run.id"], name=op.f("fk_verdict_run_id_run")),
        sa.ForeignKeyConstraint(
            ["case_id"], ["benchmark_case.id"], name=op.f("fk_verdict_case_id_benchmark_case")
        ),
        sa.ForeignKeyConstraint(["arm_id"], ["arm.id"], name=op.f("fk_verdict_arm_id_arm")),
        sa.PrimaryKeyConstraint(
            *("run_id", "case_id", "metric", "arm_id", "version"), name=op.f("pk_verdict")
        ),
    )
    op.create_index(
        "uq_verdict_current",
        "verdict",
        ["run_id", "case_id", "metric", "arm_id"],
        unique=True,
        postgresql_where=sa.text("superseded_at IS NULL"),
    )


def downgrade() -> None:
    op.drop_column("run", "concluded_at")
    op.drop_column("run", "verdict_changes")
    op.alter_column("arm", "is_aa", new_column_name="is_double")
    op.drop_table("verdict")
    op.drop_index("ix_result_lab_faults", "result")
    op.drop_constraint("fk_measurement_boot_id_case_id_result", "measurement")
    op.drop_constraint("pk_result", "result")
    op.execute("ALTER TABLE result ADD COLUMN id SERIAL")
    op.create_primary_key("pk_result", "result", ["id"])
    op.create_unique_constraint("uq_result_boot_id_case_id", "result", ["boot_id", "case_id"])
    op.add_column("result", sa.Column("slowdown_limit", sa.Double(), nullable=True))
    op.execute(
        """
        UPDATE result r SET slowdown_limit = m.slowdown_limit FROM measurement m
        WHERE m.boot_id = r.boot_id AND m.case_id = r.case_id AND m.slowdown_limit IS NOT NULL
        """
    )
    op.create_table(
        "iteration",
        sa.Column("result_id", sa.Integer(), nullable=False),
        sa.Column("metric", sa.String(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("value", sa.Double(), nullable=False),
        sa.Column("slowdown", sa.Double(), nullable=True),
        sa.Column("phase", sa.String(), nullable=False),
        sa.ForeignKeyConstraint(
            ["result_id"], ["result.id"], name=op.f("fk_iteration_result_id_result")
        ),
        sa.PrimaryKeyConstraint(
            *("result_id", "metric", "phase", "position"), name=op.f("pk_iteration")
        ),
        sa.CheckConstraint(
            "value <> 'NaN' AND value <> 'Infinity' AND value <> '-Infinity'",
            name=op.f("ck_iteration_finite"),
        ),
        sa.CheckConstraint(
            "phase IN ('warmup', 'counted', 'disturbed')", name=op.f("ck_iteration_phase")
        ),
        sa.CheckConstraint(
            "slowdown >= 1 AND slowdown < 'Infinity'", name=op.f("ck_iteration_slowdown")
        ),
    )
    for phase, slowdowns in (
        ("counted", "slowdowns"),
        ("warmup", "NULL::float8[]"),
        ("disturbed", "disturbed_slowdowns"),
    ):
        op.execute(
            f"""
            INSERT INTO iteration (result_id, metric, phase, position, value, slowdown)
            SELECT r.id, m.metric, '{phase}', v.position, v.value, ({slowdowns})[v.position]
            FROM measurement m
            JOIN result r ON r.boot_id = m.boot_id AND r.case_id = m.case_id
            CROSS JOIN LATERAL unnest(m.{phase}) WITH ORDINALITY AS v (value, position)
            """
        )
    op.drop_table("measurement")
