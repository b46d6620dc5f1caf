"""An experiment keeps its plainest effect for the worse: lists are sorted by it."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0053"
down_revision = "0052"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("experiment", sa.Column("worst_effect_percent", sa.Float()))
    op.execute(
        """
        UPDATE experiment SET worst_effect_percent = found.effect_percent FROM (
            SELECT DISTINCT ON (run.experiment_id) run.experiment_id, v.effect_percent
            FROM verdict v JOIN run ON run.id = v.run_id
                JOIN benchmark_case b ON b.id = v.case_id JOIN arm ON arm.id = v.arm_id
            WHERE v.superseded_at IS NULL AND v.verdict = 'worse' AND v.effect_percent IS NOT NULL
                AND (b.metrics -> v.metric ->> 'primary')::boolean
            ORDER BY run.experiment_id,
                least(abs(v.ci_low_percent), abs(v.ci_high_percent)) DESC NULLS LAST,
                run.id, b.position, arm.position) AS found
        WHERE found.experiment_id = experiment.id AND experiment.concluded_at IS NOT NULL
        """
    )


def downgrade() -> None:
    op.drop_column("experiment", "worst_effect_percent")
