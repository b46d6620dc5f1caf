"""A regression that fresh boots confirmed shows their effect, not that of the suspicion."""

from __future__ import annotations

from alembic import op

revision = "0073"
down_revision = "0072"


def upgrade() -> None:
    op.execute(
        """
        UPDATE regression SET effect_percent = fresh.effect_percent,
            ci_low_percent = fresh.ci_low_percent, ci_high_percent = fresh.ci_high_percent
        FROM (
            SELECT DISTINCT ON (regression_id) * FROM confirmation
            WHERE state = 'confirmed' AND effect_percent IS NOT NULL
            ORDER BY regression_id, id DESC
        ) AS fresh
        WHERE fresh.regression_id = regression.id
        """
    )


def downgrade() -> None:
    """The suspicion's own effect stands in its trend."""
