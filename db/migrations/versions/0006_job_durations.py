"""How long a boot's measuring job ran, by the host's own clock."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("boot", sa.Column("job_lasted_s", sa.Double(), nullable=True))


def downgrade() -> None:
    op.drop_column("boot", "job_lasted_s")
