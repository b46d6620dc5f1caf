"""experiments, runs, boots, results"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "experiment",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("question", sa.String(), nullable=False),
        sa.Column("environment", sa.String(), nullable=False),
        sa.Column("seed", sa.BigInteger(), nullable=False),
        sa.Column("spec_text", sa.String(), nullable=False),
        sa.Column("state", sa.String(), nullable=False),
        sa.Column("headline", sa.String(), server_default="", nullable=False),
        sa.Column(
            "created_at",
            sa.DateTime(timezone=True),
            server_default=sa.text("now()"),
            nullable=False,
        ),
        sa.Column("started_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("finished_at", sa.DateTime(timezone=True), nullable=True),
        sa.CheckConstraint(
            "state IN ('queued', 'running', 'finished', 'failed', 'cancelled')",
            name=op.f("ck_experiment_state"),
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_experiment")),
    )
    op.create_table(
        "host",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("environment", sa.String(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("host_class", sa.String(), nullable=False),
        sa.Column("machine", sa.String(), nullable=False),
        sa.Column("emulated", sa.Boolean(), nullable=False),
        sa.Column("capabilities", postgresql.JSONB(astext_type=sa.Text()), nullable=False),
        sa.Column(
            "created_at",
            sa.DateTime(timezone=True),
            server_default=sa.text("now()"),
            nullable=False,
        ),
        sa.Column("last_seen_at", sa.DateTime(timezone=True), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_host")),
        sa.UniqueConstraint("environment", "name", name=op.f("uq_host_environment_name")),
    )
    op.create_table(
        "comparison",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("experiment_id", sa.Integer(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("blocks", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(
            ["experiment_id"],
            ["experiment.id"],
            name=op.f("fk_comparison_experiment_id_experiment"),
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_comparison")),
        sa.UniqueConstraint("experiment_id", "name", name=op.f("uq_comparison_experiment_id_name")),
    )
    op.create_table(
        "fingerprint",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("host_id", sa.Integer(), nullable=False),
        sa.Column("digest", sa.String(), nullable=False),
        sa.Column("facts", postgresql.JSONB(astext_type=sa.Text()), nullable=False),
        sa.Column(
            "first_seen_at",
            sa.DateTime(timezone=True),
            server_default=sa.text("now()"),
            nullable=False,
        ),
        sa.Column(
            "last_seen_at",
            sa.DateTime(timezone=True),
            server_default=sa.text("now()"),
            nullable=False,
        ),
        sa.ForeignKeyConstraint(["host_id"], ["host.id"], name=op.f("fk_fingerprint_host_id_host")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_fingerprint")),
        sa.UniqueConstraint("host_id", "digest", name=op.f("uq_fingerprint_host_id_digest")),
    )
    op.create_table(
        "arm",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("comparison_id", sa.Integer(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("family", sa.String(), nullable=False),
        sa.Column("mode", sa.String(), nullable=False),
        sa.Column("title", sa.String(), nullable=False),
        sa.Column("family_title", sa.String(), nullable=False),
        sa.Column("kernel", sa.String(), nullable=False),
        sa.Column("is_baseline", sa.Boolean(), nullable=False),
        sa.Column("cmdline", sa.String(), nullable=False),
        sa.Column("lab_cmdline", sa.String(), nullable=False),
        sa.Column("expect", postgresql.JSONB(astext_type=sa.Text()), nullable=False),
        sa.ForeignKeyConstraint(
            ["comparison_id"], ["comparison.id"], name=op.f("fk_arm_comparison_id_comparison")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_arm")),
        sa.UniqueConstraint("comparison_id", "name", name=op.f("uq_arm_comparison_id_name")),
    )
    op.create_index(
        "uq_arm_baseline",
        "arm",
        ["comparison_id"],
        unique=True,
        postgresql_where=sa.text("is_baseline"),
    )
    op.create_table(
        "benchmark_case",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("comparison_id", sa.Integer(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("workload", sa.String(), nullable=False),
        sa.Column("title", sa.String(), nullable=False),
        sa.Column("parameters", postgresql.JSONB(astext_type=sa.Text()), nullable=False),
        sa.Column("iterations", sa.Integer(), nullable=False),
        sa.Column("warmup", sa.Integer(), nullable=False),
        sa.Column("timeout_s", sa.Integer(), nullable=False),
        sa.Column("expected_s", sa.Double(), nullable=False),
        sa.Column("metrics", postgresql.JSONB(astext_type=sa.Text()), nullable=False),
        sa.ForeignKeyConstraint(
            ["comparison_id"],
            ["comparison.id"],
            name=op.f("fk_benchmark_case_comparison_id_comparison"),
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_benchmark_case")),
        sa.UniqueConstraint(
            "comparison_id", "position", name=op.f("uq_benchmark_case_comparison_id_position")
        ),
    )
    op.create_table(
        "run",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("experiment_id", sa.Integer(), nullable=False),
        sa.Column("comparison_id", sa.Integer(), nullable=False),
        sa.Column("host_id", sa.Integer(), nullable=False),
        sa.Column("state", sa.String(), nullable=False),
        sa.Column("step", sa.String(), server_default="", nullable=False),
        sa.Column("epoch", sa.Integer(), server_default="0", nullable=False),
        sa.Column("wake_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("prepared", postgresql.JSONB(astext_type=sa.Text()), nullable=True),
        sa.Column("tuning_restored", sa.Boolean(), server_default=sa.text("false"), nullable=False),
        sa.Column("consecutive_faults", sa.Integer(), server_default="0", nullable=False),
        sa.Column("error", sa.String(), server_default="", nullable=False),
        sa.Column("started_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("finished_at", sa.DateTime(timezone=True), nullable=True),
        sa.CheckConstraint(
            "state IN ('queued', 'running', 'finished', 'failed', 'cancelled')",
            name=op.f("ck_run_state"),
        ),
        sa.ForeignKeyConstraint(
            ["comparison_id"], ["comparison.id"], name=op.f("fk_run_comparison_id_comparison")
        ),
        sa.ForeignKeyConstraint(
            ["experiment_id"], ["experiment.id"], name=op.f("fk_run_experiment_id_experiment")
        ),
        sa.ForeignKeyConstraint(["host_id"], ["host.id"], name=op.f("fk_run_host_id_host")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_run")),
        sa.UniqueConstraint("comparison_id", "host_id", name=op.f("uq_run_comparison_id_host_id")),
    )
    op.create_index(
        "ix_run_wake_at",
        "run",
        ["wake_at"],
        unique=False,
        postgresql_where=sa.text("wake_at IS NOT NULL"),
    )
    op.create_table(
        "boot",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("run_id", sa.Integer(), nullable=False),
        sa.Column("arm_id", sa.Integer(), nullable=False),
        sa.Column("block", sa.Integer(), nullable=False),
        sa.Column("place", sa.Integer(), nullable=False),
        sa.Column("attempt", sa.Integer(), server_default="1", nullable=False),
        sa.Column("state", sa.String(), nullable=False),
        sa.Column("reason", sa.String(), server_default="", nullable=False),
        sa.Column("nonce", sa.String(), nullable=False),
        sa.Column("previous_boot_id", sa.String(), nullable=True),
        sa.Column("armed", postgresql.JSONB(astext_type=sa.Text()), nullable=True),
        sa.Column("serial_offset", sa.BigInteger(), nullable=True),
        sa.Column("proof", postgresql.JSONB(astext_type=sa.Text()), nullable=True),
        sa.Column("observed", sa.String(), nullable=True),
        sa.Column("fingerprint_id", sa.Integer(), nullable=True),
        sa.Column("serial_tail", sa.String(), server_default="", nullable=False),
        sa.Column("job_try", sa.Integer(), server_default="1", nullable=False),
        sa.Column("job_started_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("job_detail", sa.String(), server_default="", nullable=False),
        sa.Column("power_cycled", sa.Boolean(), server_default=sa.text("false"), nullable=False),
        sa.Column("started_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("rebooted_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("up_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("verified_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("finished_at", sa.DateTime(timezone=True), nullable=True),
        sa.CheckConstraint(
            "state IN ('planned', 'booting', 'measuring', 'effective', 'not_effective', "
            "'wrong_kernel', 'did_not_boot', 'lab_fault', 'invalid', 'skipped')",
            name=op.f("ck_boot_state"),
        ),
        sa.ForeignKeyConstraint(["arm_id"], ["arm.id"], name=op.f("fk_boot_arm_id_arm")),
        sa.ForeignKeyConstraint(
            ["fingerprint_id"], ["fingerprint.id"], name=op.f("fk_boot_fingerprint_id_fingerprint")
        ),
        sa.ForeignKeyConstraint(["run_id"], ["run.id"], name=op.f("fk_boot_run_id_run")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_boot")),
        sa.UniqueConstraint("nonce", name=op.f("uq_boot_nonce")),
        sa.UniqueConstraint(
            "run_id", "block", "place", "attempt", name=op.f("uq_boot_run_id_block_place_attempt")
        ),
    )
    op.create_table(
        "event",
        sa.Column("id", sa.BigInteger(), nullable=False),
        sa.Column("experiment_id", sa.Integer(), nullable=False),
        sa.Column("run_id", sa.Integer(), nullable=True),
        sa.Column(
            "at",
            sa.DateTime(timezone=True),
            server_default=sa.text("clock_timestamp()"),
            nullable=False,
        ),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("text", sa.String(), nullable=False),
        sa.ForeignKeyConstraint(
            ["experiment_id"], ["experiment.id"], name=op.f("fk_event_experiment_id_experiment")
        ),
        sa.ForeignKeyConstraint(["run_id"], ["run.id"], name=op.f("fk_event_run_id_run")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_event")),
    )
    op.create_index("ix_event_experiment_id_id", "event", ["experiment_id", "id"], unique=False)
    op.create_table(
        "host_lease",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("host_id", sa.Integer(), nullable=False),
        sa.Column("run_id", sa.Integer(), nullable=False),
        sa.Column("epoch", sa.Integer(), nullable=False),
        sa.Column("holder", sa.Uuid(), nullable=True),
        sa.Column("acquired_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("released_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(["host_id"], ["host.id"], name=op.f("fk_host_lease_host_id_host")),
        sa.ForeignKeyConstraint(["run_id"], ["run.id"], name=op.f("fk_host_lease_run_id_run")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_host_lease")),
    )
    op.create_index("ix_host_lease_run_id", "host_lease", ["run_id"], unique=False)
    op.create_index(
        "uq_host_lease_held",
        "host_lease",
        ["host_id"],
        unique=True,
        postgresql_where=sa.text("released_at IS NULL"),
    )
    op.create_table(
        "result",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("boot_id", sa.Integer(), nullable=False),
        sa.Column("case_id", sa.Integer(), nullable=False),
        sa.Column("state", sa.String(), nullable=False),
        sa.Column("body_sha256", sa.String(), nullable=False),
        sa.Column("raw_sha256", sa.String(), nullable=True),
        sa.Column("lab_faults", postgresql.JSONB(astext_type=sa.Text()), nullable=False),
        sa.Column("tools", postgresql.JSONB(astext_type=sa.Text()), nullable=False),
        sa.Column("error", sa.String(), server_default="", nullable=False),
        sa.Column("started_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("finished_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column(
            "stored_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False
        ),
        sa.CheckConstraint(
            "state IN ('measured', 'failed', 'lab_fault')", name=op.f("ck_result_state")
        ),
        sa.ForeignKeyConstraint(["boot_id"], ["boot.id"], name=op.f("fk_result_boot_id_boot")),
        sa.ForeignKeyConstraint(
            ["case_id"], ["benchmark_case.id"], name=op.f("fk_result_case_id_benchmark_case")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_result")),
        sa.UniqueConstraint("boot_id", "case_id", name=op.f("uq_result_boot_id_case_id")),
    )
    op.create_table(
        "step_attempt",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("run_id", sa.Integer(), nullable=False),
        sa.Column("boot_id", sa.Integer(), nullable=True),
        sa.Column("step", sa.String(), nullable=False),
        sa.Column("epoch", sa.Integer(), nullable=False),
        sa.Column("outcome", sa.String(), server_default="started", nullable=False),
        sa.Column("detail", sa.String(), server_default="", nullable=False),
        sa.Column(
            "started_at",
            sa.DateTime(timezone=True),
            server_default=sa.text("clock_timestamp()"),
            nullable=False,
        ),
        sa.Column("finished_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(
            ["boot_id"], ["boot.id"], name=op.f("fk_step_attempt_boot_id_boot")
        ),
        sa.ForeignKeyConstraint(["run_id"], ["run.id"], name=op.f("fk_step_attempt_run_id_run")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_step_attempt")),
        sa.UniqueConstraint(
            "run_id", "epoch", "step", name=op.f("uq_step_attempt_run_id_epoch_step")
        ),
    )
    op.create_index("ix_step_attempt_boot_id", "step_attempt", ["boot_id"], unique=False)
    op.create_table(
        "iteration",
        sa.Column("result_id", sa.Integer(), nullable=False),
        sa.Column("metric", sa.String(), nullable=False),
        sa.Column("warmup", sa.Boolean(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("value", sa.Double(), nullable=False),
        sa.CheckConstraint(
            "value <> 'NaN' AND value <> 'Infinity' AND value <> '-Infinity'",
            name=op.f("ck_iteration_finite"),
        ),
        sa.ForeignKeyConstraint(
            ["result_id"], ["result.id"], name=op.f("fk_iteration_result_id_result")
        ),
        sa.PrimaryKeyConstraint(
            "result_id", "metric", "warmup", "position", name=op.f("pk_iteration")
        ),
    )


def downgrade() -> None:
    op.drop_table("iteration")
    op.drop_index("ix_step_attempt_boot_id", table_name="step_attempt")
    op.drop_table("step_attempt")
    op.drop_table("result")
    op.drop_index(
        "uq_host_lease_held",
        table_name="host_lease",
        postgresql_where=sa.text("released_at IS NULL"),
    )
    op.drop_index("ix_host_lease_run_id", table_name="host_lease")
    op.drop_table("host_lease")
    op.drop_index("ix_event_experiment_id_id", table_name="event")
    op.drop_table("event")
    op.drop_table("boot")
    op.drop_index(
        "ix_run_wake_at", table_name="run", postgresql_where=sa.text("wake_at IS NOT NULL")
    )
    op.drop_table("run")
    op.drop_table("benchmark_case")
    op.drop_index("uq_arm_baseline", table_name="arm", postgresql_where=sa.text("is_baseline"))
    op.drop_table("arm")
    op.drop_table("fingerprint")
    op.drop_table("comparison")
    op.drop_table("host")
    op.drop_table("experiment")
