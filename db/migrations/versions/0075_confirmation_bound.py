"""What the effect of fresh boots says of the true one."""

from __future__ import annotations

from alembic import op

revision = "0075"
down_revision = "0074"


def upgrade() -> None:
    op.execute(
        "ALTER TABLE confirmation ADD COLUMN bound character varying NOT NULL DEFAULT 'exact'"
    )
    op.execute(
        "ALTER TABLE confirmation ADD CONSTRAINT ck_confirmation_bound "
        "CHECK (bound IN ('exact', 'at_least', 'at_most', 'nothing'))"
    )
    op.execute(
        """
        UPDATE confirmation SET bound = regression.bound FROM regression
        WHERE regression.id = confirmation.regression_id AND confirmation.state = 'confirmed'
        """
    )


def downgrade() -> None:
    op.execute("ALTER TABLE confirmation DROP COLUMN bound")
