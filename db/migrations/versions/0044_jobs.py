"""Jobs that workers do by themselves, and workers as they announce themselves."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB, UUID

revision = "0044"
down_revision = "0043"
branch_labels = None
depends_on = None

NOW = sa.text("now()")
OPEN = sa.text("state IN ('queued', 'running')")
EMPTY = sa.text("'{}'::jsonb")


def _time(name: str, *, known: bool = False) -> sa.Column[object]:
    default = NOW if known else None
    return sa.Column(name, sa.DateTime(timezone=True), server_default=default, nullable=not known)


def upgrade() -> None:
    op.create_table(
        "job",
        sa.Column("id", sa.Integer(), primary_key=True),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("subject", sa.String(), nullable=False),
        sa.Column("title", sa.String(), server_default="", nullable=False),
        sa.Column("need", sa.String(), nullable=False),
        sa.Column("arguments", JSONB(), server_default=EMPTY, nullable=False),
        sa.Column("content_sha256", sa.String(), nullable=True),
        sa.Column("result", JSONB(), server_default=EMPTY, nullable=False),
        sa.Column("state", sa.String(), server_default="queued", nullable=False),
        sa.Column("progress", sa.String(), server_default="", nullable=False),
        sa.Column("error", sa.String(), server_default="", nullable=False),
        sa.Column("asked_by", sa.String(), nullable=False),
        sa.Column("cancelled_by", sa.String(), server_default="", nullable=False),
        sa.Column("epoch", sa.Integer(), server_default="0", nullable=False),
        sa.Column("holder", UUID(), nullable=True),
        _time("expires_at"),
        _time("wake_at", known=True),
        sa.Column("failures", sa.Integer(), server_default="0", nullable=False),
        sa.Column("lost_workers", sa.Integer(), server_default="0", nullable=False),
        _time("created_at", known=True),
        _time("started_at"),
        _time("finished_at"),
        sa.CheckConstraint(
            "kind IN ('kernel', 'revision', 'bisection', 'archives', 'mailbox', 'weekly')",
            name="kind",
        ),
        sa.CheckConstraint(
            "state IN ('queued', 'running', 'done', 'failed', 'cancelled')", name="state"
        ),
        sa.CheckConstraint("need IN ('kernels', 'archives', 'mail', 'letters')", name="need"),
    )
    op.create_index(
        "uq_job_subject", "job", ["kind", "subject"], unique=True, postgresql_where=OPEN
    )
    op.create_index("ix_job_wake_at", "job", ["wake_at"], postgresql_where=OPEN)
    op.create_table(
        "job_attempt",
        sa.Column("id", sa.Integer(), primary_key=True),
        sa.Column(
            "job_id", sa.Integer(), sa.ForeignKey("job.id", ondelete="CASCADE"), nullable=False
        ),
        sa.Column("epoch", sa.Integer(), nullable=False),
        sa.Column("worker", sa.String(), nullable=False),
        sa.Column("outcome", sa.String(), server_default="", nullable=False),
        sa.Column("detail", sa.String(), server_default="", nullable=False),
        _time("started_at", known=True),
        _time("finished_at"),
        sa.UniqueConstraint("job_id", "epoch"),
    )
    op.create_table(
        "job_event",
        sa.Column("id", sa.Integer(), primary_key=True),
        sa.Column(
            "job_id", sa.Integer(), sa.ForeignKey("job.id", ondelete="CASCADE"), nullable=False
        ),
        _time("at", known=True),
        sa.Column("text", sa.String(), nullable=False),
    )
    op.create_index("ix_job_event_job_id", "job_event", ["job_id", "id"])
    op.create_table(
        "worker",
        sa.Column("id", UUID(), primary_key=True),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("machine", sa.String(), nullable=False),
        sa.Column("pid", sa.Integer(), nullable=False),
        sa.Column("version", sa.String(), nullable=False),
        sa.Column("schema", sa.String(), nullable=False),
        sa.Column("abilities", JSONB(), nullable=False),
        _time("started_at", known=True),
        _time("seen_at", known=True),
        _time("stopped_at"),
    )


def downgrade() -> None:
    for table in ("worker", "job_event", "job_attempt", "job"):
        op.drop_table(table)
