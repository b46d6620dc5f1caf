"""A run keeps which verdicts its primary metrics have: experiments are found by them."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0052"
down_revision = "0051"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column(
        "run",
        sa.Column(
            "verdicts",
            postgresql.ARRAY(sa.String()),
            server_default=sa.text("'{}'"),
            nullable=False,
        ),
    )
    op.execute(
        """
        UPDATE run SET verdicts = found.verdicts FROM (
            SELECT v.run_id, array_agg(DISTINCT v.verdict) AS verdicts
            FROM verdict v JOIN benchmark_case b ON b.id = v.case_id JOIN arm a ON a.id = v.arm_id
            WHERE v.superseded_at IS NULL AND v.verdict IS NOT NULL AND NOT a.is_aa
                AND (b.metrics -> v.metric ->> 'primary')::boolean
            GROUP BY v.run_id) AS found
        WHERE found.run_id = run.id
        """
    )
    op.drop_index("ix_verdict_change", table_name="verdict")


def downgrade() -> None:
    op.create_index(
        "ix_verdict_change",
        "verdict",
        ["verdict", "run_id"],
        postgresql_where=sa.text("superseded_at IS NULL AND verdict IN ('worse', 'better')"),
    )
    op.drop_column("run", "verdicts")
