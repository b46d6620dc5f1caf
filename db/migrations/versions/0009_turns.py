"""What a leased host does with the machine that it shares."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column(
        "host_lease", sa.Column("activity", sa.String(), nullable=False, server_default="idle")
    )
    op.create_check_constraint(
        op.f("ck_host_lease_activity"),
        "host_lease",
        "activity IN ('idle', 'booting', 'waiting', 'measuring')",
    )


def downgrade() -> None:
    op.drop_column("host_lease", "activity")
